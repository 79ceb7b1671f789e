"""What is Anthropic's own: requests as its reference words them, and the ways its answers end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphsearch.errors import LLMAnswerError, LLMError, LLMRefusalError, LLMTruncatedError
from graphsearch.llms import AnthropicLLM
from tests.llms.llm_server import LLMServer, anthropic_message, raw, sent

Make = Callable[..., AnthropicLLM]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
HELLO = {"type": "text", "text": "Hello"}


async def test_request_says_what_anthropic_documents(make_anthropic: Make, llm_server: LLMServer) -> None:
    await make_anthropic().ask("Who?")
    asked = {"model": "model-1", "max_tokens": 4096, "messages": [{"role": "user", "content": "Who?"}]}
    assert llm_server.requests == [asked]
    assert llm_server.paths == ["/v1/messages"]
    assert "anthropic-version" in llm_server.headers[0]
    assert "sk-secret" in "".join(llm_server.headers[0].get(name, "") for name in ("x-api-key", "authorization"))


async def test_data_is_asked_for_by_a_tool_that_must_be_used(make_anthropic: Make, llm_server: LLMServer) -> None:
    assert await make_anthropic().ask_json("Who?", SCHEMA) == {"a": 1}
    (request,) = llm_server.requests
    (tool,) = request["tools"]
    assert tool["input_schema"] == SCHEMA
    assert request["tool_choice"] == {"type": "tool", "name": tool["name"], "disable_parallel_tool_use": True}


async def test_blocks_of_text_are_one_answer(make_anthropic: Make, llm_server: LLMServer) -> None:
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, HELLO, {"type": "text", "text": ", Ada"}]
    llm_server.answers.append(sent(anthropic_message(blocks)))
    assert await make_anthropic().ask("Who?") == "Hello, Ada"


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "pause_turn"])
async def test_an_answer_that_was_cut_off(make_anthropic: Make, llm_server: LLMServer, reason: str) -> None:
    given = {"type": "tool_use", "id": "t", "name": "answer", "input": {"a": 1}}
    llm_server.answers.append(sent(anthropic_message([given], reason)))
    llm = make_anthropic()
    with pytest.raises(LLMTruncatedError, match=rf"\({reason}\); raise max_tokens"):
        await llm.ask_json("Who?", SCHEMA)
    assert llm.usage.output_tokens == 20


async def test_a_model_that_refuses(make_anthropic: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(sent(anthropic_message([HELLO], "refusal")))
    with pytest.raises(LLMRefusalError, match=r"declined to answer \(refusal\)"):
        await make_anthropic().ask("Who?")


async def test_a_tool_that_was_not_used(make_anthropic: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(sent(anthropic_message([HELLO])))
    with pytest.raises(LLMAnswerError, match="not JSON") as caught:
        await make_anthropic().ask_json("Who?", SCHEMA)
    assert caught.value.answer == "Hello"


async def test_no_content_at_all(make_anthropic: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(sent(anthropic_message([])))
    with pytest.raises(LLMAnswerError, match="must not be empty"):
        await make_anthropic().ask("Who?")


async def test_what_is_written_to_the_cache_is_input(make_anthropic: Make, llm_server: LLMServer) -> None:
    usage = {"input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 300, "output_tokens": 4}
    llm_server.answers.append(sent(anthropic_message([HELLO], usage=usage)))
    llm = make_anthropic()
    await llm.ask("Who?")
    assert (llm.usage.input_tokens, llm.usage.cached_tokens, llm.usage.output_tokens) == (321, 20, 4)


async def test_data_as_deep_as_can_just_be_read(make_anthropic: Make, llm_server: LLMServer) -> None:
    llm = make_anthropic(max_retries=0)
    for depth in range(900, 1000, 2):
        given = '{"a":' * depth + "1" + "}" * depth
        content = f'{{"content": [{{"type": "tool_use", "name": "answer", "input": {given}}}]}}'
        llm_server.answers.append(raw(200, content.encode()))
        with pytest.raises(LLMError, match=r"cannot be read|is not of type 'integer'"):
            await llm.ask_json("Who?", SCHEMA)
