"""What is OpenAI's own: requests as its reference words them, and the ways its answers end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphsearch.errors import LLMAnswerError, LLMRefusalError, LLMTruncatedError
from graphsearch.llms import OpenAILLM
from graphsearch.llms.openai import answer_format
from tests.llms.llm_server import LLMServer, chat_completion, sent

Make = Callable[..., OpenAILLM]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


async def test_request_says_what_openai_documents(make_openai: Make, llm_server: LLMServer) -> None:
    await make_openai().ask("Who?")
    assert llm_server.requests == [{"model": "model-1", "messages": [{"role": "user", "content": "Who?"}]}]
    assert llm_server.paths == ["/v1/chat/completions"]
    assert llm_server.headers[0]["authorization"] == "Bearer sk-secret"


async def test_data_is_asked_for_by_schema(make_openai: Make, llm_server: LLMServer) -> None:
    await make_openai(max_tokens=9).ask_json("Who?", SCHEMA)
    (request,) = llm_server.requests
    assert request["max_tokens"] == 9
    assert request["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
    }


def test_openai_itself_is_sent_the_limit_by_its_newer_name() -> None:
    assert OpenAILLM._limits(9, None) == {"max_completion_tokens": 9}
    assert OpenAILLM._limits(9, "http://host") == {"max_tokens": 9}
    assert OpenAILLM._limits(None, None) == {}


@pytest.mark.parametrize(
    ("changed", "strict"),
    [
        ({}, True),
        ({"additionalProperties": True}, False),
        ({"required": []}, False),
        ({"properties": {"a": {"type": "object"}}}, False),
        ({"properties": {"a": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"b": {}}}]}}}, False),
        ({"properties": {"a": {"anyOf": [{"type": "null"}, SCHEMA]}}}, True),
    ],
)
def test_strict_is_asked_for_where_the_schema_is_closed(changed: dict[str, Any], strict: bool) -> None:
    assert answer_format(SCHEMA | changed)["response_format"]["json_schema"]["strict"] is strict


@pytest.mark.parametrize("finish_reason", [None, "stop", "eos"])
async def test_a_whole_answer(make_openai: Make, llm_server: LLMServer, finish_reason: str | None) -> None:
    llm_server.answers.append(sent(chat_completion("Ada", finish_reason)))
    assert await make_openai().ask("Who?") == "Ada"


async def test_an_answer_that_was_cut_off(make_openai: Make, llm_server: LLMServer) -> None:
    llm_server.answers.extend([sent(chat_completion('{"a": 1}', "length"))] * 2)
    llm = make_openai()
    with pytest.raises(LLMTruncatedError, match=r"\(length\); raise max_tokens"):
        await llm.ask("Who?")
    with pytest.raises(LLMTruncatedError):
        await llm.ask_json("Who?", SCHEMA)
    assert llm.usage.output_tokens == 40


async def test_an_answer_that_was_filtered(make_openai: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(sent(chat_completion("The first half", "content_filter")))
    with pytest.raises(LLMRefusalError, match=r"declined to answer \(content_filter\)"):
        await make_openai().ask("Who?")


async def test_a_model_that_refuses(make_openai: Make, llm_server: LLMServer) -> None:
    refused = {"message": {"role": "assistant", "content": None, "refusal": "I'm sorry"}, "finish_reason": "stop"}
    llm_server.answers.append(sent(chat_completion(None, choices=[refused])))
    with pytest.raises(LLMRefusalError, match=r"declined to answer \(refusal\)"):
        await make_openai().ask_json("Who?", SCHEMA)


async def test_no_content_at_all(make_openai: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(sent(chat_completion(None, "tool_calls")))
    with pytest.raises(LLMAnswerError, match="must not be empty"):
        await make_openai().ask("Who?")
