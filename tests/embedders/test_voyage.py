"""Voyage over real HTTP, and its protocol."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable

import numpy as np
import pytest

from graphsearch.embedders import VoyageEmbedder
from graphsearch.embedders.voyage import estimated_tokens
from graphsearch.errors import (
    EmbedderError,
    EmbedderRefusedError,
    EmbedderUnavailableError,
    InvalidInputError,
    MissingCredentialError,
    MissingExtraError,
)
from tests.embedders.voyage_server import VoyageServer, embed, fail, hang, hang_up, raw, slow

Make = Callable[..., VoyageEmbedder]


@pytest.fixture
def make(voyage_server: VoyageServer) -> Make:
    def with_defaults(model: str = "voyage-3.5", **options: object) -> VoyageEmbedder:
        defaults: dict[str, object] = {"api_key": "pa-secret", "base_url": voyage_server.url}
        return VoyageEmbedder(model, **(defaults | options))  # type: ignore[arg-type]

    return with_defaults


# -- proper answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("input_type", ["query", "document"])
async def test_request_says_what_voyage_documents(make: Make, voyage_server: VoyageServer, input_type: str) -> None:
    vectors = await make().embed(["text 7"], input_type=input_type)  # type: ignore[arg-type]
    assert vectors.shape == (1, 1024)
    assert vectors.dtype == np.float32
    (request,) = voyage_server.requests
    assert request["input"] == ["text 7"]
    assert request["model"] == "voyage-3.5"
    assert request["input_type"] == input_type
    assert request["output_dimension"] is None
    assert voyage_server.headers[0]["Authorization"] == "Bearer pa-secret"
    assert voyage_server.paths == ["/v1/embeddings"]


async def test_plain_numbers_are_read(make: Make, voyage_server: VoyageServer) -> None:
    voyage_server.answers.append(embed(plain=True))
    vectors = await make().embed([f"text {number}" for number in range(1, 6)], input_type="document")
    assert vectors[:, 0].tolist() == [1, 2, 3, 4, 5]


async def test_other_dimensions_are_asked_for(make: Make, voyage_server: VoyageServer) -> None:
    embedder = make(dimensions=256)
    vectors = await embedder.embed(["a"], input_type="query")
    assert vectors.shape == (1, 256) == (1, embedder.dimensions)
    assert voyage_server.requests[0]["output_dimension"] == 256


async def test_no_text_asks_nothing(make: Make, voyage_server: VoyageServer) -> None:
    assert (await make().embed([], input_type="query")).shape == (0, 1024)
    assert voyage_server.requests == []


async def test_batches_keep_to_the_limits_and_to_the_order(make: Make, voyage_server: VoyageServer) -> None:
    texts = [f"{number} " + "x" * 400 for number in range(1, 2401)]
    vectors = await make("voyage-3-large", dimensions=256).embed(texts, input_type="document")
    assert vectors[:, 0].tolist() == list(range(1, 2401))
    assert max(len(request["input"]) for request in voyage_server.requests) <= 1_000
    assert all(sum(len(text) for text in request["input"]) <= 120_000 for request in voyage_server.requests)


async def test_concurrency_is_bounded(make: Make, voyage_server: VoyageServer) -> None:
    voyage_server.answers.extend([slow] * 6)
    texts = [f"{number}" for number in range(1, 5_501)]
    await make("voyage-3.5-lite", dimensions=256, concurrency=2).embed(texts, input_type="document")
    assert len(voyage_server.requests) == 6
    assert voyage_server.most_running == 2


# -- failures that pass ----------------------------------------------------------------------------------------------


async def test_a_failure_that_passes_is_tried_again(make: Make, voyage_server: VoyageServer) -> None:
    voyage_server.answers.append(fail(429))
    vectors = await make().embed(["text 3"], input_type="query")
    assert vectors[0, 0] == 3
    assert len(voyage_server.requests) == 2


@pytest.mark.filterwarnings("ignore:The 'warn' method is deprecated:DeprecationWarning")  # the vendor's own logging
@pytest.mark.parametrize(
    ("failure", "message"),
    [
        pytest.param(fail(429), r"no \(HTTP 429\)", id="429"),
        pytest.param(raw(429, b"<html>slow down</html>"), r"\(HTTP 429\)", id="429 without JSON"),
        pytest.param(fail(408), r"\(HTTP 408\)", id="408"),
        pytest.param(fail(500), r"\(HTTP 500\)", id="500"),
        pytest.param(fail(529), "cannot be read", id="529 that the package takes for a success"),
        pytest.param(raw(520, b"<html>bad gateway</html>"), r"\(HTTP 520\)", id="520"),
        pytest.param(raw(200, b'{"data": [{"ind'), "Voyage", id="broken JSON"),
        pytest.param(raw(200, b"[]"), "cannot be read", id="JSON of another shape"),
        pytest.param(raw(200, b'{"data": [{"index": 0, "embedding": "***"}]}'), "cannot be read", id="broken base64"),
        pytest.param(raw(200, b"\xff\xfe\xff"), "cannot be read", id="not UTF-8"),
        pytest.param(raw(200, b'{"data": [', 500), "cannot be read", id="an answer cut short"),
        pytest.param(hang_up, "Error communicating with Voyage", id="connection lost"),
    ],
)
async def test_what_may_pass_later_says_so(
    make: Make, voyage_server: VoyageServer, failure: object, message: str
) -> None:
    voyage_server.answers.append(failure)  # type: ignore[arg-type]
    with pytest.raises(EmbedderUnavailableError, match=f"{message}.*try again later") as caught:
        await make(max_retries=0).embed(["text 3"], input_type="query")
    assert caught.value.__cause__ is not None
    assert len(voyage_server.requests) == 1


async def test_a_slow_answer_times_out(make: Make, voyage_server: VoyageServer) -> None:
    voyage_server.answers.append(hang)
    with pytest.raises(EmbedderUnavailableError, match="timed out") as caught:
        await make(timeout=0.1, max_retries=0).embed(["a"], input_type="query")
    assert type(caught.value.__cause__).__name__ == "Timeout"


async def test_no_server_at_all(make: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(EmbedderUnavailableError, match="Error communicating with Voyage"):
        await make(base_url=f"http://127.0.0.1:{port}", max_retries=0).embed(["a"], input_type="query")


# -- failures that stay ----------------------------------------------------------------------------------------------


async def test_a_wrong_key_is_refused_at_once(make: Make, voyage_server: VoyageServer) -> None:
    voyage_server.answers.append(fail(401, "Provided API key is invalid."))
    with pytest.raises(EmbedderRefusedError, match=r"key is invalid.*VOYAGE_API_KEY") as caught:
        await make().embed(["a"], input_type="query")
    assert type(caught.value.__cause__).__name__ == "AuthenticationError"
    assert len(voyage_server.requests) == 1
    assert "pa-secret" not in str(caught.value)


async def test_a_refusal_does_not_repeat_the_texts_sent(make: Make, voyage_server: VoyageServer) -> None:
    voyage_server.answers.append(fail(422, [{"msg": "too long", "input": "private"}]))
    with pytest.raises(EmbedderRefusedError, match=r"too long \(HTTP 422\)") as caught:
        await make().embed(["private"], input_type="query")
    assert "private" not in str(caught.value)


async def test_one_refusal_ends_all_batches(make: Make, voyage_server: VoyageServer) -> None:
    voyage_server.answers.extend([fail(400, "bad"), *[slow] * 20])
    with pytest.raises(EmbedderRefusedError):
        await make("voyage-3.5-lite", concurrency=1).embed(["a"] * 5_000, input_type="document")
    assert len(voyage_server.requests) < 5


@pytest.mark.parametrize(
    ("answer", "fault"),
    [(embed(dimensions=512), "512 dimensions where 1024"), (embed(drop=1), r"shape \(1, 1024\) for 2 texts")],
)
async def test_vectors_of_another_shape(make: Make, voyage_server: VoyageServer, answer: object, fault: str) -> None:
    voyage_server.answers.append(answer)  # type: ignore[arg-type]
    with pytest.raises(EmbedderError, match=fault):
        await make().embed(["a", "b"], input_type="query")


async def test_blank_texts_are_refused_before_anything_is_sent(make: Make, voyage_server: VoyageServer) -> None:
    with pytest.raises(InvalidInputError, match=r"text 1 must not be empty; text 2"):
        await make().embed(["a", " ", ""], input_type="query")
    assert voyage_server.requests == []


# -- construction ----------------------------------------------------------------------------------------------------


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", "pa-env")
    embedder = VoyageEmbedder()
    assert (embedder.name, embedder.dimensions) == ("voyage-3.5", 1024)
    assert "pa-env" not in repr(embedder)


def test_a_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    with pytest.raises(MissingCredentialError, match="VOYAGE_API_KEY"):
        VoyageEmbedder()


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "voyageai", None)
    with pytest.raises(MissingExtraError, match=r"graphsearch\[voyage\]"):
        VoyageEmbedder(api_key="k")


def test_every_fault_of_construction_is_named() -> None:
    with pytest.raises(InvalidInputError) as caught:
        VoyageEmbedder("voyage-3.5", api_key="k", dimensions=0, timeout=0, base_url="voyage", concurrency=0)
    assert len(caught.value.faults) == 4


def test_estimate_counts_bytes_and_stops_where_voyage_cuts() -> None:
    assert estimated_tokens("日本") == 6 + 16
    assert estimated_tokens("x" * 10**6) == 32_016
