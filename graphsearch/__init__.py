"""Turns an agent's knowledge graph into the few lines of context that answer its next question.

>>> import asyncio
>>> from graphsearch import GraphSearchEngine, InMemoryGraphStore, Ingestor, Memory, WordLlamaEmbedder
>>> async def main():
...     store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
...     engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
...     await Ingestor(engine).remember([Memory(id="m1", text="Ada works at Globex.")])
...     return await engine.search("Where does Ada work?", limit=5)
>>> found = asyncio.run(main())
>>> print(found)
Where does Ada work?
graph_completion, as of ...; 1 of the 1 relations found
score   source  relation  target  fact
0.5201  Ada     works_at  Globex  Ada works at Globex.

``help(engine.search)`` shows every option. `graphsearch.sync` has the same names, blocking.
"""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch._support.version import __version__
    from graphsearch.access.gate import ALLOW_ALL, Gate
    from graphsearch.authz import CedarAuthorizer
    from graphsearch.context import ContextBlock, ContextBuilder, ContextOptions, WorkType
    from graphsearch.curation import Curator
    from graphsearch.curation.updating import Corrections
    from graphsearch.embedders import FunctionEmbedder, MiniLMEmbedder, VoyageEmbedder, WordLlamaEmbedder
    from graphsearch.engine import GraphSearchEngine
    from graphsearch.errors import GraphSearchError
    from graphsearch.explaining.explanation import Explanation
    from graphsearch.explaining.options import ExplainOptions
    from graphsearch.feedback import FeedbackService
    from graphsearch.graph_query.query import GraphQuery
    from graphsearch.ingest import CombinedExtractor, Ingestor, LLMExtractor, TextExtractor
    from graphsearch.llms import AnthropicLLM, OpenAILLM
    from graphsearch.model import (
        Action,
        Batch,
        Claim,
        EdgeKind,
        Entity,
        Memory,
        Mention,
        Outcome,
        Principal,
        Relation,
        RelationType,
        Scope,
        ScorePart,
        Span,
        Triplet,
    )
    from graphsearch.modes.natural_language import NaturalLanguage
    from graphsearch.modes.options import SearchMode, SearchOptions
    from graphsearch.modes.registry import DEFAULT_MODES
    from graphsearch.modes.result import SearchResult
    from graphsearch.modes.summary import Summarising
    from graphsearch.protocols import Extractor
    from graphsearch.ranking.options import RankOptions
    from graphsearch.ranking.result import FoundEntity, RankResult
    from graphsearch.ranking.strategies import Ranking
    from graphsearch.recall.options import RecallOptions, RecallScoring
    from graphsearch.recall.result import RecalledMemory, RecallResult
    from graphsearch.scoring.triplet_score import ScoringOptions
    from graphsearch.stores import EmbeddedPostgres, InMemoryGraphStore, PostgresGraphStore, migrate
    from graphsearch.summaries.cited_summary import Summary
    from graphsearch.traversal.k_hop import KHopTraversal
    from graphsearch.traversal.pagerank import PersonalizedPageRank
    from graphsearch.traversal.path import Path

__all__ = [
    "ALLOW_ALL",
    "DEFAULT_MODES",
    "Action",
    "AnthropicLLM",
    "Batch",
    "CedarAuthorizer",
    "Claim",
    "CombinedExtractor",
    "ContextBlock",
    "ContextBuilder",
    "ContextOptions",
    "Corrections",
    "Curator",
    "EdgeKind",
    "EmbeddedPostgres",
    "Entity",
    "ExplainOptions",
    "Explanation",
    "Extractor",
    "FeedbackService",
    "FoundEntity",
    "FunctionEmbedder",
    "Gate",
    "GraphQuery",
    "GraphSearchEngine",
    "GraphSearchError",
    "InMemoryGraphStore",
    "Ingestor",
    "KHopTraversal",
    "LLMExtractor",
    "Memory",
    "Mention",
    "MiniLMEmbedder",
    "NaturalLanguage",
    "OpenAILLM",
    "Outcome",
    "Path",
    "PersonalizedPageRank",
    "PostgresGraphStore",
    "Principal",
    "RankOptions",
    "RankResult",
    "Ranking",
    "RecallOptions",
    "RecallResult",
    "RecallScoring",
    "RecalledMemory",
    "Relation",
    "RelationType",
    "Scope",
    "ScorePart",
    "ScoringOptions",
    "SearchMode",
    "SearchOptions",
    "SearchResult",
    "Span",
    "Summarising",
    "Summary",
    "TextExtractor",
    "Triplet",
    "VoyageEmbedder",
    "WordLlamaEmbedder",
    "WorkType",
    "__version__",
    "migrate",
]

_HOMES = {
    "__version__": "graphsearch._support.version",
    "ALLOW_ALL": "graphsearch.access.gate",
    "Gate": "graphsearch.access.gate",
    "CedarAuthorizer": "graphsearch.authz",
    "ContextBlock": "graphsearch.context",
    "ContextBuilder": "graphsearch.context",
    "ContextOptions": "graphsearch.context",
    "WorkType": "graphsearch.context",
    "Curator": "graphsearch.curation",
    "Corrections": "graphsearch.curation.updating",
    "FunctionEmbedder": "graphsearch.embedders",
    "MiniLMEmbedder": "graphsearch.embedders",
    "VoyageEmbedder": "graphsearch.embedders",
    "WordLlamaEmbedder": "graphsearch.embedders",
    "GraphSearchEngine": "graphsearch.engine",
    "GraphSearchError": "graphsearch.errors",
    "Explanation": "graphsearch.explaining.explanation",
    "ExplainOptions": "graphsearch.explaining.options",
    "FeedbackService": "graphsearch.feedback",
    "GraphQuery": "graphsearch.graph_query.query",
    "CombinedExtractor": "graphsearch.ingest",
    "Ingestor": "graphsearch.ingest",
    "LLMExtractor": "graphsearch.ingest",
    "TextExtractor": "graphsearch.ingest",
    "AnthropicLLM": "graphsearch.llms",
    "OpenAILLM": "graphsearch.llms",
    "Action": "graphsearch.model",
    "Batch": "graphsearch.model",
    "Claim": "graphsearch.model",
    "EdgeKind": "graphsearch.model",
    "Entity": "graphsearch.model",
    "Memory": "graphsearch.model",
    "Mention": "graphsearch.model",
    "Outcome": "graphsearch.model",
    "Principal": "graphsearch.model",
    "Relation": "graphsearch.model",
    "RelationType": "graphsearch.model",
    "Scope": "graphsearch.model",
    "ScorePart": "graphsearch.model",
    "Span": "graphsearch.model",
    "Triplet": "graphsearch.model",
    "NaturalLanguage": "graphsearch.modes.natural_language",
    "SearchMode": "graphsearch.modes.options",
    "SearchOptions": "graphsearch.modes.options",
    "DEFAULT_MODES": "graphsearch.modes.registry",
    "SearchResult": "graphsearch.modes.result",
    "Summarising": "graphsearch.modes.summary",
    "Authorizer": "graphsearch.protocols",
    "Extractor": "graphsearch.protocols",
    "RankOptions": "graphsearch.ranking.options",
    "FoundEntity": "graphsearch.ranking.result",
    "RankResult": "graphsearch.ranking.result",
    "Ranking": "graphsearch.ranking.strategies",
    "RecallOptions": "graphsearch.recall.options",
    "RecallScoring": "graphsearch.recall.options",
    "RecallResult": "graphsearch.recall.result",
    "RecalledMemory": "graphsearch.recall.result",
    "ScoringOptions": "graphsearch.scoring.triplet_score",
    "EmbeddedPostgres": "graphsearch.stores",
    "InMemoryGraphStore": "graphsearch.stores",
    "PostgresGraphStore": "graphsearch.stores",
    "migrate": "graphsearch.stores",
    "Summary": "graphsearch.summaries.cited_summary",
    "KHopTraversal": "graphsearch.traversal.k_hop",
    "PersonalizedPageRank": "graphsearch.traversal.pagerank",
    "Path": "graphsearch.traversal.path",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
