"""The parts that an engine is made of. Anything with these methods will do; nothing needs to inherit."""

from graphsearch.protocols.graph_store import GraphStore
from graphsearch.protocols.parts import (
    LLM,
    Authorizer,
    Clock,
    Embedder,
    Extractor,
    Frontier,
    InputType,
    TokenCounter,
    Traversal,
    WordVectors,
)

__all__ = [
    "LLM",
    "Authorizer",
    "Clock",
    "Embedder",
    "Extractor",
    "Frontier",
    "GraphStore",
    "InputType",
    "TokenCounter",
    "Traversal",
    "WordVectors",
]
