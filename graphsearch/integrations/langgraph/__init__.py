"""LangGraph: nodes that bring context into a state and report how its session went. Needs the extra "langgraph"."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily, require

if TYPE_CHECKING:
    from graphsearch.integrations.langgraph.nodes import context_node as context_node
    from graphsearch.integrations.langgraph.nodes import outcome_node as outcome_node

require("langgraph", extra="langgraph", purpose="the LangGraph adapter")

__getattr__, __dir__ = lazily(__name__)
