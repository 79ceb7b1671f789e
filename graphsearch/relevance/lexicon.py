"""The vectors of single words, by which a word of a question matches another of the same meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from graphsearch.model import Vector
from graphsearch.protocols import Embedder, WordVectors

SEMANTIC_WEIGHT: Final = 0.5
"""For embedders that state no weight: right for static embeddings, and safe for better ones."""
KEPT: Final = 32_768
"""Most words whose vectors are cached: a scope of code has some ten thousand."""


class Lexicon:
    """The word vectors of an engine's embedder, each looked up once; the words themselves are not kept.

    An embedder without word vectors (`WordVectors`) returns none: then words match only themselves.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self._words = embedder if isinstance(embedder, WordVectors) else None
        self._rows: dict[int, Vector] = {}

    @property
    def weight(self) -> float:
        """The weight of meaning relative to words: the embedder's ``semantic_weight``, or `SEMANTIC_WEIGHT`."""
        return float(getattr(self.embedder, "semantic_weight", SEMANTIC_WEIGHT))

    def vectors(self, words: Sequence[str]) -> Vector | None:
        """The vectors of some words, one row each; None without an embedder that has any."""
        if self._words is None or not words:
            return None
        keys = [hash(word) for word in words]
        missing = {key: word for key, word in zip(keys, words, strict=True) if key not in self._rows}
        if missing:
            if len(self._rows) + len(missing) > KEPT:
                self._rows.clear()
                missing = dict(zip(keys, words, strict=True))
            made = self._words.word_vectors(list(missing.values()))
            self._rows.update(zip(missing, made, strict=True))
        return np.array([self._rows[key] for key in keys], np.float32)
