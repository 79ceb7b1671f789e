"""The vectors of a batch as they are stored, that of a query, and their faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.errors import EmbeddingModelError
from graphsearch.model import Batch, Entity, Memory, Relation, Vector, validation
from graphsearch.text.bm25 import embedding_text

_UNSIGNED: Final = np.uint16(0x7FFF)
_INFINITE: Final = np.uint16(0x7C00)
"""The bits of a float16: all but the sign, and infinity, above which are the NaNs."""


@attrs.frozen(eq=False)
class Vectors:
    """Vectors as they are stored, by key, and all of their faults."""

    rows: Mapping[Any, NDArray[np.float16]]
    faults: Sequence[str]

    def refuse_others(self, embedder: str | None, dimensions: int | None) -> None:
        """Raise `EmbeddingModelError` for a length other than that of the scope's embedder."""
        for length in {len(row) for row in self.rows.values()} - {dimensions}:
            raise wrong_length(length, embedder, dimensions)


def read_vectors(vectors: Mapping[Any, Vector]) -> Vectors:
    """Read the vectors of a batch: those of each length as one matrix."""
    rows: dict[Any, NDArray[np.float16]] = {}
    faults: list[str] = []
    keys: dict[tuple[int, ...], list[Any]] = {}
    for key, vector in vectors.items():
        shape = np.shape(vector)
        if len(shape) != 1 or not shape[0]:
            faults.append(f"vector of {key}: must be one row of numbers, not of shape {shape}")
        elif np.asarray(vector).dtype.kind not in "fiu":
            faults.append(f"vector of {key}: must be numbers")
        else:
            keys.setdefault(shape, []).append(key)
    for together in keys.values():
        with np.errstate(over="ignore"):
            matrix = np.array([vectors[key] for key in together]).astype(np.float16)
        rows.update(zip(together, matrix, strict=True))
        peak = (matrix.view(np.uint16) & _UNSIGNED).max(axis=1)  # without signs, floats sort like their bits
        for row in np.flatnonzero((peak == 0) | (peak >= _INFINITE)).tolist():
            must = "must not be zero" if peak[row] == 0 else "must be finite, also as float16"
            faults.append(f"vector of {together[row]}: {must}")
    return Vectors(rows, faults)


def with_current_vectors(batch: Batch, stored: Iterable[Entity | Relation | Memory]) -> Batch:
    """A batch without the vectors of texts that the stored elements no longer have; see `Batch.embedded`."""
    if not batch.embedded:
        return batch
    current = {each.id: embedding_text(each) for each in stored}
    outdated = {key for key, text in batch.embedded.items() if current.get(key) != text}
    return attrs.evolve(batch, vectors={key: each for key, each in batch.vectors.items() if key not in outdated})


def unit_vector(query: Vector, embedder: str | None, dimensions: int | None) -> NDArray[np.float32]:
    """A query of length 1; `EmbeddingModelError` unless it has as many dimensions as the scope's vectors."""
    vector = np.asarray(query, np.float32)
    if vector.ndim != 1 or (dimensions is not None and len(vector) != dimensions):
        raise wrong_length(vector.size, embedder, dimensions)
    norm = float(np.linalg.norm(vector))
    validation.refuse("query vector", None if norm > 0 and np.isfinite(norm) else "must be finite and not zero")
    return vector / np.float32(norm)


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
