"""The scoreboard of a recall: the scores of memories as they add up, part by part."""

from __future__ import annotations

from typing import Final

import numpy as np

from graphsearch.columns import NONE, Floats, Keys, Rows
from graphsearch.columns.key_index import KeyIndex

DIGITS: Final = 18
"""Binary digits to which scores are compared (five decimal ones): the rest depends on how a store adds."""


class Board:
    """Memories by row, and for each its score so far, with the contribution of every part to it."""

    def __init__(self, keys: Keys) -> None:
        self._places = KeyIndex(keys)
        self.total = np.zeros(len(keys))
        """The scores so far, in the order of `keys`."""
        self.parts: dict[str, Floats] = {}
        """The contributions that add up to them."""

    @property
    def keys(self) -> Keys:
        """The memories, in the order in which they were added."""
        return self._places.keys

    def add(self, part: str, keys: Keys, values: Floats) -> Rows:
        """Add to the scores of distinct memories, of which some may be new; returns their rows."""
        rows = self._places.number(keys)
        if new := len(self.keys) - len(self.total):
            self.total = np.append(self.total, np.zeros(new))
            self.parts = {name: np.append(column, np.zeros(new)) for name, column in self.parts.items()}
        column = self.parts.setdefault(part, np.zeros(len(self.keys)))
        column[rows] += values
        self.total[rows] += values
        return rows

    def scale(self, factor: Floats | float) -> None:
        """Multiply the scores, by one factor or by one each."""
        self.parts = {name: column * factor for name, column in self.parts.items()}
        self.total = self.total * factor

    def best_is_one(self) -> None:
        """Scale all scores so that the best is 1; no change if none is above 0."""
        best = self.total.max(initial=0.0)
        if best > 0:
            self.scale(1.0 / best)

    def of(self, keys: Keys) -> Floats:
        """The scores of some memories, 0 for those that are not here."""
        return np.append(self.total, 0.0)[self._places.of(keys)]

    def first(self, count: int) -> Keys:
        """The best memories so far."""
        first: Keys = self.keys[best_first(self.total, self.keys, count)]
        return first


def rows_among(many: Keys, few: Keys) -> Rows:
    """The rows of a few distinct keys in a long column of distinct ones, `NONE` if absent.

    Unlike in `KeyIndex`, the long column is not sorted for that.
    """
    which = KeyIndex(few).of(many)
    (there,) = (which != NONE).nonzero()
    rows = np.full(len(few), NONE, dtype=np.intp)
    rows[which[there]] = there
    return rows


def best_first(scores: Floats, keys: Keys, count: int) -> Rows:
    """The rows of the ``count`` (1 or more) best scores, best first; equal ones in the order of their keys."""
    worse = -compared(scores)
    near = np.arange(len(scores))
    if len(scores) > count:
        near = np.flatnonzero(worse <= np.partition(worse, count - 1)[count - 1])
    order: Rows = near[np.lexsort((keys[near], worse[near]))[:count]]
    return order


def compared(scores: Floats) -> Floats:
    """Scores rounded to the digits that all stores agree on."""
    mantissa, exponent = np.frexp(scores)
    shorter: Floats = np.ldexp(np.round(np.ldexp(mantissa, DIGITS)), exponent - DIGITS)
    return shorter
