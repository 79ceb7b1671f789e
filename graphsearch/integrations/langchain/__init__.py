"""LangChain: what a graph knows as documents, and as tools that a model can call. Needs the extra "langchain"."""

from typing import TYPE_CHECKING

from graphsearch.extras import require
from graphsearch.lazily import lazily

if TYPE_CHECKING:
    from graphsearch.integrations.langchain.retriever import GraphSearchRetriever as GraphSearchRetriever
    from graphsearch.integrations.langchain.tools import context_tool as context_tool
    from graphsearch.integrations.langchain.tools import outcome_tool as outcome_tool

_HOMES = {
    "GraphSearchRetriever": "graphsearch.integrations.langchain.retriever",
    "context_tool": "graphsearch.integrations.langchain.tools",
    "outcome_tool": "graphsearch.integrations.langchain.tools",
}

require("langchain_core", extra="langchain", purpose="the LangChain adapter")

__getattr__, __dir__ = lazily(__name__, _HOMES)
