"""Adapters that ask language models."""

from graphsearch.llms.anthropic import AnthropicLLM
from graphsearch.llms.metering import Call, Meter, metered, record
from graphsearch.llms.openai import OpenAILLM
from graphsearch.llms.structured import StructuredLLM
from graphsearch.llms.usage import Prices, Usage

__all__ = ["AnthropicLLM", "Call", "Meter", "OpenAILLM", "Prices", "StructuredLLM", "Usage", "metered", "record"]
