"""What the table of relations says that the words of a question ask for, by other words than the types' own names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from graphsearch.ingest.stating.scope import kind_of
from graphsearch.ingest.stating.table import KINDS, OBJECT, Frame, bases, table
from graphsearch.understanding.asked import SOURCE, TARGET

_LETTERS: Final = {kind: letter for letter, kind in KINDS.items()}
_AUXILIARIES: Final = frozenset({"do", "does", "did", "has", "have", "had"})
_LIGHT: Final = frozenset({"be", "have", "do", "go", "come", "get"})
_OF: Final = frozenset({"of", "at", "for", "in", "to"})
_WORDS: Final = 3
"""Most words of a noun."""


def said(texts: Sequence[str], named: Sequence[bool], kinds: AbstractSet[str], row: Callable[[str], int]) -> Mapping[int, int]:
    """The types, by row, that words next to the one name of a question mean, with the end that the name is.

    ``texts`` are the folded words, ``named`` which of them are part of the name, ``kinds`` the types of what it means.
    Only types of the scope have a ``row``; -1 for others. The end is 0 where words allow both.
    """
    places = [place for place, part in enumerate(named) if part]
    if not places or not all(named[places[0] : places[-1] + 1]):
        return {}
    first, last = places[0], places[-1]
    letters = {_LETTERS.get(kind_of(kind), "") for kind in kinds} - {""}
    found: dict[int, set[int]] = {}
    for frame, end in (*_nouns(texts, first, last), *_verbs(texts, first, last)):
        fits = frame.source if end == SOURCE else frame.target
        if (at := row(frame.type)) >= 0 and ("*" in fits or not letters or not letters.isdisjoint(fits)):
            found.setdefault(at, set()).add(end)
    return {at: ends.pop() if len(ends) == 1 else 0 for at, ends in found.items()}


def _nouns(texts: Sequence[str], first: int, last: int) -> Iterator[tuple[Frame, int]]:
    """Nouns of the name: "X's boss", "the boss of X", "which bosses has X had"."""
    nouns, after = table().nouns, last + 1
    own = texts[after : after + 1] == ["s"]
    for start in (*range(first), *range(after + own, len(texts))):
        beside = (own and start <= after + 1 + _WORDS) if start > last else False
        for length in range(_WORDS, 0, -1):
            end = start + length
            if end > len(texts) or (start < first < end):
                continue
            noun = next((each for each in _singular(texts[start:end]) if each in nouns), "")
            if not noun:
                continue
            before = end < first + 1 and bool(
                (end < first and (texts[end] in _OF or texts[end] in _AUXILIARIES)) or end == first
            )
            if beside or before:
                yield from ((each, SOURCE if each.inverse else TARGET) for each in nouns[noun])
            break


def _singular(words: Sequence[str]) -> Iterator[str]:
    *before, word = words
    yield " ".join(words)
    yield from (" ".join((*before, each)) for each in sorted(bases(word)) if word.endswith("s"))


def _verbs(texts: Sequence[str], first: int, last: int) -> Iterator[tuple[Frame, int]]:
    """Verbs whose subject or object the name is: "who does X answer to", "who answers to X"."""
    helped = bool(_AUXILIARIES.intersection(texts[max(0, first - 2) : first]))
    for place, word in enumerate(texts):
        if first <= place <= last or word == "s":
            continue
        after = place > last
        if after != helped or (after and place > last + 2):
            continue
        between = list(texts[place + 1 : None if after else first])
        for base in sorted(bases(word) - _LIGHT):
            for frame in table().verbs.get(base, ()):
                if _follows(frame.slot, between, texts[0]):
                    yield frame, SOURCE if after != frame.inverse else TARGET


def _follows(slot: Sequence[str], between: Sequence[str], asked: str) -> bool:
    """Whether the words behind a verb are those of its slot; "where" stands for a preposition."""
    if tuple(slot) == OBJECT:
        return True
    wanted = list(slot)
    return list(between[: len(wanted)]) == wanted or (asked == "where" and len(wanted) == 1 and not between)
