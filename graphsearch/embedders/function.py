"""A plain async function as an embedder."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, cast

import numpy as np
from numpy.typing import ArrayLike

from graphsearch._support.concurrency import in_order
from graphsearch._support.observing import observed
from graphsearch.embedders.base import checked_texts, checked_vectors
from graphsearch.errors import EmbedderError, GraphSearchError, InvalidInputError
from graphsearch.model import Vector
from graphsearch.model import validation as check
from graphsearch.protocols import Embedder, InputType

NAMELESS: Final = (
    "a lambda or a partial has no name of its own to be stored with its vectors: write async def embed(text), or"
    " FunctionEmbedder(function, name=…)"
)
EmbedFunction = Callable[[str], Awaitable[ArrayLike]]


class FunctionEmbedder:
    """An embedder that calls ``async def embed(text)``, which returns a sequence of floats.

    ``name`` is stored with the vectors; the default is the function's qualified name, and a lambda has none.
    ``dimensions`` default to the
    length of the first answer. At most ``concurrency`` calls run at a time. Queries and documents are embedded alike.
    """

    def __init__(
        self, function: EmbedFunction, name: str | None = None, dimensions: int | None = None, *, concurrency: int = 8
    ) -> None:
        nameless = name is None and ("<lambda>" in _name_of(function) or isinstance(function, partial))
        self._function = function
        self.name = _name_of(function) if name is None else name
        self._dimensions = dimensions
        self._concurrency = concurrency
        check.refuse(
            "function embedder",
            None if callable(function) else f"function must be an async function, not {type(function).__name__}",
            NAMELESS if nameless else check.text("name", self.name),
            None if dimensions is None else check.number("dimensions", dimensions, 1),
            check.number("concurrency", concurrency, 1),
        )

    @property
    def dimensions(self) -> int:
        """The length of each vector. Raises `EmbedderError` before the first text is embedded, unless it was given."""
        if self._dimensions is None:
            raise EmbedderError(
                f"{self.name} has not embedded anything yet, so its dimensions are not known: "
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
            raise EmbedderError(f"{self.name} answered with {len(stray)} numbers where {expected} were expected")
        vectors = checked_vectors(rows, len(rows), expected, embedder=self.name)
        self._dimensions = expected
        return vectors

    async def _embed_one(self, text: str) -> Vector:
        try:
            row = np.asarray(await self._awaitable(text), dtype=np.float32)
        except GraphSearchError:
            raise
        except Exception as error:  # a user's function can raise anything
            raise EmbedderError(f"{self.name} failed: {type(error).__name__}: {error}") from error
        if row.ndim != 1 or not row.size:
            raise EmbedderError(f"{self.name} must answer with a sequence of floats, not with shape {row.shape}")
        return row

    def _awaitable(self, text: str) -> Awaitable[ArrayLike]:
        answer = self._function(text)
        if not inspect.isawaitable(answer):
            raise EmbedderError(f"{self.name} must be an async function: write it as async def embed(text)")
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
