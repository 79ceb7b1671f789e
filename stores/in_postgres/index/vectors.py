"""The vectors of a batch: their faults, and those of each kind as one matrix."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.errors import EmbeddingModelError
from graphsearch.model import Entity, Vector
from graphsearch.stores.in_postgres.session.copying import Columns
from graphsearch.stores.in_postgres.session.sessions import Session

_NUMBER: Final = attrgetter("id.int")
_UNSIGNED: Final = np.uint16(0x7FFF)
_INFINITE: Final = np.uint16(0x7C00)
"""The bits of a float16: all but the sign, and infinity, above which are the NaNs."""


@attrs.frozen(eq=False)
class Matrix:
    """Vectors of one length, in order of key: ids, or keys of memories; one row of float16 numbers each."""

    keys: Sequence[Any]
    rows: NDArray[np.float16]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def textual(self) -> bool:
        """Whether they are vectors of memories."""
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
    """Vectors as they are stored, a matrix for every length that occurs, and all of their faults."""

    matrices: Sequence[Matrix]
    faults: Sequence[str]

    keys: Collection[Any]
    """The keys of all, faulty ones included."""

    @property
    def lengths(self) -> list[int]:
        """The lengths that occur."""
        return [matrix.rows.shape[1] for matrix in self.matrices]


@attrs.frozen(eq=False)
class Carried:
    """The vectors of new entities, written in the entities' own rows: another row would cost as much again."""

    vectors: Mapping[int, Vector] = attrs.field(factory=dict)
    """By the id as a number."""
    faults: list[str] = attrs.field(factory=list)
    """The faults of the vectors read so far."""

    @classmethod
    def of(cls, entities: Sequence[Entity], vectors: Mapping[Any, Vector], length: int) -> Carried:
        """None unless every one of the entities has a vector of this length."""
        given = {key.int: vector for key, vector in vectors.items() if not isinstance(key, str)}
        numbers = list(map(_NUMBER, entities))
        if {getattr(given.get(number), "shape", None) for number in numbers} != {(length,)}:
            return cls()
        return cls(given if len(given) == len(numbers) else {number: given[number] for number in numbers})

    def __len__(self) -> int:
        return len(self.vectors)

    def others(self, vectors: Mapping[Any, Vector]) -> Mapping[Any, Vector]:
        """The vectors that are not written in the entities' rows."""
        if len(self) == len(vectors):
            return {}
        return {key: each for key, each in vectors.items() if isinstance(key, str) or key.int not in self.vectors}

    def read(self, entities: Sequence[Entity]) -> NDArray[np.float16] | None:
        """A row for each of some of the entities, or None if there are none."""
        if not self.vectors:
            return None
        matrix, wrong = read_matrix(
            [each.id for each in entities], [self.vectors[number] for number in map(_NUMBER, entities)]
        )
        if wrong:
            self.faults.extend(wrong)
            np.nan_to_num(matrix.rows, copy=False)  # or the server would refuse these before the other faults are found
        return matrix.rows


def _order(pair: tuple[Any, Vector]) -> Any:
    key = pair[0]
    return key if isinstance(key, str) else key.int


def read_vectors(vectors: Mapping[Any, Vector], known_faults: Iterable[str] = ()) -> Vectors:
    """Read the vectors of a batch; ``known_faults`` are those found elsewhere."""
    matrices: list[Matrix] = []
    faults = list(known_faults)
    of: dict[tuple[tuple[int, ...], type], list[tuple[Any, Vector]]] = {}
    for key, vector in vectors.items():
        of.setdefault((np.shape(vector), type(key)), []).append((key, vector))
    for (shape, _), pairs in of.items():
        pairs.sort(key=_order)
        keys = [key for key, _ in pairs]
        if len(shape) != 1 or not shape[0]:
            faults += [f"vector of {key}: must be one row of numbers, not of shape {shape}" for key in keys]
            continue
        matrix, wrong = read_matrix(keys, [vector for _, vector in pairs])
        matrices.append(matrix)
        faults += wrong
    return Vectors(matrices, faults, vectors.keys())


def read_matrix(keys: Sequence[Any], vectors: Sequence[Vector]) -> tuple[Matrix, list[str]]:
    """Vectors of one length, and their faults."""
    with np.errstate(over="ignore"):
        rounded = np.array(vectors).astype(np.float16)
    peak = (rounded.view(np.uint16) & _UNSIGNED).max(axis=1)  # without signs, floats sort like their bits
    faults = []
    for row in np.flatnonzero((peak == 0) | (peak >= _INFINITE)).tolist():
        must = "must not be zero" if peak[row] == 0 else "must be finite, also as float16"
        faults.append(f"vector of {keys[row]}: {must}")
    return Matrix(keys, rounded), faults


def refuse_length(session: Session, length: int) -> None:
    """Raise `EmbeddingModelError` for a vector whose length differs from the scope's."""
    if session.dimensions is None:
        raise EmbeddingModelError("this scope holds no vectors yet: call bind_embedder(name, dimensions) first")
    if session.dimensions != length:
        raise EmbeddingModelError(
            f"this scope holds vectors of {session.dimensions} numbers by {session.embedder!r}, not of {length}: "
            "use that model, or write to another scope"
        )
