"""The types that words beside names ask for, and the end of each that the name is.

Words are read by the table of relations, and by the verbs in the names of the scope's own types: "who does X lead" and
"who leads X" ask for the two ends of "leads", and of "led_by".

Questions about code are read by a grammar of their own: the verb or noun of a relation stands beside the name, and
nothing between or behind them says anything else. "what does Client call?" asks for its calls; "how does Client use
cookies?" does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Final

from graphsearch.ingest.frames.table import KINDS, OBJECT, Frame, Table, bases
from graphsearch.ingest.frames.table import table as relations
from graphsearch.ingest.stating.phrases import SYMMETRIC
from graphsearch.ingest.stating.scope import kind_of
from graphsearch.question.question_names import spread
from graphsearch.text.analyser import STOP_WORDS, stem
from graphsearch.text.word_lists import word_lists

SOURCE: Final = 1
TARGET: Final = -1

_LETTERS: Final = {kind: letter for letter, kind in KINDS.items()}
_DO: Final = frozenset({"do", "does", "did"})
_AUXILIARIES: Final = _DO | {"has", "have", "had"}
_BE: Final = frozenset({"is", "are", "was", "were", "s", "been"})
_LIGHT: Final = frozenset({"be", "have", "do", "go", "come", "get", "take"})
"""Verbs that mean nothing without the words behind them."""
_OF: Final = frozenset({"of", "at", "for", "in", "to"})
_PREPOSITIONS: Final = _OF | {"about", "from", "into", "on", "with"}
_OWN: Final = frozenset({"own"})
"""Marks a verb of a type's name, of which a preposition makes another verb: "stars in" is not "stars"."""
_PEOPLE: Final = {"team": "report", "staff": "report", "people": "report"}
"""Of a person, those who report to it: "who is on X's team"."""
_WORDS: Final = 3
"""Most words of a noun."""
_NEAR: Final = 2
"""Words between a name and its verb or auxiliary."""


def own_table(types: Iterable[str]) -> Table:
    """The verbs in the names of types, "reports_to" as "report to"; of symmetric types none."""
    verbs: defaultdict[str, list[Frame]] = defaultdict(list)
    for type_ in types:
        words = spread(type_).split()
        at = next((at for at, word in enumerate(words) if word not in STOP_WORDS), None)
        if at is None or words[-1] == "with":
            continue
        passive = "by" in words
        slot = OBJECT if passive else tuple(words[at + 1 :]) or OBJECT
        for verb in _bases(words[at]):
            verbs[verb].append(Frame(type_, "*", "*", "holds", passive, 0, slot, _OWN))
    return Table(dict(verbs), {})


def said(
    texts: Sequence[str],
    names: Sequence[tuple[range, AbstractSet[str]]],
    rows: Callable[[str], Iterable[int]],
    table: Table,
) -> Mapping[int, int]:
    """The types, by row, that words next to names mean, with the end that the name is; 0 where both are meant.

    ``texts`` are the folded words of a question; ``names`` the places of each name in it, with the types of what it may
    mean. ``rows`` are those of a type in the scope.
    """
    found: dict[int, set[int]] = {}
    for number, (places, kinds) in enumerate(names):
        start = names[number - 1][0].stop if number else 0
        stop = names[number + 1][0].start if number + 1 < len(names) else len(texts)
        letters = {_LETTERS.get(kind_of(kind), "") for kind in kinds}
        for frame, end in (*_nouns(texts, places, start, stop, table), *_verbs(texts, places, start, table)):
            fits = frame.source if end == SOURCE else frame.target
            if "*" in fits or not letters.isdisjoint(fits):
                for row in rows(frame.type):
                    found.setdefault(row, set()).update((end, -end) if frame.type in SYMMETRIC else (end,))
    return {at: ends.pop() if len(ends) == 1 else 0 for at, ends in found.items()}


def _nouns(texts: Sequence[str], name: range, start: int, stop: int, table: Table) -> Iterator[tuple[Frame, int]]:
    """Nouns of a name: "X's boss", "the boss of X", "which bosses has X had"."""
    own = name.stop + (texts[name.stop : name.stop + 1] == ["s"])
    for first in (*range(start, name.start), *(range(own, min(own + _WORDS, stop)) if own < stop else ())):
        for end in range(min(first + _WORDS, stop if first >= own else name.start), first, -1):
            noun = next((each for each in _singular(texts[first:end]) if each in table.nouns), "")
            joined = first >= own or end == name.start or texts[end] in _OF | _AUXILIARIES
            if noun and joined:
                frames = (*table.nouns[noun], *table.nouns.get(_PEOPLE.get(noun, ""), ()))
                yield from ((each, SOURCE if each.inverse else TARGET) for each in frames)
                break


def _singular(words: Sequence[str]) -> Iterator[str]:
    *before, word = words
    yield " ".join(words)
    if word.endswith("s"):
        yield from (" ".join((*before, each)) for each in (word[:-1], word.removesuffix("es"), f"{word[:-3]}y"))


def _verbs(texts: Sequence[str], name: range, start: int, table: Table) -> Iterator[tuple[Frame, int]]:
    """Verbs whose subject or object a name is: "who does X answer to", "who answers to X", "which team is X on"."""
    before = texts[max(start, name.start - _NEAR) : name.start]
    behind = range(name.stop, min(name.stop + _NEAR, len(texts)))
    if not _BE.isdisjoint(before[-1:]):
        yield from _frames(("be",), texts[name.stop :], texts[0], SOURCE, table)
        for place in behind if "by" in texts[name.stop :] else ():  # "who is X led by"
            yield from _frames(_bases(texts[place]), (), "", TARGET, table)
    elif not _AUXILIARIES.isdisjoint(before):
        for place in behind:
            yield from _frames(_bases(texts[place]), texts[place + 1 :], texts[0], SOURCE, table)
    else:
        own_verb = _is_verb(texts[name.stop : name.stop + 1])  # "who uses what X made" asks for uses, but not of X
        for place in range(start, name.start):
            verbs = ("be",) if texts[place] in _BE else _bases(texts[place])
            between = texts[place + 1 : name.start]
            passive = "by" in between  # "what is led by X"
            end = SOURCE if passive else TARGET
            for frame, found in _frames(verbs, () if passive else between, "", end, table):
                yield frame, found
                if own_verb:
                    yield frame, -found


def _frames(
    verbs: Iterable[str], behind: Sequence[str], asked: str, end: int, table: Table
) -> Iterator[tuple[Frame, int]]:
    """The frames of verbs whose slot the words behind begin with; "where" stands for a preposition."""
    for verb in sorted(verbs):
        for frame in table.verbs.get(verb, ()):
            slot = list(frame.slot)
            alone = frame.marks != _OWN or _PREPOSITIONS.isdisjoint(behind[-1:])
            plain = frame.slot == OBJECT and verb not in _LIGHT and alone
            if plain or list(behind[: len(slot)]) == slot or (asked == "where" and len(slot) == 1 and not behind):
                yield frame, -end if frame.inverse else end


def _bases(word: str) -> frozenset[str]:
    """The verbs of which a word may be a form; the stem stands for one that the table of relations has not."""
    return bases(word) | {stem(word)}


def _is_verb(word: Sequence[str]) -> bool:
    """Whether a word is an inflected form of a verb of the table of relations."""
    return any(verb in relations().verbs for each in word for verb in bases(each) - {each})


# -- of code -----------------------------------------------------------------------------------------------------------

DEFINES: Final = "defines"
"""The type by which the reader of source code says where something is."""


def listed(name: str) -> frozenset[str]:
    """A list of words of questions about code."""
    return word_lists("graphsearch.question")[name]


def place_verbs() -> frozenset[str]:
    """Words of where something is, which say nothing of what it is: "defined", "located"."""
    return listed("done")


@cache
def _types(table: str) -> Mapping[str, str]:
    """The relation type that each word of a table means: "verb", "of_source" or "of_target"."""
    lists = ((head.partition(" "), words) for head, words in word_lists("graphsearch.question").items())
    return {word: type_ for (of, _, type_), words in lists if of == table for word in words}


def asked_of_code(words: Sequence[str], named: Collection[int]) -> tuple[str, int] | None:
    """The relation that a question asks for of its one name in code, with the end that the name is.

    ``words`` are folded, ``named`` the places of the name. None if they ask for no relation of code, or say more.
    """
    first, last = min(named, default=0), max(named, default=-1)
    if not named or len(named) != last - first + 1:
        return None
    silent = STOP_WORDS | listed("passive") | listed("kinds") | listed("about") | {"s"}
    telling = {place for place, word in enumerate(words) if place not in named and word not in silent}
    asking = [place for place in range(len(words)) if place not in named and telling <= {place}]
    for place in asking:
        if words[place] in _types("verb"):
            if place < first and words[place - 1 : place] and words[place - 1] in listed("persons"):
                return DEFINES, TARGET  # "how do I use X": what it is
            return _types("verb")[words[place]], _end_of_verb(words, place, first, last)
    for place in asking:
        if place > last or not listed("leading").isdisjoint(words[place + 1 : first]):
            for table, end in (("of_source", SOURCE), ("of_target", TARGET)):
                if type_ := _types(table).get(words[place]):
                    return type_, end
    where = all(words[place] in listed("done") | listed("places") for place in telling)
    return (DEFINES, TARGET) if where and not listed("question").isdisjoint(words) else None


def _end_of_verb(words: Sequence[str], place: int, first: int, last: int) -> int:
    """The end that a name at [first, last] is for a verb at ``place``."""
    if place < first:
        inside = not listed("inside").isdisjoint(words[place:first])
        return SOURCE if inside and not listed("passive").isdisjoint(words[:place]) else TARGET
    passive = not listed("passive").isdisjoint(words[last + 1 : place] or words[:first])
    return TARGET if passive and (words[place] != "derived" or "by" in words[place:]) else SOURCE
