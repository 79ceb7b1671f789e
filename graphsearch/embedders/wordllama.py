"""The local embedder: static word vectors that come with a package, so nothing is downloaded."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphsearch._support.lazy import load
from graphsearch.embedders.base import LocalEmbedder, checked_texts, checked_vectors
from graphsearch.errors import EmbedderError
from graphsearch.model import Vector

_EXTRA: Final = {"extra": "local", "purpose": "WordLlamaEmbedder"}
_CONFIG: Final = "l2_supercat"
_DIMENSIONS: Final = 256
_TOKENS: Final = 1 << 12
"""Maximum tokens whose vectors are summed at a time, unless a text alone has more."""


class WordLlamaEmbedder(LocalEmbedder):
    """WordLlama's l2_supercat, 256 dimensions: no key, no network, well under a millisecond a query.

    The model is loaded in a thread at first use. The constructor raises `MissingExtraError` if the package is missing.
    """

    semantic_weight: Final = 0.5
    """Weight of its cosines relative to 1.0 for words."""
    recall_weight: Final = 0.5
    """Weight in recall of a standard deviation of its cosines relative to one of BM25."""
    relevance_floor: Final = 0.46
    """The relevance below which a recall returns nothing."""
    _name, _dimensions, _extra = "wordllama-l2-supercat-256", _DIMENSIONS, _EXTRA["extra"]
    _packages = ("wordllama",)

    def word_vectors(self, words: Sequence[str]) -> Vector:
        """Float32 array of shape (len(words), 256), each row of length 1. Raises `EmbedderError` as `embed` does."""
        wanted = checked_texts(words)
        vectors = self._embed(wanted) if wanted else ()
        return checked_vectors(vectors, len(wanted), _DIMENSIONS, embedder=self.name)

    def _embed(self, texts: list[str]) -> Any:
        """The vectors of texts. Those of one length are pooled together, so that none is padded to that of others."""
        model = self._loaded()
        tokens = [encoded.ids for encoded in model.tokenize(texts)]
        places: dict[int, list[int]] = {}
        for place, ids in enumerate(tokens):
            places.setdefault(len(ids), []).append(place)
        vectors = np.empty((len(texts), model.embedding.shape[1]), np.float32)
        for length, alike in places.items():
            size = max(1, _TOKENS // max(1, length))
            for start in range(0, len(alike), size):
                some = alike[start : start + size]
                rows = np.array([tokens[place] for place in some], np.int32).clip(0, model.embedding.shape[0] - 1)
                pooled = model.avg_pool(model.embedding[rows], np.ones(rows.shape, np.float32))
                vectors[some] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return vectors

    def _load(self) -> Any:
        with root_logger_untouched():
            package = load("wordllama", **_EXTRA)
        folder = Path(str(package.__file__)).parent
        try:
            # By default the package looks for its tokenizer in a folder that does not exist.
            model = package.WordLlama.load(config=_CONFIG, dim=_DIMENSIONS, cache_dir=folder, disable_download=True)
        except FileNotFoundError as error:
            raise EmbedderError(
                f"the weights of wordllama are not in {folder}: pip install --force-reinstall wordllama"
            ) from error
        model.tokenizer.no_padding()
        return model


@contextmanager
def root_logger_untouched() -> Iterator[None]:
    """Undo the changes that the package makes to the root logger when it is imported."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        for handler in [handler for handler in root.handlers if handler not in handlers]:
            root.removeHandler(handler)
        root.setLevel(level)
