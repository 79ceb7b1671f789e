"""Adapters for embedding models."""

from graphsearch.embedders.base import checked_vectors
from graphsearch.embedders.function import EmbedFunction, FunctionEmbedder, as_embedder
from graphsearch.embedders.minilm import MiniLMEmbedder
from graphsearch.embedders.voyage import VoyageEmbedder
from graphsearch.embedders.wordllama import WordLlamaEmbedder

__all__ = [
    "EmbedFunction",
    "FunctionEmbedder",
    "MiniLMEmbedder",
    "VoyageEmbedder",
    "WordLlamaEmbedder",
    "as_embedder",
    "checked_vectors",
]
