"""The search engine: composes a store with the optional parts, and answers questions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import MappingProxyType
from typing import Final, Unpack, cast

import attrs
import numpy as np

from graphsearch._support.observing import all_observed
from graphsearch._support.timing import Stopwatch
from graphsearch._support.verbs import takes
from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, ReadingOptions, Request, When, reading
from graphsearch.access.references import EntityRef, resolve
from graphsearch.embedders import as_embedder
from graphsearch.embedders.base import query_vector
from graphsearch.errors import EmbeddingModelError, InvalidInputError, UnknownModeError
from graphsearch.explaining.elements import (
    ExplainRequest,
    Explanation,
    explain_entity,
    explain_memory,
    explain_relation,
    pointed_at,
)
from graphsearch.llms.function import AskFunction, as_llm
from graphsearch.model import ElementKind, Scope, Triplet, Vector
from graphsearch.modes.mode import (
    GraphCompletion,
    Mode,
    Neighborhood,
    Question,
    TripletCompletion,
    embedded,
    hydrate,
    require,
    require_gate,
    understood,
)
from graphsearch.modes.natural_language import NaturalLanguage
from graphsearch.modes.result import SearchMode, SearchRequest, SearchResult
from graphsearch.modes.summary import Summarising
from graphsearch.protocols import LLM, Embedder, Traversal
from graphsearch.question.understanding import QuestionVectors, Understanding, at_time_asked
from graphsearch.ranking.entity_ranking import RankRequest, RankResult, rank_entities
from graphsearch.ranking.recall_result import RecallRequest, RecallResult, RecallScoring, for_embedder
from graphsearch.ranking.recaller import recall
from graphsearch.ranking.retrieval import Caches, Parts, find_nearby
from graphsearch.ranking.triplet_score import ScoringOptions, best_triplets
from graphsearch.stores.graph import GraphStore
from graphsearch.traversal.pagerank import PersonalizedPageRank
from graphsearch.traversal.paths import GraphPath, KHopTraversal, best_path

DEFAULT_MODES: Final[Mapping[str, Mode]] = MappingProxyType(
    {
        SearchMode.GRAPH_COMPLETION.value: GraphCompletion(),
        SearchMode.TRIPLET_COMPLETION.value: TripletCompletion(),
        SearchMode.NEIGHBORHOOD.value: Neighborhood(),
        SearchMode.NATURAL_LANGUAGE.value: NaturalLanguage(),
        SearchMode.SUMMARY.value: Summarising(),
    }
)


def mode_name(name: str, modes: Mapping[str, Mode]) -> str:
    """The name that a mode is registered under, in any case; also by aliases of `SearchMode`.

    Raises `UnknownModeError`.
    """
    if name in modes:
        return name
    wanted = str(SearchMode.__members__.get(name.upper(), name.lower()))
    if wanted in modes:
        return wanted
    known = ", ".join(sorted(modes))
    raise UnknownModeError(f"there is no mode {name!r}; there are: {known}")


TRAVERSALS: Final = ("k_hop", "pagerank")


@all_observed
class Engine(ABC):
    """Answer questions to one scope, or to several: what `GraphSearchEngine` and `FederatedEngine` share.

    A question is prepared (`_prepare`), which may take long, and then answered in one snapshot (`_reading`), where its
    meaning is found first. A subclass opens what is read, and may change each result within its snapshot.
    """

    def __init__(
        self,
        store: GraphStore,
        *,
        embedder: Embedder | Callable[[str], Awaitable[Sequence[float]]] | None,
        llm: LLM | AskFunction | None,
        traversal: Traversal | str | None,
        modes: Mapping[str, Mode],
        scoring: ScoringOptions | None,
        recall_scoring: RecallScoring | None,
    ) -> None:
        self.embedder = as_embedder(embedder)
        self.llm = None if llm is None else as_llm(llm)
        self.traversal = _as_traversal("k_hop" if traversal is None else traversal, store)
        self.modes = modes
        self.scoring = scoring or ScoringOptions()
        self.recall_scoring = for_embedder(recall_scoring or RecallScoring(), self.embedder)
        self._kept = Caches(self.embedder)

    @property
    @abstractmethod
    def stores(self) -> tuple[GraphStore, ...]:
        """The stores that are searched, in the order of the names of their scopes."""

    @abstractmethod
    def _open(self, **options: Unpack[ReadingOptions]) -> AbstractAsyncContextManager[Reader]:
        """A snapshot for one question: the only place where an answer opens one."""

    @takes(SearchRequest)
    async def search(self, request: SearchRequest) -> SearchResult:
        """Find the triplets that answer a question best.

        Raises `InvalidInputError`, `UnknownModeError`, `MissingDependencyError`, `UnknownScopeError` that names a scope
        where nothing was written, `EmbeddingModelError`, and what the store, the embedder and the language model raise.
        """
        stopwatch = Stopwatch()
        with stopwatch.stage("total"):
            question = await self._prepare(request, stopwatch)
            async with self._reading(question) as (question, reader):
                found = await self._search(question, at_time_asked(question.meaning, reader))
            return await self._conclude(found, question)

    @takes(RecallRequest)
    async def recall(self, request: RecallRequest) -> RecallResult:
        """Recall the memories that answer a question best.

        With an embedder, memories are also searched by meaning if the scope has vectors. Raises `InvalidInputError`,
        `UnknownScopeError`, `EmbeddingModelError`, and what the store and the embedder raise.
        """
        stopwatch = Stopwatch()
        with stopwatch.stage("total"):
            vector = await self._query_vector(request, stopwatch)
            async with self._open_for(request) as reader:
                return await self._recall(request, vector, reader, stopwatch)

    async def search_and_recall(
        self, search: SearchRequest, recall: RecallRequest
    ) -> tuple[SearchResult, RecallResult]:
        """Run `search` and `recall` of one question: one embedding, one snapshot, one gate.

        Gate and times are those of ``search``. Both results have the same ``denied``: the distinct elements hidden from
        either. Raises what `search` raises.
        """
        stopwatch, second = Stopwatch(), Stopwatch()
        with stopwatch.stage("total"):
            question = await self._prepare(search, stopwatch)
            vector = None if question.vectors else await self._query_vector(recall, second)
            async with self._reading(question) as (question, reader):
                found = await self._search(question, at_time_asked(question.meaning, reader))
                with second.stage("total"):
                    vector = question.vector if vector is None else vector
                    recalled = await self._recall(recall, vector, _at_time_of(search, question, reader), second)
            found = await self._conclude(found, question)
        return attrs.evolve(found, denied=recalled.denied, denied_by=recalled.denied_by), recalled

    @takes(RankRequest)
    async def rank_entities(self, request: RankRequest) -> RankResult:
        """Rank the entities that answer a question.

        With an embedder, also by meaning. The feedback influence φ is that of ``scoring``. Raises `InvalidInputError`,
        `UnknownScopeError`, `EmbeddingModelError`, and what the store and the embedder raise.
        """
        parts = self._parts()
        with parts.stopwatch.stage("total"):
            vectors = await embedded(request, parts)
            async with self._understood(request, vectors, parts) as (meaning, reader):
                return await self._rank(request, meaning, parts, reader)

    # -- prepare -------------------------------------------------------------------------------------------------

    async def _prepare(self, request: SearchRequest, stopwatch: Stopwatch) -> Question:
        """Let the mode prepare a question, and embed it, before a snapshot is opened: a slow model holds none."""
        mode = self.modes[mode_name(request.mode, self.modes)]
        if "llm" in mode.needs:
            require("llm", self.llm, request.mode)
            require_gate(request.gate, request.mode)
        if "embedder" in mode.needs:
            require("embedder", self.embedder, request.mode)
        parts = self._parts(stopwatch, request.traversal)
        question = await mode.prepare(Question(mode=mode, request=request, parts=parts))
        if "embedder" not in mode.needs | mode.uses:
            return question
        return attrs.evolve(question, vectors=await embedded(question.request, parts))

    def _parts(self, stopwatch: Stopwatch | None = None, traversal: Traversal | str | None = None) -> Parts:
        """The parts for one question."""
        return Parts(
            open=self._open_for,
            traversal=self.traversal if traversal is None else _as_traversal(traversal, self.stores[0]),
            scoring=self.scoring,
            caches=self._caches,
            embedder=self.embedder,
            llm=self.llm,
            stopwatch=stopwatch or Stopwatch(),
        )

    @property
    def _caches(self) -> Caches:
        """The caches of the present embedder, which may have been replaced since the last question."""
        if self._kept.embedder is not self.embedder:
            self._kept = Caches(self.embedder)
        return self._kept

    async def _query_vector(self, request: RecallRequest, stopwatch: Stopwatch) -> Vector | None:
        """The embedding of the query, if the semantic channel is requested and there is an embedder."""
        if self.embedder is None or "semantic" not in request.channels:
            return None
        return await query_vector(request.query, self.embedder, stopwatch)

    # -- find ----------------------------------------------------------------------------------------------------

    def _open_for(self, request: Request) -> AbstractAsyncContextManager[Reader]:
        """A snapshot for a request, read through its gate."""
        phrases = self._caches.phrases
        options: ReadingOptions = {**request.reading(), "embed": None if phrases is None else phrases.of_phrases}
        return self._open(**options)

    @asynccontextmanager
    async def _understood(
        self, request: Request, vectors: QuestionVectors | None, parts: Parts, *, interprets: bool = True
    ) -> AsyncIterator[tuple[Understanding | None, Reader]]:
        """Open a snapshot for a request, and find what its question means there; a blank one means nothing."""
        async with self._open_for(request) as reader:
            await self._require_same_model(reader, vectors)
            yield await understood(request, vectors, parts, reader) if interprets else None, reader

    @asynccontextmanager
    async def _reading(self, question: Question) -> AsyncIterator[tuple[Question, Reader]]:
        """Open the snapshot of a question, and find what it means; the reader is at the time of the request."""
        asked = (question.request, question.vectors, question.parts)
        async with self._understood(*asked, interprets=question.mode.interprets) as (meaning, reader):
            yield attrs.evolve(question, meaning=meaning), reader

    async def _search(self, question: Question, reader: Reader) -> SearchResult:
        return await hydrate(await question.mode.find(question, reader), question, reader)

    async def _conclude(self, found: SearchResult, question: Question) -> SearchResult:
        return await question.mode.conclude(found, question)

    async def _recall(
        self, request: RecallRequest, vector: Vector | None, reader: Reader, stopwatch: Stopwatch
    ) -> RecallResult:
        await self._require_same_model(reader, vector)
        return await recall(request, vector, self.recall_scoring, reader, stopwatch)

    async def _rank(
        self, request: RankRequest, meaning: Understanding | None, parts: Parts, reader: Reader
    ) -> RankResult:
        return await rank_entities(request, meaning, parts, reader)

    async def _require_same_model(self, reader: Reader, embedded: object | None) -> None:
        """Refuse a question that is embedded by another model than what is read."""
        bound = None if embedded is None else await reader.embedder_name()
        if self.embedder is not None and bound is not None and bound != self.embedder.name:
            raise EmbeddingModelError(
                f"the vectors of {reader.scope} were made by {bound!r}, and this engine embeds with"
                f" {self.embedder.name!r}: pass the first, or ingest again into another project"
            )


@all_observed
class GraphSearchEngine(Engine):
    """Searches one scope of a store.

    * ``store``: a scoped store.
    * ``embedder``: an `Embedder`, or a plain ``async def embed(text)``; only some modes need it.
    * ``llm``: anything with ``async ask(text) -> str``, or such a function; only some modes need it.
    * ``traversal``: how modes walk the graph: "k_hop" (the default), "pagerank", or an object such as
      `PersonalizedPageRank`.
    * ``modes``: search modes by name; pass ``{**DEFAULT_MODES, "mine": MyMode()}`` to add one.
    * ``scoring``: the constants of the score of triplets; ``recall_scoring``: those of the score of memories.

    The engine has no policy of its own: it shows everything unless a ``gate`` is passed. For output to people or models
    use `graphsearch.context.ContextBuilder`, which requires one. Raises `InvalidInputError` for a part that is none.
    """

    def __init__(
        self,
        *,
        store: GraphStore,
        embedder: Embedder | Callable[[str], Awaitable[Sequence[float]]] | None = None,
        llm: LLM | AskFunction | None = None,
        traversal: Traversal | str | None = None,
        modes: Mapping[str, Mode] = DEFAULT_MODES,
        scoring: ScoringOptions | None = None,
        recall_scoring: RecallScoring | None = None,
    ) -> None:
        self.store = scoped(store)
        super().__init__(
            store,
            embedder=embedder,
            llm=llm,
            traversal=traversal,
            modes=modes,
            scoring=scoring,
            recall_scoring=recall_scoring,
        )

    @property
    def stores(self) -> tuple[GraphStore, ...]:
        """The store, as the only one that is searched."""
        return (self.store,)

    def _open(self, **options: Unpack[ReadingOptions]) -> AbstractAsyncContextManager[Reader]:
        return reading(self.store, documents=self._caches.documents[self.store.scope], **options)

    @takes(ExplainRequest)
    async def explain(self, request: ExplainRequest) -> Explanation:
        """Explain why a triplet, memory or entity is, or is not, in the result of the same options for a question.

        Raises what `search`, `recall` and `rank_entities` raise, and `UnknownElementError` for an element that does not
        exist or is not visible.
        """
        element = await pointed_at(request.element, self.store, request.gate)
        if element.kind is ElementKind.MEMORY:
            recalled = request.of(RecallRequest, element.kind)
            vector = await self._query_vector(recalled, Stopwatch())
            async with self._open_for(recalled) as reader:
                await self._require_same_model(reader, vector)
                return await explain_memory(
                    element.id,
                    recalled,
                    lambda request, scoring: recall(request, vector, scoring, reader, Stopwatch()),
                    self.recall_scoring,
                    reader,
                )
        if element.kind is ElementKind.ENTITY:
            ranked, parts = request.of(RankRequest, element.kind), self._parts()
            async with self._understood(ranked, await embedded(ranked, parts), parts) as (meaning, reader):
                return await explain_entity(element, ranked, meaning, parts, reader)
        question = await self._prepare(request.of(SearchRequest, element.kind), Stopwatch())
        async with self._reading(question) as (question, reader):
            return await explain_relation(element, question, at_time_asked(question.meaning, reader))

    async def neighbors(
        self,
        entity: EntityRef,
        *,
        depth: int = 1,
        limit: int = 25,
        gate: Gate | None = None,
        **when: Unpack[When],
    ) -> tuple[Triplet, ...]:
        """Show the relations around an entity, with their scores.

        They are scored by hops. Raises `UnknownElementError`.
        """
        asked = SearchRequest(query="", limit=limit, depth=depth, **when)
        async with reading(self.store, gate=gate, **when) as reader:
            seeds = await reader.locate([await resolve(entity, reader)])
            found = await find_nearby(seeds, asked.depth, self._parts(), reader)
            return tuple(await best_triplets(found, limit, reader))

    async def path(
        self,
        source: EntityRef,
        target: EntityRef,
        *,
        max_hops: int = 4,
        gate: Gate | None = None,
        **when: Unpack[When],
    ) -> GraphPath | None:
        """Find the shortest path between two entities, the strongest among the shortest.

        None if there is none within ``max_hops``. Raises `UnknownElementError` for an end that does not exist or is not
        visible.
        """
        async with reading(self.store, gate=gate, **when) as reader:
            start, goal = [await reader.locate([await resolve(end, reader)]) for end in (source, target)]
            trail = await best_path(start.keys, goal.keys, max_hops=max_hops, reader=reader)
            if trail is None:
                return None
            dtype = start.keys.dtype
            entities = await reader.entities(np.array(trail.entities, dtype=dtype))
            relations = await reader.relations(np.array(trail.relations, dtype=dtype)) if trail.relations else []
            return GraphPath(entities=tuple(entities), relations=tuple(relations), strength=trail.strength)


def scoped(store: GraphStore) -> GraphStore:
    """The store, if it is the graph of one scope; else raise `InvalidInputError`."""
    if not isinstance(getattr(store, "scope", None), Scope):
        unscoped = hasattr(store, "with_scope")
        how = "pass store.with_scope(org_id=…, project_id=…)" if unscoped else f"not {type(store).__name__}"
        raise InvalidInputError("store", [f"must be the graph of one scope: {how}"])
    return store


def _at_time_of(request: SearchRequest, question: Question, reader: Reader) -> Reader:
    """A reader at the time of the original request: a mode may have prepared one for another time."""
    prepared = question.request
    if (request.as_of, request.since) == (prepared.as_of, prepared.since):
        return reader
    return reader.viewing(attrs.evolve(reader.view, as_of=request.as_of or reader.now, since=request.since))


def _as_traversal(part: Traversal | str, store: GraphStore) -> Traversal:
    """The traversal of a name, or a user's own. Raises `InvalidInputError` for anything else, and for a class."""
    if isinstance(part, str) and part in TRAVERSALS:
        return KHopTraversal(store) if part == TRAVERSALS[0] else PersonalizedPageRank()
    if hasattr(part, "traverse") and not isinstance(part, type):
        return cast("Traversal", part)
    what = f"{part.__name__}, a class: pass {part.__name__}(…)" if isinstance(part, type) else repr(part)
    raise InvalidInputError("traversal", [f"must be {' or '.join(TRAVERSALS)}, or have async traverse(…), not {what}"])
