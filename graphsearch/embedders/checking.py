"""Input and output of embedders, checked in the same way for every adapter, and the vector of a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from graphsearch._support.timing import Stopwatch
from graphsearch.errors import EmbedderError
from graphsearch.model import Vector
from graphsearch.model import validation as check
from graphsearch.protocols import Embedder


def checked_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list. Raises `InvalidInputError` that names each one that is blank or not text."""
    check.refuse("texts to embed", *(check.text(f"text {position}", text) for position, text in enumerate(texts)))
    return list(texts)


def checked_vectors(vectors: ArrayLike, count: int, dimensions: int, *, embedder: str = "the embedder") -> Vector:
    """A model's answer as a contiguous float32 array of shape (count, dimensions), validated.

    Raises `EmbedderError` that names the fault: another shape, values that are not finite numbers, or a vector of
    zeros, which has no direction and so no cosine distance.
    """
    if count == 0:
        return np.empty((0, dimensions), dtype=np.float32)
    try:
        with np.errstate(over="ignore"):  # a value that is too large becomes infinite, and is refused below
            array = np.ascontiguousarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbedderError(f"{embedder} answered with something other than vectors of one length") from error
    if array.ndim != 2 or array.shape[0] != count:  # noqa: PLR2004 - texts × dimensions
        raise EmbedderError(f"{embedder} answered with shape {array.shape} for {count} texts")
    if array.shape[1] != dimensions:
        raise EmbedderError(
            f"{embedder} answered with {array.shape[1]} dimensions where {dimensions} were stated; "
            "make the embedder with the dimensions that its model has"
        )
    _refuse_rows(np.isfinite(array).all(axis=1), "has a number that is not finite", embedder)
    _refuse_rows(array.any(axis=1), "is all zeros and has no direction", embedder)
    return array


def _refuse_rows(sound: Any, fault: str, embedder: str) -> None:
    rows = np.flatnonzero(~sound)
    if rows.size:
        others = f" (and {rows.size - 1} more)" if rows.size > 1 else ""
        raise EmbedderError(f"{embedder}: vector {rows[0]} {fault}{others}")


async def query_vector(query: str, embedder: Embedder, stopwatch: Stopwatch) -> Vector | None:
    """The vector of a query, None for a blank one; timed as the stage "embedding"."""
    if not query.strip():
        return None
    with stopwatch.stage("embedding"):
        vectors = await embedder.embed([query], input_type="query")
    return np.asarray(vectors[0], dtype=np.float32)
