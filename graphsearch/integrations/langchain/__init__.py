"""LangChain: a graph as a retriever of documents, and as tools for a model. Needs the extra "langchain"."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily, require

if TYPE_CHECKING:
    from graphsearch.integrations.langchain.agent_tools import context_tool as context_tool
    from graphsearch.integrations.langchain.agent_tools import outcome_tool as outcome_tool
    from graphsearch.integrations.langchain.agent_tools import remember_tool as remember_tool
    from graphsearch.integrations.langchain.retriever import GraphSearchRetriever as GraphSearchRetriever

require("langchain_core", extra="langchain", purpose="the LangChain adapter")

__getattr__, __dir__ = lazily(__name__)
