"""What the table of relations says that words of a question ask for: types that it does not call by their own names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from graphsearch.ingest.frames.table import KINDS, OBJECT, Frame, bases, table
from graphsearch.ingest.stating.phrases import SYMMETRIC
from graphsearch.ingest.stating.scope import kind_of
from graphsearch.understanding.asked import SOURCE, TARGET

_LETTERS: Final = {kind: letter for letter, kind in KINDS.items()}
_AUXILIARIES: Final = frozenset({"do", "does", "did", "has", "have", "had"})
_BE: Final = frozenset({"is", "are", "was", "were", "s", "been"})
_LIGHT: Final = frozenset({"be", "have", "do", "go", "come", "get", "take"})
"""Verbs that mean nothing without the words behind them."""
_OF: Final = frozenset({"of", "at", "for", "in", "to"})
_PEOPLE: Final = {"team": "report", "staff": "report", "people": "report"}
"""Of a person, those who report to it: "who is on X's team"."""
_WORDS: Final = 3
"""Most words of a noun."""
_NEAR: Final = 2
"""Words between a name and its verb or auxiliary."""


def said(
    texts: Sequence[str], names: Iterable[tuple[range, AbstractSet[str]]], rows: Callable[[str], Iterable[int]]
) -> Mapping[int, int]:
    """The types, by row, that words next to names mean, with the end that the name is; 0 where both are meant.

    ``texts`` are the folded words of a question; ``names`` the places of each name in it, with the types of what it may
    mean. ``rows`` are those of a type in the scope.
    """
    found: dict[int, set[int]] = {}
    known = list(names)
    for number, (places, kinds) in enumerate(known):
        start = known[number - 1][0].stop if number else 0
        stop = known[number + 1][0].start if number + 1 < len(known) else len(texts)
        letters = {_LETTERS.get(kind_of(kind), "") for kind in kinds}
        for frame, end in (*_nouns(texts, places, start, stop), *_verbs(texts, places, start)):
            fits = frame.source if end == SOURCE else frame.target
            if "*" in fits or not letters.isdisjoint(fits):
                for row in rows(frame.type):
                    found.setdefault(row, set()).update((end, -end) if frame.type in SYMMETRIC else (end,))
    return {at: ends.pop() if len(ends) == 1 else 0 for at, ends in found.items()}


def _nouns(texts: Sequence[str], name: range, start: int, stop: int) -> Iterator[tuple[Frame, int]]:
    """Nouns of a name: "X's boss", "the boss of X", "which bosses has X had"."""
    own = name.stop + (texts[name.stop : name.stop + 1] == ["s"])
    for first in (*range(start, name.start), *(range(own, min(own + _WORDS, stop)) if own < stop else ())):
        for end in range(min(first + _WORDS, stop if first >= own else name.start), first, -1):
            noun = next((each for each in _singular(texts[first:end]) if each in table().nouns), "")
            joined = first >= own or end == name.start or texts[end] in _OF | _AUXILIARIES
            if noun and joined:
                frames = (*table().nouns[noun], *table().nouns.get(_PEOPLE.get(noun, ""), ()))
                yield from ((each, SOURCE if each.inverse else TARGET) for each in frames)
                break


def _singular(words: Sequence[str]) -> Iterator[str]:
    *before, word = words
    yield " ".join(words)
    if word.endswith("s"):
        yield from (" ".join((*before, each)) for each in (word[:-1], word.removesuffix("es"), f"{word[:-3]}y"))


def _verbs(texts: Sequence[str], name: range, start: int) -> Iterator[tuple[Frame, int]]:
    """Verbs whose subject or object a name is: "who does X answer to", "who answers to X", "which team is X on"."""
    before = texts[max(start, name.start - _NEAR) : name.start]
    if not _BE.isdisjoint(before[-1:]):
        yield from _frames(("be",), texts[name.stop :], texts[0], SOURCE)
    elif not _AUXILIARIES.isdisjoint(before):
        for place in range(name.stop, min(name.stop + _NEAR, len(texts))):
            yield from _frames(sorted(bases(texts[place])), texts[place + 1 :], texts[0], SOURCE)
    else:
        for place in range(start, name.start):
            found = ["be"] if texts[place] in _BE else sorted(bases(texts[place]))
            yield from _frames(found, texts[place + 1 : name.start], "", TARGET)


def _frames(verbs: Iterable[str], behind: Sequence[str], asked: str, end: int) -> Iterator[tuple[Frame, int]]:
    """The frames of verbs whose slot the words behind begin with; "where" stands for a preposition."""
    for verb in verbs:
        for frame in table().verbs.get(verb, ()):
            slot = list(frame.slot)
            plain = frame.slot == OBJECT and verb not in _LIGHT
            if plain or behind[: len(slot)] == slot or (asked == "where" and len(slot) == 1 and not behind):
                yield frame, -end if frame.inverse else end
