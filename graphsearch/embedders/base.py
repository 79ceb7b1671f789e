"""What embedders have in common: input and output, checked in one way, and the vector of a query.

The local ones have a model that comes with a package and is loaded in a thread at first use.
"""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from threading import Lock
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from graphsearch._support.concurrency import in_order
from graphsearch._support.lazy import require
from graphsearch._support.observing import observed
from graphsearch._support.timing import Stopwatch
from graphsearch.errors import EmbedderError, GraphSearchError, InvalidInputError
from graphsearch.model import Vector
from graphsearch.model import validation as check
from graphsearch.protocols import Embedder, InputType


class LocalEmbedder(ABC):
    """Needs no key and no network. The constructor raises `MissingExtraError` if a required package is missing."""

    _name: ClassVar[str]
    _dimensions: ClassVar[int]
    _packages: ClassVar[tuple[str, ...]]
    _extra: ClassVar[str]

    def __init__(self) -> None:
        for package in self._packages:
            require(package, extra=self._extra, purpose=type(self).__name__)
        self._lock = Lock()
        self._model: Any = None

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._name

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self._dimensions

    @observed("embeddings")
    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:  # noqa: ARG002 - one for both
        """Float32 array of shape (len(texts), dimensions), each vector of length 1; queries and documents alike.

        The vector of a text does not depend on the other texts, to 1e−6. Raises `EmbedderError` if the model's files
        are missing or damaged.
        """
        wanted = checked_texts(texts)
        vectors = await asyncio.to_thread(self._embed, wanted) if wanted else ()
        return checked_vectors(vectors, len(wanted), self._dimensions, embedder=self._name)

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


EmbedFunction = Callable[[str], Awaitable[ArrayLike]]


class FunctionEmbedder:
    """An embedder that calls ``async def embed(text)``, which returns a sequence of floats.

    ``name`` is stored with the vectors; the default is the function's qualified name. ``dimensions`` default to the
    length of the first answer. At most ``concurrency`` calls run at a time. Queries and documents are embedded alike.
    """

    def __init__(
        self, function: EmbedFunction, name: str | None = None, dimensions: int | None = None, *, concurrency: int = 8
    ) -> None:
        self._function = function
        self._name = _name_of(function) if name is None else name
        self._dimensions = dimensions
        self._concurrency = concurrency
        check.refuse(
            "function embedder",
            None if callable(function) else f"function must be an async function, not {type(function).__name__}",
            check.text("name", self._name),
            None if dimensions is None else check.number("dimensions", dimensions, 1),
            check.number("concurrency", concurrency, 1),
        )

    @property
    def name(self) -> str:
        """The given name, or that of the function."""
        return self._name

    @property
    def dimensions(self) -> int:
        """The length of each vector. Raises `EmbedderError` before the first text is embedded, unless it was given."""
        if self._dimensions is None:
            raise EmbedderError(
                f"{self._name} has not embedded anything yet, so its dimensions are not known: "
                "embed a text first, or make it with FunctionEmbedder(function, dimensions=…)"
            )
        return self._dimensions

    @observed("embeddings")
    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:  # noqa: ARG002 - one for both
        """Float32 array of shape (len(texts), dimensions).

        Raises `EmbedderError` for an answer of another length than the first one, and for any exception of the
        function, with that as its cause; a `GraphSearchError` of the function passes unchanged.
        """
        rows = await in_order(self._embed_one, checked_texts(texts), limit=self._concurrency)
        if not rows:
            return np.empty((0, self._dimensions or 0), dtype=np.float32)
        expected = self._dimensions or len(rows[0])
        stray = next((row for row in rows if len(row) != expected), None)
        if stray is not None:
            raise EmbedderError(f"{self._name} answered with {len(stray)} numbers where {expected} were expected")
        vectors = checked_vectors(rows, len(rows), expected, embedder=self._name)
        self._dimensions = expected
        return vectors

    async def _embed_one(self, text: str) -> Vector:
        try:
            row = np.asarray(await self._awaitable(text), dtype=np.float32)
        except GraphSearchError:
            raise
        except Exception as error:  # a user's function can raise anything
            raise EmbedderError(f"{self._name} failed: {type(error).__name__}: {error}") from error
        if row.ndim != 1 or not row.size:
            raise EmbedderError(f"{self._name} must answer with a sequence of floats, not with shape {row.shape}")
        return row

    def _awaitable(self, text: str) -> Awaitable[ArrayLike]:
        answer = self._function(text)
        if not inspect.isawaitable(answer):
            raise EmbedderError(f"{self._name} must be an async function: write it as async def embed(text)")
        return answer


def as_embedder(part: Embedder | EmbedFunction | None) -> Embedder | None:
    """A user's embedder: an `Embedder` or None unchanged, a function wrapped in a `FunctionEmbedder`.

    Raises `InvalidInputError` for anything else.
    """
    if isinstance(part, type):
        raise InvalidInputError("embedder", [f"pass an instance: {part.__name__}(), not the class"])
    if part is None or hasattr(part, "embed"):
        return cast("Embedder | None", part)
    if callable(part):
        return FunctionEmbedder(part)
    raise InvalidInputError("embedder", [f"must be an Embedder or an async function, not {type(part).__name__}"])


def _name_of(function: object) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{getattr(named, '__qualname__', '')}"
