"""The block of text that goes into the prompt of a session."""

from graphsearch.context.builder import ContextBlock, ContextBuilder, ContextRequest, build_graph_context_block
from graphsearch.context.tokens import DEFAULT_BUDGETS, TiktokenCounter, WorkType

__all__ = [
    "DEFAULT_BUDGETS",
    "ContextBlock",
    "ContextBuilder",
    "ContextRequest",
    "TiktokenCounter",
    "WorkType",
    "build_graph_context_block",
]
