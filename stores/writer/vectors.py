"""The vectors of a batch in all stores: those of each length as one matrix, and their faults."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.errors import EmbeddingModelError
from graphsearch.model import Batch, Entity, Memory, Relation, Scope, Vector
from graphsearch.text.bm25 import embedding_text

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


@attrs.frozen(eq=False)
class Vectors:
    """Vectors as they are stored, a matrix for every length that occurs, and all of their faults."""

    matrices: Sequence[Matrix]
    faults: Sequence[str]

    keys: Collection[Any]
    """The keys of all, faulty ones included."""

    def refuse_others(self, embedder: str | None, dimensions: int | None) -> None:
        """Raise `EmbeddingModelError` for a length other than that of the scope's embedder."""
        for length in {matrix.rows.shape[1] for matrix in self.matrices} - {dimensions}:
            raise wrong_length(length, embedder, dimensions)


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
        if not_numeric := [key for key, vector in pairs if np.asarray(vector).dtype.kind not in "fiu"]:
            faults += [f"vector of {key}: must be numbers" for key in not_numeric]
            continue
        matrix, wrong = read_matrix(keys, [vector for _, vector in pairs])
        matrices.append(matrix)
        faults += wrong
    return Vectors(matrices, faults, vectors.keys())


def _order(pair: tuple[Any, Vector]) -> Any:
    key = pair[0]
    return key if isinstance(key, str) else key.int


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


def with_current_vectors(batch: Batch, stored: Iterable[Entity | Relation | Memory]) -> Batch:
    """A batch without the vectors of texts that the stored elements no longer have; see `Batch.embedded`."""
    if not batch.embedded:
        return batch
    current = {each.id: embedding_text(each) for each in stored}
    outdated = {key for key, text in batch.embedded.items() if current.get(key) != text}
    return attrs.evolve(batch, vectors={key: each for key, each in batch.vectors.items() if key not in outdated})


def wrong_length(length: int, embedder: str | None, dimensions: int | None) -> EmbeddingModelError:
    """The error for a vector whose length differs from that of a scope's embedder."""
    if dimensions is None:
        return EmbeddingModelError("this scope holds no vectors yet: call bind_embedder(name, dimensions) first")
    return EmbeddingModelError(
        f"this scope holds vectors of {dimensions} numbers by {embedder!r}, not of {length}: "
        "use that model, or write to another scope"
    )


def refuse_other_model(batch: Batch, embedder: str | None) -> None:
    """Raise `EmbeddingModelError` for vectors of another model than that of a scope, where a batch states theirs."""
    if batch.vectors and batch.embedder and embedder is not None and batch.embedder != embedder:
        raise EmbeddingModelError(
            f"this scope holds vectors by {embedder!r}, not by {batch.embedder!r}: "
            "use that model, or write to another scope"
        )


def other_embedder(scope: Scope, held: tuple[object, object], given: tuple[str, int]) -> EmbeddingModelError:
    """The error for an embedder, as name and dimensions, that is not the one that a scope has."""
    return EmbeddingModelError(
        f"scope {scope} holds vectors of {held[0]!r} ({held[1]} numbers), not of {given[0]!r} ({given[1]}): "
        "use that model, or write to another scope"
    )
