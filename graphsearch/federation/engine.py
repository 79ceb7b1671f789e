"""One question to several scopes of one organisation, each behind its own gate: one ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Unpack

from graphsearch._support.observing import all_observed
from graphsearch._support.options import with_options
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import EmbeddingModelError
from graphsearch.federation.joint_engine import JointEngine
from graphsearch.model import Scope
from graphsearch.model import validation as check
from graphsearch.modes.options import SearchOptions, SearchRequest
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import GraphStore
from graphsearch.ranking.options import RankOptions, RankRequest
from graphsearch.ranking.result import RankResult
from graphsearch.recall.options import RecallOptions, RecallRequest, RecallScoring
from graphsearch.recall.result import RecallResult
from graphsearch.scoring.triplet_score import ScoringOptions


@all_observed
class FederatedEngine:
    """Searches several scopes of one organisation as one, and writes to none of them.

    ``engines``: one for each scope, in any order. They must embed with the same model; traversal, language model and
    constants are those of the first by the name of its scope. Answers of a single engine are that engine's.

    Each scope is read through the gate on its own. A scope of which the principal may see nothing takes no part:
    answers are those of the others, without it. Entities and relations of the same id are one. Each triplet, memory and
    entity of an answer states its ``scopes``.

    Raises `InvalidInputError` for no scope, for one scope twice, and for scopes of several organisations, and
    `EmbeddingModelError` for engines with different models.
    """

    def __init__(self, engines: Sequence[GraphSearchEngine]) -> None:
        scopes = [engine.store.scope for engine in engines]
        orgs = sorted({scope.org_id for scope in scopes})
        twice = sorted(str(scope) for scope, number in Counter(scopes).items() if number > 1)
        check.refuse(
            "federated search",
            None if scopes else "name a scope at least",
            f"{', '.join(twice)}: name each scope once" if twice else None,
            f"scopes must be of one organisation, not of {', '.join(orgs)}" if len(orgs) > 1 else None,
        )
        self.engines = tuple(sorted(engines, key=lambda engine: engine.store.scope))
        models = {engine.embedder.name if engine.embedder else None: engine.store.scope for engine in self.engines}
        if len(models) > 1:
            each = ", ".join(f"that of {scope} with {name!r}" for name, scope in models.items())
            raise EmbeddingModelError(f"engines must embed questions with one model: {each}")
        self._engine = JointEngine(self.engines)

    @property
    def scoring(self) -> ScoringOptions:
        """The constants of the score of triplets."""
        return self.engines[0].scoring

    @property
    def recall_scoring(self) -> RecallScoring:
        """The constants of the score of memories."""
        return self.engines[0].recall_scoring

    @property
    def stores(self) -> tuple[GraphStore, ...]:
        """The stores, in the order of the names of their scopes."""
        return tuple(engine.store for engine in self.engines)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes, in the order of their names."""
        return tuple(engine.store.scope for engine in self.engines)

    @with_options(SearchOptions, SearchRequest)
    async def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchResult:
        """As `GraphSearchEngine.search`; raises `UnknownScopeError` that names a scope where nothing was written."""
        return await self._engine.search(query, **options)

    @with_options(RecallOptions, RecallRequest)
    async def recall(self, query: str, **options: Unpack[RecallOptions]) -> RecallResult:
        """As `GraphSearchEngine.recall`; raises `UnknownScopeError` that names a scope where nothing was written."""
        return await self._engine.recall(query, **options)

    async def search_and_recall(
        self, query: str, *, search: SearchOptions, recall: RecallOptions
    ) -> tuple[SearchResult, RecallResult]:
        """As `GraphSearchEngine.search_and_recall`."""
        return await self._engine.search_and_recall(query, search=search, recall=recall)

    @with_options(RankOptions, RankRequest)
    async def rank_entities(self, query: str, **options: Unpack[RankOptions]) -> RankResult:
        """As `GraphSearchEngine.rank_entities`; raises `UnknownScopeError` likewise."""
        return await self._engine.rank_entities(query, **options)
