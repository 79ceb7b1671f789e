"""Questions about code by its names: which relation that the reader of source code writes, and at which end of it.

Read by a grammar: the verb or noun of a relation stands beside the name, and nothing between or behind them says
anything else. "what does Client call?" asks for its calls; "how does Client use cookies?" does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

import attrs

from graphsearch.model.identity import CASE_SENSITIVE_TYPES
from graphsearch.question.linking import HINT, WRITTEN, Link, Linked, Nameable
from graphsearch.question.relation_words import SOURCE, TARGET
from graphsearch.question.words import Token
from graphsearch.text.analyser import STOP_WORDS
from graphsearch.text.word_lists import word_lists

MAX_NAMESAKES: Final = 5
"""A name shared by more entities than this is not accepted for any of them."""

DEFINES: Final = "defines"
"""The type by which the reader of source code says where something is."""


def _list(name: str) -> frozenset[str]:
    return word_lists("graphsearch.question")[name]


def place_verbs() -> frozenset[str]:
    """Words of where something is, which say nothing of what it is: "defined", "located"."""
    return _list("done")


@cache
def _types(table: str) -> Mapping[str, str]:
    """The relation type that each word of a table means: "verb", "of_source" or "of_target"."""
    lists = ((head.partition(" "), words) for head, words in word_lists("graphsearch.question").items())
    return {word: type_ for (of, _, type_), words in lists if of == table for word in words}


MOST: Final = 16
"""Words of a question in which a plain word may name code: a longer one says more."""


@attrs.frozen
class AskedOfCode:
    """The relation ``type`` that a question asks for, and the ``end`` of it that its name is.

    ``rest``: the positions of the words that say something besides.
    """

    type: str
    end: int
    rest: frozenset[int]


def asked_of_code(words: Sequence[str], named: Sequence[bool]) -> AskedOfCode | None:
    """Read the folded words of a question around its one name in code; None if they ask for no relation of code."""
    places = [place for place, part in enumerate(named) if part]
    if not places or not all(named[places[0] : places[-1] + 1]):
        return None
    first, last = places[0], places[-1]
    content = frozenset(
        place
        for place, word in enumerate(words)
        if not (named[place] or word in STOP_WORDS | _list("passive") or word == "s")
    )
    near = [
        place for place, word in enumerate(words) if not named[place] and _beside(place, first, last, words, content)
    ]
    for place in near:
        end = _end_of_verb(words, place, first, last, content) if words[place] in _types("verb") else 0
        if end and place and place < first and words[place - 1] in _list("persons"):  # "how do I use X": what it is
            return AskedOfCode(DEFINES, TARGET, frozenset())
        if end:
            return _asked(_types("verb")[words[place]], end, content - {place}, words)
    for place in near:
        if place > last or any(each in _list("leading") for each in words[place + 1 : first]):
            for table, end in (("of_source", SOURCE), ("of_target", TARGET)):
                if type_ := _types(table).get(words[place]):
                    return _asked(type_, end, content - {place}, words)
    if not _list("question").isdisjoint(words) and all(
        words[each] in _list("done") | _list("places") | _list("kinds") | _list("about") for each in content
    ):
        return AskedOfCode(DEFINES, TARGET, frozenset())
    return None


def _beside(place: int, first: int, last: int, words: Sequence[str], content: frozenset[int]) -> bool:
    """Whether nothing is said between a word and a name at [first, last] but what kind of thing that is."""
    between = content.intersection(range(min(place, last) + 1, max(place, first)))
    return all(words[each] in _list("kinds") for each in between)


def _asked(type_: str, end: int, content: Iterable[int], words: Sequence[str]) -> AskedOfCode:
    return AskedOfCode(
        type_, end, frozenset(place for place in content if words[place] not in _list("kinds") | _list("about"))
    )


def _end_of_verb(words: Sequence[str], place: int, first: int, last: int, content: frozenset[int]) -> int:
    """The end that a name at [first, last] is for a verb at ``place``; 0 if more is said behind it."""
    by = "by" in words[place:]
    if place < first:
        inside = not _list("inside").isdisjoint(words[place:first]) and not _list("passive").isdisjoint(words[:place])
        return SOURCE if inside else TARGET
    if any(each > place for each in content):
        return 0
    passive = not _list("passive").isdisjoint(words[last + 1 : place] or words[:first])
    if passive and not (words[place] == "derived" and not by):
        return TARGET
    return SOURCE


def with_bare_names(words: Sequence[Token], linked: Linked, known: Sequence[Nameable]) -> Linked:
    """Link a plain word to the code of exactly that name, if the question then asks for its relation, and no more.

    "what calls gather?" and "who imports the json module of flask?" mean code; "what calls the loop?" is about loops.
    """
    if len(words) > MOST:
        return linked
    texts, sure = [word.text for word in words], any(link.probability > HINT for link in linked.links)
    for place, word in enumerate(words):
        spoken = texts[place + 1 : place + 2] and texts[place + 1] in _list("kinds")
        end, owner = _owner(words, place + 2) if spoken else (place + 1, "")
        if (
            (sure and not owner)
            or word.text in STOP_WORDS
            or (place and texts[place - 1] in _list("articles") and not spoken)
        ):
            continue
        named = [place <= at < end for at in range(len(words))]
        asked = asked_of_code(texts, named)
        paths = ((each, each.names[0].split(".")) for each in known if each.type in CASE_SENSITIVE_TYPES)
        found = [each for each, path in paths if path[-1] == word.written and (not owner or owner in path[:-1])]
        if asked is None or asked.rest or not 0 < len(found) <= MAX_NAMESAKES:
            continue
        links = (
            Link(
                entity_id=each.id,
                kind=each.type,
                probability=WRITTEN / math.sqrt(len(found)),
                start=word.start,
                end=words[end - 1].end,
                full=True,
                alias=True,
            )
            for each in found
        )
        return Linked(links=tuple(links), masked=tuple(named))
    return linked


def _owner(words: Sequence[Token], place: int) -> tuple[int, str]:
    """The end of "of X" or "in the class X" that begins at ``place``, and X; ``place`` and nothing if none does."""
    if place < len(words) and words[place].text in {"of", "in", "on", "from"}:
        for at in range(place + 1, len(words)):
            if words[at].text not in _list("articles") | _list("kinds"):
                return at + 1, words[at].written
    return place, ""
