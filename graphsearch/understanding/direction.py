"""Which end of a relation a question names, by the order of its words: "who does X lead", "who leads X".

English only, and only where a verb of the type itself stands in the question; elsewhere the order tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from graphsearch.query.stop_words import STOP_WORDS

SOURCE: Final = 1
TARGET: Final = -1

_AUXILIARIES: Final = frozenset({"do", "does", "did"})
_NEAR: Final = 3
"""Words before a name among which its auxiliary stands."""

Terms = Callable[[str], Sequence[str]]


def directions(
    words: Sequence[str], named: Sequence[bool], types: Mapping[int, str], terms: Terms, longest: int
) -> dict[int, int]:
    """For types whose own verb stands beside the one name in the question: the end that the name is.

    ``words`` are those of the question, ``named`` which of them are part of a name, ``types`` the names of types in
    words ("led by"), and ``longest`` how many words a name may have: of names further apart nothing can be read.
    """
    places = [place for place, part in enumerate(named) if part]
    if not places or places[-1] - places[0] > longest:
        return {}
    first, last = places[0], places[-1]
    if words[last + 1 : last + 2] == ("s",) or words[last + 1 : last + 2] == ["s"]:
        return {}  # a possessive: what follows is its noun, and no order is to be read
    said = [tuple(terms(word)) for word in words]
    found = {}
    for number, name in types.items():
        own = name.split()
        verb = next((tuple(terms(word)) for word in own if word not in STOP_WORDS), ())
        if not verb or own[-1] == "with":
            continue
        place = next((at for at, each in enumerate(said) if each == verb and not first <= at <= last), None)
        if place is not None and (end := _end(words, place, first, last, passive=own[-1] == "by")):
            found[number] = end
    return found


def _end(words: Sequence[str], verb: int, first: int, last: int, *, passive: bool) -> int:
    """The end that a name at [first, last] is, for a verb; 0 where nothing tells."""
    helped = not _AUXILIARIES.isdisjoint(words[max(0, first - _NEAR) : first])
    if verb > last:
        by = "by" in words[verb:]
        if not (helped or by):
            return 0
        return SOURCE if passive == by else TARGET
    if helped:
        return 0
    by = "by" in words[verb:first]
    return SOURCE if passive != by else TARGET
