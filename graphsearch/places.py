"""Finding keys in columns: by table where keys are small numbers, by sorting where they are anything else.

The two ways give the same answers. Row numbers of a store in memory take the first, the ids of a database the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import NONE, Keys, Rows

TABLE_LIMIT: Final = 1 << 22
"""A table is only worth its memory for keys below this."""


def _table_size(keys: Keys) -> int:
    """How long a table of these keys would be; 0 where it is better to sort."""
    if keys.dtype.kind != "i" or not len(keys):
        return 0
    size = int(keys.max()) + 1
    return size if size <= TABLE_LIMIT else 0


class Places:
    """Where distinct keys stand in a column."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._size = _table_size(keys)
        if self._size:
            self._table = np.full(self._size, NONE, dtype=np.intp)
            self._table[keys] = np.arange(len(keys))
        else:
            self._order = np.argsort(keys, kind="stable")
            self._sorted = keys[self._order]

    def of(self, keys: Keys) -> Rows:
        """The row of each key, -1 for those that are not in the column."""
        if self._size:
            if int(keys.max(initial=0)) < self._size:
                return self._table[keys]
            return np.where(keys < self._size, self._table[np.minimum(keys, self._size - 1)], NONE)
        if not len(self._keys):
            return np.full(len(keys), NONE, dtype=np.intp)
        near = np.searchsorted(self._sorted, keys).clip(max=len(self._keys) - 1)
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
        return np.sort(np.unique(keys, return_index=True)[1])
    rows = np.arange(len(keys))
    table = np.empty(size, dtype=np.intp)
    table[keys[::-1]] = rows[::-1]
    return np.flatnonzero(table[keys] == rows)


def distinct(keys: Keys) -> tuple[Keys, Rows]:
    """The distinct keys in order, and for each row which of them it has."""
    size = _table_size(keys)
    if not size:
        values, inverse = np.unique(keys, return_inverse=True)
        return values, inverse
    table = np.zeros(size, dtype=np.intp)
    table[keys] = 1
    values = np.flatnonzero(table)
    table[values] = np.arange(len(values))
    return values.astype(keys.dtype, copy=False), table[keys]


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
