"""A language model by its name, for places that hold text alone: a command line, a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from graphsearch.llms.anthropic import AnthropicLLM
from graphsearch.llms.openai import OpenAILLM
from graphsearch.model import validation as check

_VENDORS: Final[Mapping[str, type[OpenAILLM | AnthropicLLM]]] = MappingProxyType(
    {"openai": OpenAILLM, "anthropic": AnthropicLLM}
)


def llm_called(name: str, base_url: str | None = None) -> OpenAILLM | AnthropicLLM:
    """The model of a ``name`` such as "openai:gpt-5-mini": the protocol it speaks, a colon, and its own name.

    Asked at the ``base_url`` where there is one, so that "openai:qwen3:8b" may be a model of one's own. Raises
    `InvalidInputError` for a name of another form or of an unknown vendor, and what the adapter raises when made.
    """
    vendor, colon, model = name.partition(":")
    known = " or ".join(f"{each}:MODEL" for each in _VENDORS)
    sound = vendor in _VENDORS and colon and model
    check.refuse("language model", None if sound else f"{name!r} must be {known}")
    return _VENDORS[vendor](model, base_url=base_url)
