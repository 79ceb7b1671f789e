from collections.abc import Callable, Iterator
from typing import Any

import pytest

from graphsearch.llms import AnthropicLLM, OpenAILLM
from tests.llms.llm_server import LLMServer, serving

Make = Callable[..., OpenAILLM | AnthropicLLM]


@pytest.fixture
def llm_server() -> Iterator[LLMServer]:
    with serving() as server:
        yield server


@pytest.fixture
def make_openai(llm_server: LLMServer) -> Callable[..., OpenAILLM]:
    defaults: dict[str, Any] = {"api_key": "sk-secret", "base_url": llm_server.openai_url}
    return lambda model="model-1", **options: OpenAILLM(model, **(defaults | options))


@pytest.fixture
def make_anthropic(llm_server: LLMServer) -> Callable[..., AnthropicLLM]:
    defaults: dict[str, Any] = {"api_key": "sk-secret", "base_url": llm_server.host}
    return lambda model="model-1", **options: AnthropicLLM(model, **(defaults | options))


@pytest.fixture(params=["openai", "anthropic"])
def make(request: pytest.FixtureRequest) -> Make:
    """Makes either adapter: what both promise is tested with both."""
    found: Make = request.getfixturevalue(f"make_{request.param}")
    return found
