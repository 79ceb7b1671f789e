"""Adapters that ask language models."""

from graphsearch.llms.anthropic import AnthropicLLM
from graphsearch.llms.counting import ByteCounter
from graphsearch.llms.metering import Call, Meter, metered, record
from graphsearch.llms.model_names import llm_called
from graphsearch.llms.openai import OpenAILLM
from graphsearch.llms.spending import Budget, BudgetedLLM
from graphsearch.llms.structured import StructuredLLM
from graphsearch.llms.usage import Prices, Usage

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
