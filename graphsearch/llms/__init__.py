"""Adapters for language models, with budgets and usage."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from graphsearch.llms.anthropic import AnthropicLLM
from graphsearch.llms.openai import OpenAILLM
from graphsearch.llms.structured import StructuredLLM
from graphsearch.llms.usage import Budget, BudgetedLLM, ByteCounter, Call, Meter, Prices, Usage, metered, record
from graphsearch.model import validation as check

__all__ = [
    "AnthropicLLM",
    "Budget",
    "BudgetedLLM",
    "ByteCounter",
    "Call",
    "Meter",
    "OpenAILLM",
    "Prices",
    "StructuredLLM",
    "Usage",
    "llm_called",
    "metered",
    "record",
]

_VENDORS: Final[Mapping[str, type[OpenAILLM | AnthropicLLM]]] = MappingProxyType(
    {"openai": OpenAILLM, "anthropic": AnthropicLLM}
)


def llm_called(name: str, base_url: str | None = None) -> OpenAILLM | AnthropicLLM:
    """The model of a ``name`` such as "openai:gpt-5-mini": a protocol, a colon, and the model's own name.

    With a ``base_url``, "openai:qwen3:8b" can be a self-hosted model. Raises `InvalidInputError` for a malformed name
    or an unknown protocol, and what the constructor of the adapter raises.
    """
    vendor, colon, model = name.partition(":")
    known = " or ".join(f"{each}:MODEL" for each in _VENDORS)
    sound = vendor in _VENDORS and colon and model
    check.refuse("language model", None if sound else f"{name!r} must be {known}")
    return _VENDORS[vendor](model, base_url=base_url)
