import asyncio
import logging
import subprocess
import sys

import numpy as np
import pytest

from graphsearch._support.lazy import load
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.embedders.wordllama import root_logger_untouched
from graphsearch.errors import EmbedderError, InvalidInputError, MissingExtraError


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


async def test_vectors_are_normalised_float32(embedder: WordLlamaEmbedder) -> None:
    vectors = await embedder.embed(["TLS handshake", "日本語", "\x01", "x " * 5_000], input_type="document")
    assert vectors.shape == (4, 256) == (4, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert embedder.name == "wordllama-l2-supercat-256"


async def test_what_means_alike_is_near(embedder: WordLlamaEmbedder) -> None:
    question, near, far = await embedder.embed(
        ["where is the TLS handshake done?", "ssl handshake over a socket", "a recipe for apple cake"],
        input_type="query",
    )
    assert question @ near > question @ far + 0.2


async def test_a_vector_does_not_depend_on_its_neighbours(embedder: WordLlamaEmbedder) -> None:
    together = await embedder.embed(["a cat", "a much longer text about dogs and cats"], input_type="document")
    alone = await embedder.embed(["a cat"], input_type="query")
    assert (together[0] == alone[0]).all()


async def test_many_callers_at_once_load_one_model() -> None:
    fresh = WordLlamaEmbedder()
    answers = await asyncio.gather(*(fresh.embed(["a cat"], input_type="query") for _ in range(4)))
    assert all((answer == answers[0]).all() for answer in answers)


async def test_nothing_and_blank_texts(embedder: WordLlamaEmbedder) -> None:
    assert (await embedder.embed([], input_type="query")).shape == (0, 256)
    with pytest.raises(InvalidInputError, match="text 1"):
        await embedder.embed(["a", ""], input_type="query")


async def test_missing_weights_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wordllama.WordLlama.get_filename", lambda *_, **__: "absent.safetensors")
    with pytest.raises(EmbedderError, match="pip install") as caught:
        await WordLlamaEmbedder().embed(["a"], input_type="query")
    assert isinstance(caught.value.__cause__, FileNotFoundError)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(MissingExtraError, match=r"graphsearch\[local\]"):
        WordLlamaEmbedder()
    with pytest.raises(MissingExtraError, match=r"graphsearch\[local\]") as caught:
        load("wordllama", extra="local", purpose="WordLlamaEmbedder")
    assert isinstance(caught.value.__cause__, ImportError)


def test_handlers_and_level_of_the_root_logger_come_back() -> None:
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    with root_logger_untouched():
        root.addHandler(logging.NullHandler())
        root.setLevel(logging.DEBUG)
    assert (list(root.handlers), root.level) == before


def test_loading_leaves_logging_alone_and_needs_no_network() -> None:
    script = """
import asyncio, logging, socket
from graphsearch.embedders import WordLlamaEmbedder
def refuse(*args, **kwargs): raise AssertionError("the network was used")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
print(asyncio.run(WordLlamaEmbedder().embed(["a"], input_type="query")).shape)
print(logging.getLogger().handlers, logging.getLogger().level)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"(1, 256)\n[] {logging.WARNING}\n"
    assert done.stderr == ""
