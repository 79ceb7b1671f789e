"""Turns an agent's knowledge graph into the few lines of context that answer its next question."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.access.gate import ALLOW_ALL as ALLOW_ALL
    from graphsearch.access.gate import Gate as Gate
    from graphsearch.curation import Curator as Curator
    from graphsearch.embedders import FunctionEmbedder as FunctionEmbedder
    from graphsearch.embedders import MiniLMEmbedder as MiniLMEmbedder
    from graphsearch.embedders import VoyageEmbedder as VoyageEmbedder
    from graphsearch.embedders import WordLlamaEmbedder as WordLlamaEmbedder
    from graphsearch.engine import GraphSearchEngine as GraphSearchEngine
    from graphsearch.errors import GraphSearchError as GraphSearchError
    from graphsearch.explaining.explanation import Explanation as Explanation
    from graphsearch.feedback import FeedbackService as FeedbackService
    from graphsearch.graph_query.query import GraphQuery as GraphQuery
    from graphsearch.ingest import Ingestor as Ingestor
    from graphsearch.llms import AnthropicLLM as AnthropicLLM
    from graphsearch.llms import OpenAILLM as OpenAILLM
    from graphsearch.model import Action as Action
    from graphsearch.model import Batch as Batch
    from graphsearch.model import Claim as Claim
    from graphsearch.model import EdgeKind as EdgeKind
    from graphsearch.model import Entity as Entity
    from graphsearch.model import Memory as Memory
    from graphsearch.model import Mention as Mention
    from graphsearch.model import Outcome as Outcome
    from graphsearch.model import Principal as Principal
    from graphsearch.model import Relation as Relation
    from graphsearch.model import RelationType as RelationType
    from graphsearch.model import Scope as Scope
    from graphsearch.model import Span as Span
    from graphsearch.model import Triplet as Triplet
    from graphsearch.modes.natural_language import NaturalLanguage as NaturalLanguage
    from graphsearch.modes.options import SearchMode as SearchMode
    from graphsearch.modes.registry import DEFAULT_MODES as DEFAULT_MODES
    from graphsearch.modes.result import SearchResult as SearchResult
    from graphsearch.modes.summary import Summarising as Summarising
    from graphsearch.protocols import Authorizer as Authorizer
    from graphsearch.protocols import Extractor as Extractor
    from graphsearch.ranking.strategies import Ranking as Ranking
    from graphsearch.recall.options import RecallScoring as RecallScoring
    from graphsearch.recall.result import RecalledMemory as RecalledMemory
    from graphsearch.recall.result import RecallResult as RecallResult
    from graphsearch.scoring.triplet_score import ScoringOptions as ScoringOptions
    from graphsearch.summaries.cited_summary import Summary as Summary
    from graphsearch.traversal.k_hop import KHopTraversal as KHopTraversal
    from graphsearch.traversal.pagerank import PersonalizedPageRank as PersonalizedPageRank
    from graphsearch.traversal.path import Path as Path

_HOMES = {
    "Curator": "graphsearch.curation",
    "FunctionEmbedder": "graphsearch.embedders",
    "MiniLMEmbedder": "graphsearch.embedders",
    "VoyageEmbedder": "graphsearch.embedders",
    "WordLlamaEmbedder": "graphsearch.embedders",
    "GraphSearchEngine": "graphsearch.engine",
    "GraphSearchError": "graphsearch.errors",
    "FeedbackService": "graphsearch.feedback",
    "ALLOW_ALL": "graphsearch.access.gate",
    "Gate": "graphsearch.access.gate",
    "GraphQuery": "graphsearch.graph_query.query",
    "Ingestor": "graphsearch.ingest",
    "AnthropicLLM": "graphsearch.llms",
    "OpenAILLM": "graphsearch.llms",
    "Action": "graphsearch.model",
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
    "Span": "graphsearch.model",
    "Triplet": "graphsearch.model",
    "NaturalLanguage": "graphsearch.modes.natural_language",
    "DEFAULT_MODES": "graphsearch.modes.registry",
    "SearchMode": "graphsearch.modes.options",
    "Summarising": "graphsearch.modes.summary",
    "Authorizer": "graphsearch.protocols",
    "Extractor": "graphsearch.protocols",
    "RecallScoring": "graphsearch.recall.options",
    "RecalledMemory": "graphsearch.recall.result",
    "RecallResult": "graphsearch.recall.result",
    "Batch": "graphsearch.model",
    "Explanation": "graphsearch.explaining.explanation",
    "Path": "graphsearch.traversal.path",
    "SearchResult": "graphsearch.modes.result",
    "Ranking": "graphsearch.ranking.strategies",
    "ScoringOptions": "graphsearch.scoring.triplet_score",
    "Summary": "graphsearch.summaries.cited_summary",
    "KHopTraversal": "graphsearch.traversal.k_hop",
    "PersonalizedPageRank": "graphsearch.traversal.pagerank",
}


__getattr__, __dir__ = lazily(__name__, _HOMES)
