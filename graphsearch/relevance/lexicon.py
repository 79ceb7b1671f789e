"""The vectors of single words, by which a word of a question is met by another that means the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from graphsearch.model import Vector
from graphsearch.protocols import Embedder, WordVectors

SEMANTIC_WEIGHT: Final = 0.5
"""Of an embedder that states none: right for static embeddings, and safe for better ones."""
KEPT: Final = 32_768
"""Words whose vectors are kept: a scope of code has some ten thousand."""


class Lexicon:
    """What an engine's embedder knows of single words, each looked up once; of the words themselves nothing is kept.

    An embedder that has no vectors of words (`WordVectors`) gives none: then words are met by themselves alone.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self._words = embedder if isinstance(embedder, WordVectors) else None
        self._rows: dict[int, Vector] = {}

    @property
    def weight(self) -> float:
        """What meaning counts beside words: the embedder's ``semantic_weight``, or `SEMANTIC_WEIGHT`."""
        return float(getattr(self.embedder, "semantic_weight", SEMANTIC_WEIGHT))

    def vectors(self, words: Sequence[str]) -> Vector | None:
        """The vectors of some words, a row each; None without an embedder that has any."""
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
