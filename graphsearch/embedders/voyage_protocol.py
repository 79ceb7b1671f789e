"""Voyage's protocol as pure functions: limits, answers and failures.

Source: https://docs.voyageai.com/reference/embeddings-api
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch._support.retrying import PassingFailureError, may_pass, retry_after
from graphsearch.errors import EmbedderRefusedError

MOST_TEXTS: Final = 1_000
_LONGEST_TEXT: Final = 32_000  # tokens; Voyage truncates longer texts
_PROMPT_TOKENS: Final = 16  # added by Voyage to each text, for its input type


@attrs.frozen
class Model:
    """Limits of a model: most tokens of a request, and possible dimensions, the default first."""

    tokens: int
    dimensions: tuple[int, ...]


_FLEXIBLE: Final = (1024, 256, 512, 2048)
MODELS: Final[Mapping[str, Model]] = {
    "voyage-4-large": Model(120_000, _FLEXIBLE),
    "voyage-4": Model(320_000, _FLEXIBLE),
    "voyage-4-lite": Model(1_000_000, _FLEXIBLE),
    "voyage-3-large": Model(120_000, _FLEXIBLE),
    "voyage-3.5": Model(320_000, _FLEXIBLE),
    "voyage-3.5-lite": Model(1_000_000, _FLEXIBLE),
    "voyage-code-3": Model(120_000, _FLEXIBLE),
    "voyage-finance-2": Model(120_000, (1024,)),
    "voyage-law-2": Model(120_000, (1024,)),
}
FEWEST_TOKENS: Final = min(model.tokens for model in MODELS.values())


def estimated_tokens(text: str) -> int:
    """An upper bound for the tokens of a text without a vocabulary: its bytes of UTF-8."""
    return min(len(text.encode()), _LONGEST_TEXT) + _PROMPT_TOKENS


def batches(texts: Iterable[str], tokens: int) -> Iterator[list[str]]:
    """The texts in order, in batches of at most 1,000 texts and ``tokens`` estimated tokens."""
    batch: list[str] = []
    left = tokens
    for text in texts:
        size = estimated_tokens(text)
        if batch and (len(batch) == MOST_TEXTS or size > left):
            yield batch
            batch, left = [], tokens
        batch.append(text)
        left -= size
    if batch:
        yield batch


def vectors_of(answer: object) -> list[NDArray[np.float32]]:
    """The vectors of a decoded answer, in order of their index.

    Raises `PassingFailureError` for an answer outside the protocol: a proxy damaged it, or Voyage sent an error with
    status 200.
    """
    try:
        rows: Sequence[Mapping[str, Any]] = answer["data"]  # type: ignore[index]
        found = {int(row["index"]): _vector(row["embedding"]) for row in rows}
    except (KeyError, TypeError, ValueError) as error:
        raise PassingFailureError("Voyage's answer cannot be read") from error
    if sorted(found) != list(range(len(rows))):
        raise PassingFailureError("Voyage's answer skips or repeats an index")
    return [found[index] for index in range(len(rows))]


def _vector(embedding: object) -> NDArray[np.float32]:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    return np.asarray(embedding, dtype=np.float32)


def failure_of(
    message: object, status: int | None, headers: Mapping[str, str]
) -> EmbedderRefusedError | PassingFailureError:
    """The error for a failed request, by its HTTP status, None if there was no response.

    429, 408, 5xx, an unreadable success and a lost connection are temporary; every other 4xx is a refusal.
    """
    detail = f"Voyage: {_message_text(message)[:300]}" + (f" (HTTP {status})" if status else "")
    if status in (401, 403):
        return EmbedderRefusedError(f"{detail}; check the key in VOYAGE_API_KEY, or the api_key that was passed")
    if status is not None and status >= 400 and not may_pass(status):  # noqa: PLR2004 - HTTP's own number
        return EmbedderRefusedError(detail)
    return PassingFailureError(detail, retry_after(headers))


def _message_text(message: object) -> str:
    """Voyage's message; for a list of faults only their messages, since the rest repeats the texts sent."""
    if isinstance(message, list):
        return "; ".join(str(fault.get("msg")) for fault in message if isinstance(fault, Mapping))
    return str(message)
