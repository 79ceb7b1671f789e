"""The rows of keys in columns: by a lookup table for small integers, by binary search for all other keys.

Both give the same results. Row numbers of the store in memory take the first way, ids of a database the second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import NONE, Keys, Mask, Rows

_UUID_BYTES: Final = np.dtype("S16")
SMALL: Final = 1 << 14
"""A table of so few entries costs less than to sort any keys."""
SPARSE: Final = 64
"""Below one key per this many table entries, sorting is faster than a table."""


def _table_size(keys: Keys) -> int:
    """The length of a table for these keys; 0 if sorting is better."""
    if keys.dtype.kind != "i":
        return 0
    size = int(np.maximum.reduce(keys, initial=0)) + 1
    return size if size <= max(SMALL, SPARSE * len(keys)) else 0


def _halves(keys: Keys) -> NDArray[np.uint64] | None:
    """The first eight bytes of each 16-byte key, as numbers of the same order; None for other keys.

    Numbers compare several times faster than bytes, and the halves of random ids practically never collide.
    """
    if keys.dtype != _UUID_BYTES:
        return None
    return np.ascontiguousarray(keys).view(">u8")[::2].astype(np.uint64)


class KeyIndex:
    """The row of each key in a column of distinct keys; the column can grow at its end."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        """The column."""
        self._find: _Find | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def of(self, keys: Keys) -> Rows:
        """The row of each key, -1 if it is not in the column."""
        if self._find is None:  # made at the first lookup: keys added last may never be looked up
            size = _table_size(self.keys)
            self._find = _by_table(self.keys, size) if size else _by_order(self.keys)
        return self._find(keys)

    def number(self, keys: Keys) -> Rows:
        """The row of each key; missing keys are appended to the column, in order."""
        rows = self.of(keys)
        (fresh,) = (rows == NONE).nonzero()
        if len(fresh):
            added, which = distinct(keys[fresh])
            rows[fresh] = which + len(self.keys)
            self.keys, self._find = np.concatenate((self.keys, added)), None
        return rows

    def enter(self, keys: Keys, which: Rows) -> Rows:
        """Like `number` for ``keys[which]``, where keys are distinct and sorted: each is looked up once."""
        met = occurring(which, len(keys))
        numbers = np.empty(len(keys), dtype=np.intp)
        numbers[met] = self.number(keys.take(met))
        return numbers.take(which)


_Find = Callable[[Keys], Rows]


def _by_table(column: Keys, size: int) -> _Find:
    table = np.full(size + 1, NONE, dtype=np.intp)  # its last entry stands for all keys beyond
    table[column] = np.arange(len(column))
    return lambda keys: table.take(keys, mode="clip")


def _by_order(column: Keys) -> _Find:
    halves = _halves(column)
    if halves is not None and len(np.unique(halves)) < len(halves):
        halves = None
    order = np.argsort(column if halves is None else halves)
    ordered, numbers = column[order], None if halves is None else halves[order]

    def find(keys: Keys) -> Rows:
        if not len(ordered):
            return np.full(len(keys), NONE, dtype=np.intp)
        if numbers is not None and (wanted := _halves(keys)) is not None:
            near = np.searchsorted(numbers, wanted)
        else:
            near = np.searchsorted(ordered, keys)
        near = near.clip(max=len(ordered) - 1)
        return np.where(ordered[near] == keys, order[near], NONE)

    return find


def among(keys: Keys, column: Keys) -> Mask:
    """Whether each key occurs in a column of distinct keys."""
    there: Mask = KeyIndex(column).of(keys) != NONE
    return there


def occurring(numbers: Rows, size: int) -> Rows:
    """The distinct numbers, all below ``size``, in order."""
    if size > max(SMALL, SPARSE * len(numbers)):
        return np.unique(numbers)
    there = np.zeros(size, dtype=np.bool_)
    there[numbers] = True
    return there.nonzero()[0]


def first_rows(keys: Keys) -> tuple[Rows, Rows]:
    """The first row of every distinct key, ascending; and for each row, the first that has its key."""
    size = _table_size(keys)
    if not size:
        return first_rows(distinct(keys)[1])
    rows = np.arange(len(keys))
    table = np.empty(size, dtype=np.intp)
    table[keys[::-1]] = rows[::-1]
    first = table.take(keys)
    (once,) = (first == rows).nonzero()
    return once, first


def distinct(keys: Keys) -> tuple[Keys, Rows]:
    """The distinct keys in order, and for each row the index of its key among them."""
    size = _table_size(keys)
    if size:
        values = occurring(keys, size)
        table = np.empty(size, dtype=np.intp)
        table[values] = np.arange(len(values))
        return values.astype(keys.dtype, copy=False), table.take(keys)
    halves = _halves(keys)
    if halves is not None:
        _, first, inverse = np.unique(halves, return_index=True, return_inverse=True)
        if (keys[first][inverse] == keys).all():
            return keys[first], inverse
    return np.unique(keys, return_inverse=True)


def best_rows(groups: Rows, count: int, values: NDArray[np.float64], ties: Keys, *, first: int = 0) -> Rows:
    """For each group from ``first`` to ``count``, all of which occur, the row of its greatest value.

    Ties go to the lowest key. Values are finite.
    """
    greatest = np.full(count, -np.inf)
    np.maximum.at(greatest, groups, values)
    greatest[:first] = np.inf  # no row of these groups is selected
    leading: Rows = (values == greatest.take(groups)).nonzero()[0]
    if len(leading) > count - first:
        ordered = leading[np.lexsort((ties[leading], groups[leading]))]
        starts = np.ones(len(ordered), dtype=np.bool_)
        starts[1:] = groups[ordered[1:]] != groups[ordered[:-1]]
        return ordered[starts]
    best = np.empty(count, dtype=np.intp)
    best[groups.take(leading)] = leading
    return best[first:]
