"""Models hosted by Voyage."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from graphsearch._support.concurrency import in_order
from graphsearch._support.lazy import load, require
from graphsearch._support.observing import observed
from graphsearch._support.retrying import Retries
from graphsearch.embedders import voyage_protocol as protocol
from graphsearch.embedders.checking import checked_texts, checked_vectors
from graphsearch.errors import EmbedderUnavailableError, MissingCredentialError
from graphsearch.model import Vector
from graphsearch.model import validation as check
from graphsearch.protocols import InputType

_EXTRA: Final = {"extra": "voyage", "purpose": "VoyageEmbedder"}


class VoyageEmbedder:
    """A model of Voyage, with different vectors for queries and documents.

    ``api_key`` defaults to VOYAGE_API_KEY; ``dimensions`` default to the model's own, and are required for a model that
    is not in `voyage_protocol.MODELS`. ``timeout`` is in seconds, for one request; ``max_retries`` counts the attempts
    after the first, with waits that double from ``first_wait`` seconds. At most ``concurrency`` requests run at a time,
    each within Voyage's limits.

    The constructor raises `MissingExtraError`, `MissingCredentialError` and `InvalidInputError`.
    """

    def __init__(
        self,
        model: str = "voyage-3.5",
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        dimensions: int | None = None,
        timeout: float = 30.0,
        max_retries: int = 4,
        first_wait: float = 0.5,
        concurrency: int = 4,
    ) -> None:
        known = protocol.MODELS.get(model)
        self._model = model
        own = known.dimensions[0] if known else 0
        self._dimensions = own if dimensions is None else dimensions
        self._asked_dimensions = None if self._dimensions == own else self._dimensions
        self._timeout = timeout
        self._base_url = None if base_url is None else base_url.rstrip("/")
        self._tokens = known.tokens if known else protocol.FEWEST_TOKENS
        self._concurrency = concurrency
        check.refuse(
            "Voyage embedder",
            check.text("model", model),
            _dimensions_fault(model, known, self._dimensions),
            check.number("timeout", timeout, 1e-3),
            check.number("concurrency", concurrency, 1),
            None if base_url is None or base_url.startswith(("http://", "https://")) else "base_url must be a URL",
        )
        self._retries = Retries(most=max_retries, first_wait=first_wait)
        self._api_key = api_key or os.environ.get("VOYAGE_API_KEY", "")
        if not self._api_key:
            raise MissingCredentialError("VoyageEmbedder needs a key: set VOYAGE_API_KEY, or pass api_key=")
        require("voyageai", **_EXTRA)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self._dimensions

    @observed("embeddings")
    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:
        """Float32 array of shape (len(texts), dimensions), each vector of length 1.

        Raises `EmbedderRefusedError` if a retry cannot help, `EmbedderUnavailableError` if Voyage could not be reached
        or kept failing, and `EmbedderError` for an answer of another shape, each with the vendor's error as its cause.
        """
        wanted = checked_texts(texts)
        answers = await in_order(
            lambda batch: self._retries.run(
                lambda: self._request(batch, input_type), unavailable=EmbedderUnavailableError
            ),
            protocol.batches(wanted, self._tokens),
            limit=self._concurrency,
        )
        return np.concatenate(answers) if answers else checked_vectors((), 0, self._dimensions)

    async def _request(self, texts: list[str], input_type: InputType) -> Vector:
        answer = await self._send(texts, input_type)
        return checked_vectors(protocol.vectors_of(answer), len(texts), self._dimensions, embedder=self._model)

    async def _send(self, texts: list[str], input_type: InputType) -> Any:
        # The layer below the package's client, which drops the index of each vector and retries only some failures.
        vendor = await asyncio.to_thread(load, "voyageai", **_EXTRA)
        http = await asyncio.to_thread(load, "aiohttp", **_EXTRA)
        try:
            return await vendor.Embedding.acreate(
                api_key=self._api_key,
                base_url=self._base_url,
                request_timeout=self._timeout,
                input=texts,
                model=self._model,
                input_type=input_type,
                truncation=True,
                output_dimension=self._asked_dimensions,
                encoding_format="base64",
            )
        except vendor.error.VoyageError as error:
            raise protocol.failure_of(error.user_message, error.http_status, error.headers) from error
        except (http.ClientError, UnicodeDecodeError) as error:  # a truncated answer, which the package does not wrap
            raise protocol.failure_of(f"the answer broke off: {error}", None, {}) from error


def _dimensions_fault(model: str, known: protocol.Model | None, dimensions: int) -> str | None:
    if known is None:
        fault = check.number("dimensions", dimensions, 1)
        return fault and f"dimensions must be given, since {model!r} is not a model known here"
    if dimensions not in known.dimensions:
        return f"dimensions of {model} must be one of {sorted(known.dimensions)}, not {dimensions}"
    return None
