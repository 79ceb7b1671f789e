"""The end of a relation that a question names, from its word order: "who does X lead", "who leads X".

English only, and only if the question contains a verb of the type itself; otherwise the order carries no information.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from graphsearch.text.analyser import STOP_WORDS

SOURCE: Final = 1
TARGET: Final = -1

_AUXILIARIES: Final = frozenset({"do", "does", "did"})
_NEAR: Final = 3
"""Words before a name that are searched for its auxiliary."""

Terms = Callable[[str], Sequence[str]]


@attrs.frozen
class Verb:
    """The verb in the name of a relation type: the terms of its first significant word.

    ``passive``: whether the name ends with "by". ``preposition``: any other that it ends with; for "served at" it is
    unknown whether the source serves or is served.
    """

    terms: tuple[str, ...]
    passive: bool
    preposition: str = ""


def verb_of(phrase: str, terms: Terms) -> Verb | None:
    """The verb of a type, from its name in words, such as "led by"; None without a verb, and for symmetric types."""
    words = phrase.split()
    verb_terms = next((tuple(terms(word)) for word in words if word not in STOP_WORDS), ())
    if not verb_terms or words[-1] == "with":
        return None
    return Verb(verb_terms, "by" in words, words[-1] if words[-1] in STOP_WORDS - {"by"} else "")


def directions(
    words: Sequence[str], named: Sequence[bool], verbs: Sequence[Verb | None], terms: Terms, longest: int
) -> dict[int, int]:
    """For types, by row, whose own verb stands next to the one name in the question: the end that the name is.

    ``words`` are those of the question, ``named`` which of them are part of a name, ``verbs`` those of the types, and
    ``longest`` the most words of a name: with names further apart no order is read.
    """
    places = [place for place, part in enumerate(named) if part]
    if not places or places[-1] - places[0] > longest:
        return {}
    first, last = places[0], places[-1]
    if words[last + 1 : last + 2] == ("s",) or words[last + 1 : last + 2] == ["s"]:
        return {}  # a possessive: its noun follows, and the order means nothing
    verb_terms: dict[tuple[str, ...], int] = {}
    for place, word in enumerate(words):
        if not first <= place <= last:
            verb_terms.setdefault(tuple(terms(word)), place)
    found: dict[int, int] = {}
    for row, verb in enumerate(verbs):
        if verb is not None and verb.terms in verb_terms:
            found[row] = _end(words, verb_terms[verb.terms], first, last, verb)
    return {row: end for row, end in found.items() if end}


def _end(words: Sequence[str], place: int, first: int, last: int, verb: Verb) -> int:
    """The end that a name at [first, last] is, for a verb at some position; 0 if unknown."""
    helped = not _AUXILIARIES.isdisjoint(words[max(0, first - _NEAR) : first])
    if place > last:
        by = "by" in words[place:]
        if not (helped or by):
            return 0
        return SOURCE if verb.passive == by else TARGET
    if helped:
        return 0
    if verb.preposition:
        return TARGET if verb.preposition in words[place:first] else 0
    by = "by" in words[place:first]
    return SOURCE if verb.passive != by else TARGET
