"""The protocols of the parts of an engine; matching methods suffice, no inheritance is required."""

from graphsearch.protocols.curating import Curating
from graphsearch.protocols.graph_store import GraphStore, Scoped
from graphsearch.protocols.learning import Learning
from graphsearch.protocols.moving import Moving
from graphsearch.protocols.parts import (
    LLM,
    Authorizer,
    Clock,
    Embedder,
    Extractor,
    Frontier,
    InputType,
    KnowingExtractor,
    TokenCounter,
    Traversal,
    WordVectors,
)
from graphsearch.protocols.reading import Reading
from graphsearch.protocols.reembedding import Reembeddable
from graphsearch.protocols.reviewing import Reviewing
from graphsearch.protocols.searching import Searching
from graphsearch.protocols.walking import Walking
from graphsearch.protocols.writing import Writing

__all__ = [
    "LLM",
    "Authorizer",
    "Clock",
    "Curating",
    "Embedder",
    "Extractor",
    "Frontier",
    "GraphStore",
    "InputType",
    "KnowingExtractor",
    "Learning",
    "Moving",
    "Reading",
    "Reembeddable",
    "Reviewing",
    "Scoped",
    "Searching",
    "TokenCounter",
    "Traversal",
    "Walking",
    "WordVectors",
    "Writing",
]
