"""The vectors of a batch: what is wrong with them, and those of each kind as one matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.records import Vector
from graphsearch.stores.in_postgres.copying import Columns


@attrs.frozen(eq=False)
class Matrix:
    """Vectors of one length, in order of key: ids, or keys of memories; for every one a row of float16 numbers."""

    keys: Sequence[Any]
    rows: NDArray[np.float16]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def textual(self) -> bool:
        """Whether they are of memories."""
        return isinstance(self.keys[0], str)

    def take(self, rows: Sequence[int]) -> Matrix:
        """Some rows, in order."""
        return self if len(rows) == len(self) else Matrix([self.keys[row] for row in rows], self.rows[rows])

    def parts(self, size: int) -> Iterator[Columns]:
        """For `VECTORS`, at most ``size`` rows at a time."""
        for at in range(0, len(self), size):
            yield {"id": self.keys[at : at + size], "embedding": self.rows[at : at + size]}


@attrs.frozen(eq=False)
class Vectors:
    """Vectors as they are stored, a matrix for every length that occurs, and every fault of them."""

    matrices: Sequence[Matrix]
    faults: Sequence[str]

    @property
    def lengths(self) -> list[int]:
        """The lengths that occur."""
        return [matrix.rows.shape[1] for matrix in self.matrices]


def _order(pair: tuple[Any, Vector]) -> Any:
    key = pair[0]
    return key if isinstance(key, str) else key.int


def read_vectors(vectors: Mapping[Any, Vector]) -> Vectors:
    """Read the vectors of a batch."""
    matrices: list[Matrix] = []
    faults: list[str] = []
    of: dict[tuple[tuple[int, ...], type], list[tuple[Any, Vector]]] = {}
    for key, vector in vectors.items():
        of.setdefault((np.shape(vector), type(key)), []).append((key, vector))
    for (shape, _), pairs in of.items():
        pairs.sort(key=_order)
        keys = [key for key, _ in pairs]
        if len(shape) != 1 or not shape[0]:
            faults += [f"vector of {key}: must be one row of numbers, not of shape {shape}" for key in keys]
            continue
        given = np.array([vector for _, vector in pairs])
        with np.errstate(over="ignore"):
            matrices.append(Matrix(keys, given.astype(np.float16)))
            peak = np.abs(given).max(axis=1).astype(np.float16)  # rounding keeps order: the largest tells of all
        for row in np.flatnonzero(~(np.isfinite(peak) & (peak > 0))):
            must = "must not be zero" if peak[row] == 0 else "must be finite, also as float16"
            faults.append(f"vector of {keys[row]}: {must}")
    return Vectors(matrices, faults)
