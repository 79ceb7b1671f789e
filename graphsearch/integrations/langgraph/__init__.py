"""LangGraph: nodes that add context to a state, remember it, and report the outcome. Needs the extra "langgraph"."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily, require

if TYPE_CHECKING:
    from graphsearch.integrations.langgraph.nodes import context_node as context_node
    from graphsearch.integrations.langgraph.nodes import outcome_node as outcome_node
    from graphsearch.integrations.langgraph.nodes import remember_node as remember_node

require("langgraph", extra="langgraph", purpose="the LangGraph adapter")

__getattr__, __dir__ = lazily(__name__)
