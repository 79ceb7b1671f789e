"""The block of text that goes into the prompt of a session."""

from graphsearch.context.builder import ContextBlock, ContextBuilder, ContextOptions, build_graph_context_block
from graphsearch.context.tokens import DEFAULT_BUDGETS, TiktokenCounter, WorkType

__all__ = [
    "DEFAULT_BUDGETS",
    "ContextBlock",
    "ContextBuilder",
    "ContextOptions",
    "TiktokenCounter",
    "WorkType",
    "build_graph_context_block",
]
