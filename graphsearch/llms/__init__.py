"""Adapters for language models, with budgets and usage."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from graphsearch.llms.anthropic import AnthropicLLM as AnthropicLLM
from graphsearch.llms.openai import OpenAILLM as OpenAILLM
from graphsearch.llms.structured import StructuredLLM as StructuredLLM
from graphsearch.llms.usage import Budget as Budget
from graphsearch.llms.usage import BudgetedLLM as BudgetedLLM
from graphsearch.llms.usage import ByteCounter as ByteCounter
from graphsearch.llms.usage import Call as Call
from graphsearch.llms.usage import Meter as Meter
from graphsearch.llms.usage import Prices as Prices
from graphsearch.llms.usage import Usage as Usage
from graphsearch.llms.usage import metered as metered
from graphsearch.llms.usage import record as record
from graphsearch.model import validation as check

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
