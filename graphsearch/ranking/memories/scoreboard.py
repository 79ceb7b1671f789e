"""The scoreboard: scores of memories as they add up, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from graphsearch.columns import NONE, Floats, Keys, Rows
from graphsearch.columns.key_index import KeyIndex

DIGITS: Final = 18
"""Binary digits to which scores are compared (five decimal ones): the rest depends on how a store adds."""


class Board:
    """Memories by row, and for each the contributions of every part to its score so far."""

    def __init__(self, like: Keys) -> None:
        self._places = KeyIndex(like[:0])
        self._parts: dict[str, Floats] = {}

    @property
    def keys(self) -> Keys:
        """The memories, in the order in which they were added."""
        return self._places.keys

    @property
    def parts(self) -> Mapping[str, Floats]:
        """The contributions by part, all of the same length."""
        return {name: self._long(part) for name, part in self._parts.items()}

    @property
    def total(self) -> Floats:
        """The scores so far."""
        total = np.zeros(len(self.keys))
        for part in self.parts.values():
            total += part
        return total

    def add(self, part: str, keys: Keys, values: Floats) -> Rows:
        """Add to the scores of distinct memories, of which some may be new; returns their rows."""
        rows = self._places.number(keys)
        column = self._long(self._parts.get(part, np.empty(0)))
        column[rows] += values
        self._parts[part] = column
        return rows

    def add_to_all(self, part: str, values: Floats) -> None:
        """Add to the scores of all memories, in the order of `keys`."""
        self._parts[part] = self._long(self._parts.get(part, np.empty(0))) + values

    def scale(self, factor: Floats | float) -> None:
        """Multiply the scores, by one factor or by one each."""
        self._parts = {name: part * factor for name, part in self.parts.items()}

    def best_is_one(self) -> None:
        """Scale all scores so that the best is 1; no change if none is above 0."""
        best = self.total.max(initial=0.0)
        if best > 0:
            self.scale(1.0 / best)

    def of(self, keys: Keys) -> Floats:
        """The scores of some memories, 0 for those that are not here."""
        rows = self._places.of(keys)
        return np.append(self.total, 0.0)[rows]

    def first(self, count: int) -> Keys:
        """The best memories so far."""
        first: Keys = self.keys[best_first(self.total, self.keys, count)]
        return first

    def _long(self, part: Floats) -> Floats:
        return np.concatenate((part, np.zeros(len(self.keys) - len(part))))


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
