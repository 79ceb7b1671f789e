"""The part of a graph that a walk has read so far, as growing arrays: only what is needed is ever fetched."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Expansion, Floats, Hits, Keys, Mask, Rows
from graphsearch.columns.key_index import KeyIndex
from graphsearch.protocols import Frontier
from graphsearch.traversal.push import Links

_ROOM: Final = 1024
_FARTHEST: Final = np.iinfo(np.intp).max - 1


class Explored:
    """Entities as rows in the order in which they were reached, the seeds first; and the relations of those expanded.

    A relation occurs once for each of its ends that was expanded. Of every entity at most ``fan_out`` relations are
    read in either direction, the strongest; relations of confidence 0 are ignored.
    """

    def __init__(self, seeds: Hits, fan_out: int) -> None:
        self.fan_out = fan_out
        self._places = KeyIndex(seeds.keys)
        self._far, self._confidence = _Column(np.intp), _Column(np.float64)
        self._first, self._count = _Column(np.intp), _Column(np.intp)
        self._read, self._hops = _Column(np.bool_), _Column(np.intp)
        self._importance, self._weight = _Column(np.float64), _Column(np.float64)
        self._meet(len(seeds))
        self.hops[:], self.importance[:] = 0, seeds.importance

    def __len__(self) -> int:
        return len(self._places)

    @property
    def keys(self) -> Keys:
        """The key of each entity."""
        return self._places.keys

    @property
    def was_read(self) -> Mask:
        """Whether the relations of each entity were read."""
        return self._read.values

    @property
    def degrees(self) -> Rows:
        """The number of relations read of each entity."""
        return self._count.values

    @property
    def hops(self) -> Rows:
        """The distance in hops of each entity from its nearest seed, over the relations read."""
        return self._hops.values

    @property
    def importance(self) -> Floats:
        """The signature of each entity."""
        return self._importance.values

    @property
    def weight(self) -> Floats:
        """The sum of the confidences of each entity's relations: of all if read, else of those that led to it."""
        return self._weight.values

    def links_of(self, rows: Rows) -> Links:
        """The relations read of some entities, each weighted by its confidence."""
        count = self.degrees.take(rows)
        owner = np.repeat(np.arange(len(rows)), count)
        first = self._first.values.take(rows)
        places = np.arange(len(owner)) + (first - count.cumsum() + count).take(owner)
        return Links(owner, self._far.values.take(places), self._confidence.values.take(places))

    async def read(self, rows: Rows, reader: Frontier) -> None:
        """Read the relations of entities that were not read before, in order of their rows."""
        if len(rows):
            self._take(rows, (await reader.expand(self.keys[rows], self.fan_out)).rows)

    def _take(self, rows: Rows, found: Expansion) -> None:
        if not found.confidence.all():
            found = found.keep(found.confidence > 0.0)
        near = self._places.of(found.starts).take(found.start)
        far = self._places.number(found.far)
        self._meet(len(self._places) - len(self._read))
        self.importance[far] = found.far_importance
        np.minimum.at(self.hops, far, self.hops.take(near) + 1)
        self._link(rows, near, far, found.confidence)

    def _link(self, rows: Rows, near: Rows, far: Rows, confidence: Floats) -> None:
        order = np.argsort(near, kind="stable")
        count = np.bincount(near, minlength=len(self)).take(rows)
        self._first.values[rows] = len(self._far) + count.cumsum() - count
        self.degrees[rows] = count
        self._far.append(far[order])
        self._confidence.append(confidence[order])
        self.was_read[rows] = True
        self.weight[rows] = 0.0
        np.add.at(self.weight, near, confidence)
        unread = ~self.was_read.take(far)
        np.add.at(self.weight, far[unread], confidence[unread])

    def _meet(self, number: int) -> None:
        """Extend the columns for more entities."""
        for column in (self._first, self._count, self._read, self._importance, self._weight):
            column.append(np.zeros(number))
        self._hops.append(np.full(number, _FARTHEST))


class _Column:
    """An array that grows at its end, with spare room so that it is seldom copied."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._all: NDArray[Any] = np.empty(_ROOM, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        """The content; may be written to until it grows."""
        return self._all[: self._size]

    def append(self, values: NDArray[Any]) -> None:
        """Append values."""
        end = self._size + len(values)
        if end > len(self._all):
            grown = np.empty(2 * end, self._all.dtype)
            grown[: self._size] = self.values
            self._all = grown
        self._all[self._size : end] = values
        self._size = end
