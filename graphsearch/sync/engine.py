"""The engine, blocking, and what works with it: ingestion, feedback, curation and context blocks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack

from graphsearch import engine, feedback, protocols
from graphsearch.access.gate import Gate
from graphsearch.context import builder
from graphsearch.context.builder import ContextBlock, with_search_options
from graphsearch.context.tokens import DEFAULT_BUDGETS, WorkType
from graphsearch.curation import curator
from graphsearch.curation.health import Growth, Health
from graphsearch.federation import engine as federation
from graphsearch.ingest import ingestor
from graphsearch.ingest.resolve.resolution import ResolutionCounts
from graphsearch.ingest.write.limits import DEFAULT_LIMITS, IngestLimits
from graphsearch.ingest.write.options import IngestOptions
from graphsearch.modes.mode import Mode
from graphsearch.modes.options import UngatedSearchOptions
from graphsearch.modes.registry import DEFAULT_MODES
from graphsearch.protocols import LLM, Embedder, Extractor, TokenCounter, Traversal
from graphsearch.recall.options import RecallScoring
from graphsearch.scoring.triplet_score import ScoringOptions
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.facade import Facade, behind
from graphsearch.sync.stores import GraphStore


class GraphSearchEngine(Facade[engine.GraphSearchEngine]):
    """As `graphsearch.GraphSearchEngine`, for a blocking store. The other parts are the asynchronous ones."""

    def __init__(
        self,
        *,
        store: GraphStore,
        embedder: Embedder | Callable[[str], Awaitable[Sequence[float]]] | None = None,
        llm: LLM | None = None,
        traversal: Traversal | None = None,
        modes: Mapping[str, Mode] = DEFAULT_MODES,
        scoring: ScoringOptions | None = None,
        recall_scoring: RecallScoring | None = None,
    ) -> None:
        self.asynchronous = engine.GraphSearchEngine(
            store=behind(store),
            embedder=embedder,
            llm=llm,
            traversal=traversal,
            modes=modes,
            scoring=scoring,
            recall_scoring=recall_scoring,
        )

    @property
    def store(self) -> GraphStore:
        """The store."""
        return GraphStore.of(self.asynchronous.store)

    @property
    def embedder(self) -> Embedder | None:
        """The embedder of questions."""
        return self.asynchronous.embedder

    @property
    def llm(self) -> LLM | None:
        """The language model of the modes."""
        return self.asynchronous.llm

    @property
    def traversal(self) -> Traversal:
        """The traversal of the modes."""
        return self.asynchronous.traversal

    @property
    def modes(self) -> Mapping[str, Mode]:
        """Search modes by name."""
        return self.asynchronous.modes

    @property
    def scoring(self) -> ScoringOptions:
        """The parameters of the triplet score."""
        return self.asynchronous.scoring

    @property
    def recall_scoring(self) -> RecallScoring:
        """The parameters of the memory score."""
        return self.asynchronous.recall_scoring


class FederatedEngine(Facade[federation.FederatedEngine]):
    """As `graphsearch.federation.FederatedEngine`, for blocking engines."""

    def __init__(self, engines: Sequence[GraphSearchEngine]) -> None:
        self.asynchronous = federation.FederatedEngine([behind(engine) for engine in engines])

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

    def __init__(
        self,
        engine: GraphSearchEngine,
        *,
        extractor: Extractor | None = None,
        judge: LLM | None = None,
        gate: Gate | None = None,
        facts: bool | None = None,
        limits: IngestLimits = DEFAULT_LIMITS,
        options: IngestOptions | None = None,
    ) -> None:
        self.asynchronous = ingestor.Ingestor(
            behind(engine),
            extractor=extractor,
            judge=judge,
            gate=gate,
            facts=facts,
            limits=limits,
            options=options,
        )


class FeedbackService(Facade[feedback.FeedbackService]):
    """As `graphsearch.FeedbackService`."""

    def __init__(self, store: GraphStore) -> None:
        self.asynchronous = feedback.FeedbackService(behind(store))


class Curator(Facade[curator.Curator]):
    """As `graphsearch.Curator`."""

    def __init__(self, engine: GraphSearchEngine, *, gate: Gate | None = None) -> None:
        self.asynchronous = curator.Curator(behind(engine), gate=gate)

    def graph_health(
        self,
        *,
        scopes: Iterable[GraphStore] | None = None,
        resolutions: ResolutionCounts | None = None,
        earlier: Growth | None = None,
    ) -> Health:
        """Report the health of the graph; ``scopes`` are blocking stores, all else is as in `graphsearch.Curator`."""
        stores = None if scopes is None else [behind(store) for store in scopes]
        return BRIDGE.run(self.asynchronous.graph_health(scopes=stores, resolutions=resolutions, earlier=earlier))


class ContextBuilder(Facade[builder.ContextBuilder]):
    """As `graphsearch.context.ContextBuilder`."""

    def __init__(
        self,
        engine: GraphSearchEngine | FederatedEngine,
        *,
        counter: TokenCounter | None = None,
        budgets: Mapping[WorkType, int] | None = None,
        log: GraphStore | Sequence[GraphStore] | Literal["engine"] | None = "engine",
    ) -> None:
        asked: Any = engine  # a facade of either class
        answering, logs = behind(asked), _behind_log(log)
        self.asynchronous = builder.ContextBuilder(answering, counter=counter, budgets=budgets, log=logs)


def _behind_log(
    log: GraphStore | Sequence[GraphStore] | Literal["engine"] | None,
) -> protocols.GraphStore | Sequence[protocols.GraphStore] | Literal["engine"] | None:
    if log is None or isinstance(log, str):
        return log
    return behind(log) if isinstance(log, Facade) else [behind(each) for each in log]


@with_search_options
def build_graph_context_block(
    engine: GraphSearchEngine,
    query: str,
    *,
    gate: Gate,
    session_id: str,
    budget: int = DEFAULT_BUDGETS[WorkType.UNKNOWN],
    counter: TokenCounter | None = None,
    **options: Unpack[UngatedSearchOptions],
) -> ContextBlock:
    """As `graphsearch.context.build_graph_context_block`: one block of triplets alone."""
    building = builder.build_graph_context_block(
        behind(engine),
        query,
        gate=gate,
        session_id=session_id,
        budget=budget,
        counter=counter,
        **options,
    )
    return BRIDGE.run(building)
