"""What the local embedders have in common: a model that comes with a package and is loaded in a thread at first use."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from threading import Lock
from typing import Any, ClassVar

from graphsearch._support.lazy import require
from graphsearch._support.observing import observed
from graphsearch.embedders.checking import checked_texts, checked_vectors
from graphsearch.model import Vector
from graphsearch.protocols import InputType


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
