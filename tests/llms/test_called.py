"""Models by their names."""

from __future__ import annotations

import pytest

from graphsearch.errors import InvalidInputError, MissingCredentialError
from graphsearch.llms import AnthropicLLM, OpenAILLM, llm_called
from tests.llms.llm_server import LLMServer


async def test_a_name_tells_the_protocol_and_the_model(llm_server: LLMServer) -> None:
    for name, kind, url in (
        ("openai:qwen3:8b", OpenAILLM, llm_server.openai_url),
        ("anthropic:claude", AnthropicLLM, llm_server.host),
    ):
        llm = llm_called(name, base_url=url)
        assert isinstance(llm, kind)
        assert (await llm.ask("who?")).endswith("who?")
    assert [request["model"] for request in llm_server.requests] == ["qwen3:8b", "claude"]


def test_without_a_url_the_vendor_is_asked_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingCredentialError, match="OPENAI_API_KEY"):
        llm_called("openai:gpt-5-mini")


@pytest.mark.parametrize("name", ["", ":", "openai", "openai:", "mistral:large", "OpenAI:x", ":openai"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="must be openai:MODEL or anthropic:MODEL"):
        llm_called(name)
