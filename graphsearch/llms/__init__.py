"""Adapters for language models, with budgets and usage."""

from graphsearch.llms.anthropic import AnthropicLLM
from graphsearch.llms.model_names import llm_called
from graphsearch.llms.openai import OpenAILLM
from graphsearch.llms.prompt_fitting import ByteCounter
from graphsearch.llms.spending import Budget, BudgetedLLM
from graphsearch.llms.structured import StructuredLLM
from graphsearch.llms.usage import Call, Meter, Prices, Usage, metered, record

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
