"""What a text declares itself: "International Business Machines (IBM)", "IBM (International Business Machines)"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from graphsearch.model.extracted import Surface
from graphsearch.model.identity import normalise_name
from graphsearch.names.forms import FEW, abbreviates, initials_of, plain_form

_BETWEEN: Final = range(2, 4)
"""Characters from a name to the one behind it in brackets, and in quotes within them."""


def declared(surfaces: Sequence[Surface]) -> frozenset[frozenset[str]]:
    """Pairs of names that stand side by side in a text, one of them the other's initials.

    Surfaces are in the order in which texts have them; a bracket and a quote may stand between two of them.
    """
    return frozenset(frozenset({a.name, b.name}) for a, b in _beside(surfaces) if _short_for(a.name, b.name))


def short_names(same: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """What each short name is declared to be short for, by its normal form; one that two names have is left out."""
    found: dict[str, set[str]] = {}
    for short, full in same:
        found.setdefault(normalise_name(short), set()).add(full)
    return {short: next(iter(names)) for short, names in found.items() if len(names) == 1}


def _beside(surfaces: Iterable[Surface]) -> Iterable[tuple[Surface, Surface]]:
    for a, b in pairwise(surfaces):
        if a.span and b.span and b.span.start - a.span.end in _BETWEEN:
            yield a, b


def _short_for(a: str, b: str) -> bool:
    short, long = sorted((plain_form(a), plain_form(b)), key=lambda form: len(form.parts))
    return initials_of(short, long, FEW) or abbreviates(short, long)
