"""What both adapters promise of failures that stay, over real HTTP."""

from __future__ import annotations

import gzip

import pytest

from graphsearch.errors import InvalidInputError, LLMAnswerError, LLMRefusalError, LLMRequestError
from tests.llms.conftest import Make
from tests.llms.llm_server import Answer, LLMServer, fail, flood, raw, sent

DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("failure", "message", "cause"),
    [
        (fail(401, "Incorrect key."), r"Incorrect key. \(HTTP 401\); check the key", "AuthenticationError"),
        (fail(403), "check the key", "PermissionDeniedError"),
        (fail(404, "no such model"), r"no such model \(HTTP 404\)", "NotFoundError"),
        (fail(400, "too many tokens"), "too many tokens", "BadRequestError"),
        (fail(429, "You are out of credit", "insufficient_quota"), "out of credit", "RateLimitError"),
        (sent({"message": "as older servers word it"}, 400), "as older servers word it", "BadRequestError"),
        (
            sent({"detail": [{"msg": "m", "input": "private"}]}, 422),
            r"request failed \(HTTP 422",
            "UnprocessableEntityError",
        ),
        (raw(400, DEEP), r"the request failed \(HTTP 400\)", "BadRequestError"),
    ],
)
async def test_a_refused_request_is_not_tried_again(
    make: Make, llm_server: LLMServer, failure: Answer, message: str, cause: str
) -> None:
    llm_server.answers.append(failure)
    with pytest.raises(LLMRequestError, match=message) as caught:
        await make().ask("private question")
    assert len(llm_server.requests) == 1
    assert "private" not in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert type(caught.value.__cause__).__name__ == cause


async def test_a_filter_before_the_model_is_a_refusal(make: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(fail(400, "The prompt was filtered", "content_filter"))
    with pytest.raises(LLMRefusalError, match="filtered"):
        await make().ask("a")


async def test_a_key_is_not_taken_to_another_host(make: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(raw(307, b"", Location=f"{llm_server.host.replace('127.0.0.1', 'localhost')}/elsewhere"))
    with pytest.raises(LLMRequestError, match=r"HTTP 307\); redirects are not followed.*check base_url"):
        await make().ask("a")
    assert len(llm_server.requests) == 1


@pytest.mark.parametrize("status", [200, 500])
async def test_an_answer_that_is_too_long_is_not_read_on(make: Make, llm_server: LLMServer, status: int) -> None:
    llm_server.answers.append(flood(status))
    with pytest.raises(LLMAnswerError, match="longer than 16777216 bytes") as caught:
        await make().ask("a")
    assert type(caught.value.__cause__).__name__ == "APIConnectionError"
    assert len(llm_server.requests) == 1


async def test_an_answer_that_would_grow_is_not_unpacked(make: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(raw(200, gzip.compress(b" " * (1 << 20)), Content_Encoding="gzip"))
    with pytest.raises(LLMAnswerError, match="compressed"):
        await make().ask("a")
    assert llm_server.headers[0]["accept-encoding"] == "identity"


@pytest.mark.parametrize("text", ["", "  \n", "a\0b", "lone \ud800"])
async def test_a_text_that_is_blank_or_unfit_is_an_error(make: Make, llm_server: LLMServer, text: str) -> None:
    content = [{"type": "text", "text": text}]
    answer = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "content": content}
    llm_server.answers.append(sent(answer))
    with pytest.raises(LLMAnswerError, match="the answer must"):
        await make().ask("a")
    assert len(llm_server.requests) == 1


async def test_a_prompt_that_cannot_be_sent_is_refused_before_anything_is_sent(
    make: Make, llm_server: LLMServer
) -> None:
    for text in ("", " ", "lone \ud800"):
        with pytest.raises(InvalidInputError, match="prompt: text must"):
            await make().ask(text)
    assert llm_server.requests == []


async def test_an_address_that_is_none_is_not_tried_again(make: Make) -> None:
    with pytest.raises(LLMRequestError, match="cannot be reached: Invalid IPv4 address") as caught:
        await make(base_url="http://999.1.1.1/v1").ask("a")
    assert type(caught.value.__cause__).__name__ == "InvalidURL"
