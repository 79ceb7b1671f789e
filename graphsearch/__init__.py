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
0.5083  Ada     works_at  Globex  Ada works at Globex.

``help(engine.search)`` shows every option. `graphsearch.sync` has the same names, blocking.
"""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch._support.version import __version__ as __version__
    from graphsearch.access.gate import ALLOW_ALL as ALLOW_ALL
    from graphsearch.access.gate import Gate as Gate
    from graphsearch.authz import CedarAuthorizer as CedarAuthorizer
    from graphsearch.context import ContextBlock as ContextBlock
    from graphsearch.context import ContextBuilder as ContextBuilder
    from graphsearch.context import ContextRequest as ContextRequest
    from graphsearch.context import WorkType as WorkType
    from graphsearch.curation import Curator as Curator
    from graphsearch.embedders import FunctionEmbedder as FunctionEmbedder
    from graphsearch.embedders import MiniLMEmbedder as MiniLMEmbedder
    from graphsearch.embedders import VoyageEmbedder as VoyageEmbedder
    from graphsearch.embedders import WordLlamaEmbedder as WordLlamaEmbedder
    from graphsearch.engine import DEFAULT_MODES as DEFAULT_MODES
    from graphsearch.engine import GraphSearchEngine as GraphSearchEngine
    from graphsearch.errors import GraphSearchError as GraphSearchError
    from graphsearch.explaining.elements import ExplainRequest as ExplainRequest
    from graphsearch.explaining.elements import Explanation as Explanation
    from graphsearch.federation.engine import FederatedEngine as FederatedEngine
    from graphsearch.feedback import FeedbackService as FeedbackService
    from graphsearch.ingest import CombinedExtractor as CombinedExtractor
    from graphsearch.ingest import Ingestor as Ingestor
    from graphsearch.ingest import LLMExtractor as LLMExtractor
    from graphsearch.ingest import TextExtractor as TextExtractor
    from graphsearch.llms import AnthropicLLM as AnthropicLLM
    from graphsearch.llms import OpenAILLM as OpenAILLM
    from graphsearch.model import Action as Action
    from graphsearch.model import Batch as Batch
    from graphsearch.model import Claim as Claim
    from graphsearch.model import EdgeKind as EdgeKind
    from graphsearch.model import Entity as Entity
    from graphsearch.model import Fact as Fact
    from graphsearch.model import Memory as Memory
    from graphsearch.model import Mention as Mention
    from graphsearch.model import NamedEntity as NamedEntity
    from graphsearch.model import Outcome as Outcome
    from graphsearch.model import Principal as Principal
    from graphsearch.model import Relation as Relation
    from graphsearch.model import RelationType as RelationType
    from graphsearch.model import Scope as Scope
    from graphsearch.model import ScorePart as ScorePart
    from graphsearch.model import Span as Span
    from graphsearch.model import Triplet as Triplet
    from graphsearch.modes.natural_language import NaturalLanguage as NaturalLanguage
    from graphsearch.modes.result import GraphQuery as GraphQuery
    from graphsearch.modes.result import SearchMode as SearchMode
    from graphsearch.modes.result import SearchRequest as SearchRequest
    from graphsearch.modes.result import SearchResult as SearchResult
    from graphsearch.modes.result import Summary as Summary
    from graphsearch.modes.summary import Summarising as Summarising
    from graphsearch.moving import export_scope as export_scope
    from graphsearch.moving import import_export as import_export
    from graphsearch.moving import import_scope as import_scope
    from graphsearch.protocols import Authorizer as Authorizer
    from graphsearch.protocols import Extractor as Extractor
    from graphsearch.ranking.entity_ranking import FoundEntity as FoundEntity
    from graphsearch.ranking.entity_ranking import Ranking as Ranking
    from graphsearch.ranking.entity_ranking import RankRequest as RankRequest
    from graphsearch.ranking.entity_ranking import RankResult as RankResult
    from graphsearch.ranking.recall_result import RecalledMemory as RecalledMemory
    from graphsearch.ranking.recall_result import RecallRequest as RecallRequest
    from graphsearch.ranking.recall_result import RecallResult as RecallResult
    from graphsearch.ranking.recall_result import RecallScoring as RecallScoring
    from graphsearch.ranking.recall_result import Workload as Workload
    from graphsearch.ranking.triplet_score import ScoringOptions as ScoringOptions
    from graphsearch.ranking.triplet_score import score_triplets as score_triplets
    from graphsearch.reembedding import estimate_reembedding as estimate_reembedding
    from graphsearch.reembedding import reembed as reembed
    from graphsearch.stores import EmbeddedPostgres as EmbeddedPostgres
    from graphsearch.stores import InMemoryGraphStore as InMemoryGraphStore
    from graphsearch.stores import PostgresGraphStore as PostgresGraphStore
    from graphsearch.stores import migrate as migrate
    from graphsearch.traversal.pagerank import PersonalizedPageRank as PersonalizedPageRank
    from graphsearch.traversal.paths import GraphPath as GraphPath
    from graphsearch.traversal.paths import KHopTraversal as KHopTraversal

__getattr__, __dir__ = lazily(__name__)
