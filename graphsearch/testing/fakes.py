"""Deterministic stand-ins for the costly or changing parts of an engine: clock, embedder, language model, counter."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from graphsearch.model import Vector
from graphsearch.protocols import InputType
from graphsearch.text.analyser import identifier_words, terms

NOON: Final = datetime(2026, 1, 15, 12, tzinfo=UTC)


class FixedClock:
    """A clock that moves only when it is set."""

    def __init__(self, now: datetime = NOON) -> None:
        self.time = now

    def now(self) -> datetime:
        """The time to which it was last set."""
        return self.time

    def set(self, now: datetime) -> None:
        """Set the time."""
        self.time = now

    def advance(self, by: timedelta | None = None, **parts: float) -> datetime:
        """Advance by a duration, given whole or in parts (``days=1``), and return the new time."""
        self.time += (by or timedelta()) + timedelta(**parts)
        return self.time


class HashEmbedder:
    """Vectors from the hashes of words: texts that share words are near, identically in every process.

    A text's vector is the normalised sum of its words' vectors. A text without words gets a direction of its own.
    """

    def __init__(self, dimensions: int = 64, *, name: str = "") -> None:
        self.dimensions = dimensions
        self.name = name or f"hash-of-words-{dimensions}"

    async def embed(self, texts: Sequence[str], *, input_type: InputType = "document") -> Vector:
        """Float32 array of shape (len(texts), dimensions); questions are embedded like documents."""
        del input_type
        return np.array([self.vector(text) for text in texts], np.float32).reshape(len(texts), self.dimensions)

    def vector(self, text: str) -> Vector:
        """The vector of one text."""
        words = terms(identifier_words(text)) or [f"\0{text}"]
        total = np.sum([_direction(word, self.dimensions) for word in words], axis=0)
        vector: Vector = (total / np.linalg.norm(total)).astype(np.float32)
        return vector


def _direction(word: str, dimensions: int) -> Vector:
    seed = int.from_bytes(hashlib.sha256(word.encode(errors="surrogatepass")).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)


class EchoLLM:
    """A language model that answers with the given answers, then echoes its prompts; it records all prompts."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def ask(self, text: str) -> str:
        """The next of its answers; the prompt itself if none is left."""
        self.asked.append(text)
        return self._answers.pop(0) if self._answers else text


class WordCounter:
    """Counts words, and each line break as one more."""

    def count(self, text: str) -> int:
        """Number of words and line breaks."""
        return len(text.split()) + text.count("\n")
