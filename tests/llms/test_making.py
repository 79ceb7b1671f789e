"""How both adapters are made, by their classes and by name, and what they refuse."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from graphsearch.errors import (
    InvalidInputError,
    LLMAnswerError,
    LLMError,
    LLMRefusalError,
    LLMRequestError,
    LLMUnavailableError,
    MissingCredentialError,
    MissingExtraError,
)
from graphsearch.llms import AnthropicLLM, OpenAILLM, llm_called
from tests.llms.conftest import Make
from tests.llms.llm_server import LLMServer

BOTH = pytest.mark.parametrize(
    ("adapter", "variable"), [(OpenAILLM, "OPENAI_API_KEY"), (AnthropicLLM, "ANTHROPIC_API_KEY")]
)
Adapter = type[OpenAILLM] | type[AnthropicLLM]


@BOTH
def test_the_key_comes_from_the_environment(adapter: Adapter, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "sk-env")
    llm = adapter("model-1")
    assert llm.name == "model-1"
    assert "sk-env" not in repr(llm)


@BOTH
def test_a_missing_key_names_the_variable(adapter: Adapter, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(MissingCredentialError, match=variable):
        adapter("model-1")


@BOTH
def test_a_key_that_cannot_be_sent_is_not_quoted(
    adapter: Adapter, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "sk-env\n")
    for given in (None, "sk-given\n", "schlüssel"):
        with pytest.raises(InvalidInputError, match="printable ASCII") as caught:
            adapter("model-1", api_key=given)
        assert "sk-" not in str(caught.value)


async def test_the_vendors_key_goes_to_the_vendor_alone(
    make: Make, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "sk-env")
    await make(api_key=None).ask("a")
    assert "sk-env" not in json.dumps(llm_server.headers)


@BOTH
def test_a_missing_package_names_the_extra(adapter: Adapter, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = "openai" if adapter is OpenAILLM else "anthropic"
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"graphsearch\[{package}\]"):
        adapter("model-1", api_key="k")


@BOTH
def test_every_fault_of_construction_is_named(adapter: Adapter, variable: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        adapter(
            " ",
            api_key="k k",
            base_url="host:1",
            timeout=0,
            max_tokens=0,
            settings={"stream": True, "model": "b", "x": float("nan")},
        )
    assert len(caught.value.faults) == 7
    assert "settings must not hold model, stream" in str(caught.value)


@pytest.mark.parametrize(
    "url", ["", "ftp://host", "http://", "http://[::1", "http://host:99999", "http://ho st", "http://höst", 3]
)
def test_what_is_no_url(url: Any) -> None:
    with pytest.raises(InvalidInputError, match="base_url"):
        OpenAILLM("model-1", base_url=url)


def test_all_errors_are_of_one_tree() -> None:
    for error in (LLMAnswerError("a"), LLMRefusalError(), LLMRequestError(), LLMUnavailableError()):
        assert isinstance(error, LLMError)


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
