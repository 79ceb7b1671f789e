"""The engine, blocking, and what works with it: ingestion, feedback, curation and context blocks."""

from __future__ import annotations

from collections.abc import Mapping

from graphsearch import engine, feedback
from graphsearch.context import builder
from graphsearch.curation import curator
from graphsearch.federation import engine as federation
from graphsearch.ingest import ingestor
from graphsearch.modes.mode import Mode
from graphsearch.protocols import LLM, Embedder, Traversal
from graphsearch.ranking.recall_result import RecallScoring
from graphsearch.ranking.triplet_score import ScoringOptions
from graphsearch.sync.facade import Facade, blocking
from graphsearch.sync.stores import GraphStore


class GraphSearchEngine(Facade[engine.GraphSearchEngine]):
    """As `graphsearch.GraphSearchEngine`, for a blocking store. The other parts are the asynchronous ones."""

    embedder: Embedder | None
    llm: LLM | None
    traversal: Traversal
    modes: Mapping[str, Mode]
    scoring: ScoringOptions
    recall_scoring: RecallScoring

    @property
    def store(self) -> GraphStore:
        """The store."""
        return GraphStore.of(self.asynchronous.store)


class FederatedEngine(Facade[federation.FederatedEngine]):
    """As `graphsearch.federation.engine.FederatedEngine`, for blocking engines."""

    scoring: ScoringOptions
    recall_scoring: RecallScoring

    @property
    def engines(self) -> tuple[GraphSearchEngine, ...]:
        """The engines, in the order of the names of their scopes."""
        return tuple(GraphSearchEngine.of(engine) for engine in self.asynchronous.engines)

    @property
    def stores(self) -> tuple[GraphStore, ...]:
        """The stores, in the same order."""
        return tuple(GraphStore.of(store) for store in self.asynchronous.stores)


class Ingestor(Facade[ingestor.Ingestor]):
    """As `graphsearch.Ingestor`. ``progress`` is called from another thread."""


class FeedbackService(Facade[feedback.FeedbackService]):
    """As `graphsearch.FeedbackService`."""


class Curator(Facade[curator.Curator]):
    """As `graphsearch.Curator`."""


class ContextBuilder(Facade[builder.ContextBuilder]):
    """As `graphsearch.context.ContextBuilder`."""


build_graph_context_block = blocking(builder.build_graph_context_block)
