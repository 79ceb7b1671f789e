"""What both adapters promise of answers, of failures that pass and of those that stay, over real HTTP."""

from __future__ import annotations

import asyncio
import socket

import pytest

from graphsearch.errors import InvalidInputError, LLMAnswerError, LLMRefusalError, LLMRequestError, LLMUnavailableError
from graphsearch.llms import StructuredLLM
from tests.llms.conftest import Make
from tests.llms.llm_server import Answer, LLMServer, fail, hang, hang_up, raw, sent
from tests.waiting import LONGEST

SCHEMA = {
    "type": "object",
    "properties": {"hops": {"type": "integer", "maximum": 3}, "types": {"type": "array", "items": {"type": "string"}}},
    "required": ["hops", "types"],
    "additionalProperties": False,
}
DEEP = b"[" * 100_000


async def test_a_question_is_answered(make: Make) -> None:
    llm: StructuredLLM = make()
    assert await llm.ask("Who? 日本") == "You asked: Who? 日本"
    assert await llm.ask_json("Which?", SCHEMA) == {"hops": 1, "types": ["text"]}


async def test_one_model_serves_many_loops_and_tasks(make: Make) -> None:
    llm = make()
    assert await asyncio.gather(*(llm.ask(str(number)) for number in range(8))) == [
        f"You asked: {number}" for number in range(8)
    ]
    assert await asyncio.to_thread(lambda: asyncio.run(llm.ask("again"))) == "You asked: again"


async def test_settings_go_along(make: Make, llm_server: LLMServer) -> None:
    await make(settings={"temperature": 0, "top_k": 5}, max_tokens=7).ask("a")
    (request,) = llm_server.requests
    assert (request["temperature"], request["top_k"], request["max_tokens"]) == (0, 5, 7)


# -- failures that pass ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(fail(429, retry_after_ms="1"), id="429"),
        pytest.param(fail(408, retry_after_ms="1"), id="408"),
        pytest.param(fail(500, retry_after_ms="1"), id="500"),
        pytest.param(fail(529, retry_after_ms="1"), id="529"),
        pytest.param(raw(502, b"<html>bad gateway</html>", retry_after_ms="1"), id="502 without JSON"),
        pytest.param(raw(200, b'{"choices": [', 500), id="connection lost in mid-answer"),
        pytest.param(hang_up, id="connection lost"),
    ],
)
async def test_a_failure_that_passes_is_tried_again(make: Make, llm_server: LLMServer, failure: Answer) -> None:
    llm_server.answers.append(failure)
    assert await make().ask("a") == "You asked: a"
    assert len(llm_server.requests) == 2


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(raw(200, b'{"choices": [{"mess'), id="broken JSON"),
        pytest.param(raw(200, DEEP), id="JSON nested too deep"),
        pytest.param(raw(200, b"1" * 10_000), id="a number of too many digits"),
        pytest.param(raw(200, b"<html>hello</html>", Content_Type="text/html"), id="HTML"),
        pytest.param(raw(200, b"\xff\xfe\xff"), id="not UTF-8"),
        pytest.param(raw(200, b""), id="nothing"),
        pytest.param(sent([]), id="a list"),
        pytest.param(sent(None), id="null"),
        pytest.param(sent({"choices": [], "content": None}), id="no choice and no content"),
    ],
)
async def test_an_answer_outside_the_protocol_cannot_be_read(make: Make, llm_server: LLMServer, answer: Answer) -> None:
    llm_server.answers.append(answer)
    with pytest.raises(LLMUnavailableError, match="the answer cannot be read: it is not of the protocol"):
        await make().ask("a")


async def test_a_server_that_keeps_failing_is_given_up(make: Make, llm_server: LLMServer) -> None:
    llm_server.answers.extend([fail(500, "broken", retry_after_ms="1")] * 10)
    with pytest.raises(LLMUnavailableError, match=r"model-1 at 127.0.0.1:\d+: broken \(HTTP 500\)") as caught:
        await make(max_retries=2).ask("a")
    assert type(caught.value.__cause__).__name__ == "InternalServerError"
    assert len(llm_server.requests) == 3


async def test_an_error_in_a_successful_response_is_reported(make: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(sent({"error": {"message": "no \x1b[31mworker", "detail": "private"}}))
    with pytest.raises(LLMUnavailableError, match=r"cannot be read: no \[31mworker; try again later") as caught:
        await make(max_retries=0).ask("a")
    assert "private" not in str(caught.value)


async def test_a_slow_answer_times_out(make: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(hang)
    with pytest.raises(LLMUnavailableError, match=r"no answer within 0.3 s") as caught:
        await make(timeout=0.3, max_retries=0).ask("a")
    assert type(caught.value.__cause__).__name__ == "APITimeoutError"


async def test_no_server_at_all(make: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(LLMUnavailableError, match=f"127.0.0.1:{port} cannot be reached") as caught:
        await make(base_url=f"http://127.0.0.1:{port}", max_retries=0).ask("a")
    assert type(caught.value.__cause__).__name__ == "APIConnectionError"


async def test_cancelling_closes_the_request(make: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(hang)
    asking = asyncio.create_task(make().ask("a"))
    assert await asyncio.to_thread(llm_server.asked.wait, LONGEST)
    assert not llm_server.hung_up.is_set()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await asyncio.to_thread(llm_server.hung_up.wait, LONGEST)
    assert len(llm_server.requests) == 1


@pytest.mark.parametrize(
    ("failure", "message", "cause"),
    [
        (fail(401, "Incorrect key."), r"Incorrect key. \(HTTP 401\); check the key", "AuthenticationError"),
        (fail(403), "check the key", "PermissionDeniedError"),
        (fail(404, "no such model"), r"no such model \(HTTP 404\)", "NotFoundError"),
        (fail(400, "too many tokens"), "too many tokens", "BadRequestError"),
        (
            fail(429, "You are out of credit", "insufficient_quota", x_should_retry="false"),
            "out of credit",
            "RateLimitError",
        ),
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
