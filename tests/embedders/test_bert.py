"""The forward pass against one written out by the book: a token, a head and a number at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest

from graphsearch.embedders.minilm import Encoder, Matrix, gelu

HEADS, WIDTH, WIDE, WORDS, PLACES, LAYERS = 2, 6, 10, 20, 12, 2


@pytest.fixture(scope="module")
def weights() -> dict[str, Matrix]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, WIDTH),
        "embeddings.position_embeddings.weight": (PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        denses = {
            **{f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")},
            "attention.output.dense": (WIDTH, WIDTH),
            "intermediate.dense": (WIDE, WIDTH),
            "output.dense": (WIDTH, WIDE),
        }
        for part, shape in denses.items():
            shapes[f"{name}.{part}.weight"], shapes[f"{name}.{part}.bias"] = shape, shape[:1]
        for part in ("attention.output", "output"):
            shapes[f"{name}.{part}.LayerNorm.weight"] = shapes[f"{name}.{part}.LayerNorm.bias"] = (WIDTH,)
    random = np.random.default_rng(7)
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def by_the_book(weights: dict[str, Matrix], text: list[int]) -> list[float]:
    """Mean over the tokens of the last layer, in plain floats."""
    w = {name: value.astype(float) for name, value in weights.items()}

    def dot(one: Iterable[float], other: Iterable[float]) -> float:
        return sum(a * b for a, b in zip(one, other, strict=True))

    def dense(name: str, row: list[float]) -> list[float]:
        return [dot(line, row) + b for line, b in zip(w[f"{name}.weight"], w[f"{name}.bias"], strict=True)]

    def norm(name: str, row: list[float]) -> list[float]:
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-12)
        scale, shift = w[f"{name}.LayerNorm.weight"], w[f"{name}.LayerNorm.bias"]
        return [(x - mean) / spread * s + b for x, s, b in zip(row, scale, shift, strict=True)]

    def plus(one: list[float], other: list[float]) -> list[float]:
        return [a + b for a, b in zip(one, other, strict=True)]

    words, places = w["embeddings.word_embeddings.weight"], w["embeddings.position_embeddings.weight"]
    segment = w["embeddings.token_type_embeddings.weight"][0]
    rows = [norm("embeddings", list(words[token] + places[at] + segment)) for at, token in enumerate(text)]
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        q, k, v = ([dense(f"{name}.attention.self.{part}", row) for row in rows] for part in ("query", "key", "value"))
        after = []
        for at, row in enumerate(rows):
            context: list[float] = []
            for part in (slice(start, start + size) for start in range(0, WIDTH, size)):
                shares = [math.exp(dot(q[at][part], key[part]) / math.sqrt(size)) for key in k]
                total = sum(shares)
                context += [
                    sum(s * value[part][i] for s, value in zip(shares, v, strict=True)) / total for i in range(size)
                ]
            mixed = norm(f"{name}.attention.output", plus(dense(f"{name}.attention.output.dense", context), row))
            wide = [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in dense(f"{name}.intermediate.dense", mixed)]
            after.append(norm(f"{name}.output", plus(dense(f"{name}.output.dense", wide), mixed)))
        rows = after
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def test_means_are_those_by_the_book(weights: dict[str, Matrix]) -> None:
    texts = [[1, 5, 2], [1, 2], [1, 7, 7, 19, 0, 3, 2], [4]]
    found = Encoder(weights, HEADS).means(texts)
    assert found.dtype == np.float32
    assert found == pytest.approx(np.array([by_the_book(weights, text) for text in texts]), abs=2e-5)


def test_a_text_may_be_as_long_as_there_are_places_and_the_pack_longer(weights: dict[str, Matrix]) -> None:
    text = list(range(PLACES))
    encoder = Encoder(weights, HEADS)
    together = encoder.means([text] * 20)
    assert together == pytest.approx(np.repeat(encoder.means([text]), 20, axis=0), abs=1e-5)


def test_gelu_is_exact_to_a_float32() -> None:
    values = np.linspace(-12, 12, 20_001, dtype=np.float32)
    expected = [x * math.erfc(-x / math.sqrt(2)) / 2 for x in values.tolist()]
    gelu(values)
    assert values == pytest.approx(np.array(expected), abs=1e-6)
