"""Finding keys in columns: by table where keys are small numbers, by sorting where they are anything else.

The two ways give the same answers. Row numbers of a store in memory take the first, the ids of a database the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import NONE, Keys, Rows

_UUID_BYTES: Final = np.dtype("S16")
TABLE_LIMIT: Final = 1 << 22
"""A table is only worth its memory for keys below this."""


def _table_size(keys: Keys) -> int:
    """How long a table of these keys would be; 0 where it is better to sort."""
    if keys.dtype.kind != "i" or not len(keys):
        return 0
    size = int(keys.max()) + 1
    return size if size <= TABLE_LIMIT else 0


def _halves(keys: Keys) -> NDArray[np.uint64] | None:
    """The first eight bytes of each 16-byte key, as numbers that sort alike; None for other keys.

    Numbers are compared several times faster than bytes, and those of random ids are as good as never alike.
    """
    if keys.dtype != _UUID_BYTES:
        return None
    return np.ascontiguousarray(keys).view(">u8")[::2].astype(np.uint64)


class Places:
    """Where distinct keys stand in a column."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._size = _table_size(keys)
        if self._size:
            self._table = np.full(self._size, NONE, dtype=np.intp)
            self._table[keys] = np.arange(len(keys))
            return
        halves = _halves(keys)
        self._order = np.argsort(keys if halves is None else halves, kind="stable")
        self._sorted = keys[self._order]
        self._halves = None if halves is None else halves[self._order]
        if self._halves is not None and (self._halves[1:] == self._halves[:-1]).any():
            self._order = np.argsort(keys, kind="stable")
            self._sorted, self._halves = keys[self._order], None

    def of(self, keys: Keys) -> Rows:
        """The row of each key, -1 for those that are not in the column."""
        if self._size:
            if int(keys.max(initial=0)) < self._size:
                return self._table[keys]
            return np.where(keys < self._size, self._table[np.minimum(keys, self._size - 1)], NONE)
        if not len(self._keys):
            return np.full(len(keys), NONE, dtype=np.intp)
        halves = _halves(keys)
        if self._halves is not None and halves is not None:
            near = np.searchsorted(self._halves, halves)
        else:
            near = np.searchsorted(self._sorted, keys)
        near = near.clip(max=len(self._keys) - 1)
        return np.where(self._sorted[near] == keys, self._order[near], NONE)


class Memo:
    """A column of numbers by key, filled in as keys turn up."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._values = np.empty(0, dtype=dtype)
        self._places: Places | None = None
        self._keys: Keys = np.empty(0)

    def missing(self, keys: Keys) -> Keys:
        """The distinct keys that have no value yet, in order."""
        if self._places is None:
            return distinct(keys)[0]
        rows = self._places.of(keys)
        return keys[:0] if rows.min(initial=0) != NONE else distinct(keys[rows == NONE])[0]

    def learn(self, keys: Keys, values: Sequence[float]) -> None:
        """Give values to distinct keys that have none."""
        self._keys = keys if self._places is None else np.concatenate((self._keys, keys))
        self._values = np.concatenate((self._values, np.array(values, dtype=self._values.dtype)))
        self._places = Places(self._keys)

    def __getitem__(self, keys: Keys) -> NDArray[Any]:
        """The values of keys that all have one."""
        return self._values[:0] if self._places is None else self._values[self._places.of(keys)]


def first_rows(keys: Keys) -> Rows:
    """The first row of every distinct key, ascending."""
    size = _table_size(keys)
    if not size:
        _, inverse = distinct(keys)
        return first_rows(inverse.astype(np.int64)) if len(keys) else inverse
    rows = np.arange(len(keys))
    table = np.empty(size, dtype=np.intp)
    table[keys[::-1]] = rows[::-1]
    return np.flatnonzero(table[keys] == rows)


def distinct(keys: Keys) -> tuple[Keys, Rows]:
    """The distinct keys in order, and for each row which of them it has."""
    size = _table_size(keys)
    if size:
        table = np.zeros(size, dtype=np.intp)
        table[keys] = 1
        values = np.flatnonzero(table)
        table[values] = np.arange(len(values))
        return values.astype(keys.dtype, copy=False), table[keys]
    halves = _halves(keys)
    if halves is not None:
        _, first, inverse = np.unique(halves, return_index=True, return_inverse=True)
        if (keys[first][inverse] == keys).all():
            return keys[first], inverse
    return np.unique(keys, return_inverse=True)


def best_rows(groups: Rows, count: int, values: NDArray[np.float64], ties: Keys) -> Rows:
    """For each of ``count`` groups, all of which occur, the row of its greatest value, ties by the lowest key."""
    greatest = np.full(count, -np.inf)
    np.maximum.at(greatest, groups, values)
    leading = np.flatnonzero(values == greatest[groups])
    if len(leading) > count:
        ordered = leading[np.lexsort((ties[leading], groups[leading]))]
        first = np.ones(len(ordered), dtype=np.bool_)
        first[1:] = groups[ordered[1:]] != groups[ordered[:-1]]
        return ordered[first]
    best = np.empty(count, dtype=np.intp)
    best[groups[leading]] = leading
    return best
