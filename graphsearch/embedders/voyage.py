"""Models hosted by Voyage.

The protocol is at https://docs.voyageai.com/reference/embeddings-api.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from graphsearch._support.concurrency import in_order
from graphsearch._support.lazy import load, require
from graphsearch._support.observing import observed
from graphsearch._support.paging import batches
from graphsearch.embedders.base import checked_texts, checked_vectors
from graphsearch.errors import EmbedderError, EmbedderRefusedError, EmbedderUnavailableError, MissingCredentialError
from graphsearch.model import Vector
from graphsearch.model import validation as check
from graphsearch.protocols import InputType

MOST_TEXTS: Final = 1_000
_LONGEST_TEXT: Final = 32_000  # tokens; Voyage truncates longer texts
_PROMPT_TOKENS: Final = 16  # added by Voyage to each text, for its input type
_TOKENS: Final = 120_000  # of a request: some models take more
_DIMENSIONS: Final = 1024
"""What all of its models have by default."""


def estimated_tokens(text: str) -> int:
    """An upper bound for the tokens of a text without a vocabulary: its bytes of UTF-8."""
    return min(len(text.encode()), _LONGEST_TEXT) + _PROMPT_TOKENS


def failure_of(error: Any) -> EmbedderError:
    """The typed error for one of the vendor's package: a refusal for a 4xx, except 408 and 429."""
    status = error.http_status
    detail = f"Voyage: {_message_text(error.user_message)[:300]}" + (f" (HTTP {status})" if status else "")
    if status in (401, 403):
        return EmbedderRefusedError(f"{detail}; check the key in VOYAGE_API_KEY, or the api_key that was passed")
    if status is not None and 400 <= status < 500 and status not in (408, 429):  # noqa: PLR2004 - HTTP's own numbers
        return EmbedderRefusedError(detail)
    return EmbedderUnavailableError(f"{detail}; try again later")


def _message_text(message: object) -> str:
    """Voyage's message; for a list of faults only their messages, since the rest repeats the texts sent."""
    if isinstance(message, list):
        return "; ".join(str(fault.get("msg")) for fault in message if isinstance(fault, Mapping))
    return str(message)


_EXTRA: Final = {"extra": "voyage", "purpose": "VoyageEmbedder"}


class VoyageEmbedder:
    """A model of Voyage, with different vectors for queries and documents.

    ``api_key`` defaults to VOYAGE_API_KEY. ``dimensions`` other than 1024 are asked for; Voyage refuses those that the
    model cannot have. ``timeout`` is in seconds, for one request; ``max_retries`` counts the attempts after the first,
    which Voyage's client makes. At most ``concurrency`` requests run at a time, each within Voyage's limits.

    The constructor raises `MissingExtraError`, `MissingCredentialError` and `InvalidInputError`.
    """

    def __init__(
        self,
        model: str = "voyage-3.5",
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        dimensions: int = _DIMENSIONS,
        timeout: float = 30.0,
        max_retries: int = 4,
        concurrency: int = 4,
    ) -> None:
        self.name, self.dimensions = model, dimensions
        self._asked_dimensions = None if dimensions == _DIMENSIONS else dimensions
        self._timeout = timeout
        self._base_url = None if base_url is None else base_url.rstrip("/")
        self._concurrency = concurrency
        check.refuse(
            "Voyage embedder",
            check.text("model", model),
            check.number("dimensions", dimensions, 1),
            check.number("timeout", timeout, 1e-3),
            check.number("max_retries", max_retries, 0),
            check.number("concurrency", concurrency, 1),
            None if base_url is None or base_url.startswith(("http://", "https://")) else "base_url must be a URL",
        )
        self._max_retries = max_retries
        self._api_key = api_key or os.environ.get("VOYAGE_API_KEY", "")
        if not self._api_key:
            raise MissingCredentialError("VoyageEmbedder needs a key: set VOYAGE_API_KEY, or pass api_key=")
        require("voyageai", **_EXTRA)

    @observed("embeddings")
    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:
        """Float32 array of shape (len(texts), dimensions), each vector of length 1.

        Raises `EmbedderRefusedError` if a retry cannot help, `EmbedderUnavailableError` if Voyage could not be reached
        or kept failing, and `EmbedderError` for an answer of another shape, each with the vendor's error as its cause.
        """
        batched = batches(checked_texts(texts), estimated_tokens, total=_TOKENS, most=MOST_TEXTS)
        answers = await in_order(lambda batch: self._request(batch, input_type), batched, limit=self._concurrency)
        return np.concatenate(answers) if answers else checked_vectors((), 0, self.dimensions)

    async def _request(self, texts: list[str], input_type: InputType) -> Vector:
        vendor = await asyncio.to_thread(load, "voyageai", **_EXTRA)
        client = vendor.AsyncClient(self._api_key, self._max_retries + 1, self._timeout, self._base_url)
        try:
            answer = await client.embed(texts, self.name, input_type, output_dimension=self._asked_dimensions)
        except vendor.error.VoyageError as error:
            raise failure_of(error) from error
        except Exception as error:  # the package does not wrap an answer that is broken off, or of another shape
            raise EmbedderUnavailableError(f"Voyage's answer cannot be read: {error}; try again later") from error
        return checked_vectors(answer.embeddings, len(texts), self.dimensions, embedder=self.name)
