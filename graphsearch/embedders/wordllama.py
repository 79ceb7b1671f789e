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
    name, dimensions, _extra = "wordllama-l2-supercat-256", _DIMENSIONS, _EXTRA["extra"]
    _packages = ("wordllama",)

    def word_vectors(self, words: Sequence[str]) -> Vector:
        """Float32 array of shape (len(words), 256), each row of length 1. Raises `EmbedderError` as `embed` does."""
        wanted = checked_texts(words)
        vectors = self._embed(wanted) if wanted else ()
        return checked_vectors(vectors, len(wanted), _DIMENSIONS, embedder=self.name)

    def _embed(self, texts: list[str]) -> Any:
        model = self._loaded()
        last = model.embedding.shape[0] - 1
        # A text at a time: a batch would be padded to its longest text.
        sums = np.stack([model.embedding[np.minimum(each.ids, last)].sum(axis=0) for each in model.tokenize(texts)])
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

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
