"""What embedders have in common: input and output, checked in one way, and the vector of a query.

The local ones have a model that comes with a package and is loaded in a thread at first use.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from graphsearch._support.lazy import require
from graphsearch._support.observing import observed
from graphsearch._support.timing import Stopwatch
from graphsearch.errors import EmbedderError
from graphsearch.model import Vector
from graphsearch.model import validation as check
from graphsearch.protocols import Embedder, InputType


class LocalEmbedder(ABC):
    """Needs no key and no network. The constructor raises `MissingExtraError` if a required package is missing."""

    name: str
    dimensions: int
    """The length of each vector."""
    _packages: ClassVar[tuple[str, ...]]
    _extra: ClassVar[str]

    def __init__(self) -> None:
        for package in self._packages:
            require(package, extra=self._extra, purpose=type(self).__name__)
        self._lock = Lock()
        self._model: Any = None

    @observed("embeddings")
    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:  # noqa: ARG002 - one for both
        """Float32 array of shape (len(texts), dimensions), each vector of length 1; queries and documents alike.

        The vector of a text does not depend on the other texts, to 1e−6. Raises `EmbedderError` if the model's files
        are missing or damaged.
        """
        wanted = checked_texts(texts)
        vectors = await asyncio.to_thread(self._embed, wanted) if wanted else ()
        return checked_vectors(vectors, len(wanted), self.dimensions, embedder=self.name)

    @abstractmethod
    def _embed(self, texts: list[str]) -> Any:
        """The vectors of texts, at least one."""

    @abstractmethod
    def _load(self) -> Any:
        """The model."""

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model


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
