"""A graph kept in memory: exact, without a server, gone with the process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, TypeVar
from uuid import UUID

import numpy as np

from graphsearch._support.clock import SystemClock
from graphsearch.claims.naming import refuse_threshold
from graphsearch.columns import Codes, Edges, Expansion, Hits, Keys, Mentioned, Turns
from graphsearch.errors import EmbeddingModelError, UnknownScopeError
from graphsearch.model import (
    Batch,
    Claim,
    Community,
    Contradiction,
    ElementKind,
    ElementRef,
    Entity,
    FeedbackReport,
    Given,
    Group,
    Injection,
    Memory,
    MemoryLink,
    Mention,
    Merge,
    NameMatch,
    Outcome,
    OutcomeRecord,
    Relation,
    RelationType,
    Saying,
    Scope,
    SimilarName,
    SimilarPair,
    Statistics,
    UndoReport,
    Vector,
    View,
    WriteReport,
    validation,
)
from graphsearch.model.identity import snake_case
from graphsearch.model.signatures import Signature, SignatureTable
from graphsearch.protocols import Clock
from graphsearch.stores.in_memory import (
    feedback,
    linking,
    mentioning,
    merges,
    name_index,
    naming,
    partition,
    reading,
    relating,
    saying,
    write,
)
from graphsearch.stores.in_memory.memories import page_of_memories
from graphsearch.stores.in_memory.scoped import ScopedReads
from graphsearch.stores.in_memory.state import State
from graphsearch.stores.similarity import similar_pairs
from graphsearch.text.analyser import ENGLISH, Analyser

T = TypeVar("T")


class _Cell:
    """Where the state of one scope stands; None until something is written."""

    def __init__(self, analyser: Analyser) -> None:
        self.analyser = analyser
        self.state: State | None = None
        self.lock = Lock()


_PINNED: Final[ContextVar[Mapping[_Cell, State]]] = ContextVar("pinned", default=MappingProxyType({}))
"""The states that the snapshots of this task began with."""


class _Snapshot(AbstractAsyncContextManager[None]):
    """Pins the state of a cell for as long as it is open."""

    def __init__(self, cell: _Cell, state: State) -> None:
        self._pinned = {**_PINNED.get(), cell: state}

    async def __aenter__(self) -> None:
        self._token = _PINNED.set(self._pinned)

    async def __aexit__(self, *_: object) -> None:
        _PINNED.reset(self._token)


class InMemoryGraphStore:
    """Hands out scopes, and can do nothing else. All of its scopes are gone when it is.

    ``analyser`` makes the terms of texts and questions.
    """

    def __init__(self, *, clock: Clock | None = None, analyser: Analyser = ENGLISH) -> None:
        self._clock = clock or SystemClock()
        self._analyser = analyser
        self._cells: dict[Scope, _Cell] = {}

    def with_scope(self, *, org_id: str, project_id: str) -> ScopedMemoryStore:
        """The graph of one scope. Raises `InvalidInputError` when either part is empty."""
        scope = Scope(org_id, project_id)
        return ScopedMemoryStore(scope, self._clock, self._cells.setdefault(scope, _Cell(self._analyser)))


class ScopedMemoryStore(ScopedReads):
    """One scope of an `InMemoryGraphStore`; a `graphsearch.protocols.GraphStore`.

    A write makes a new state and puts it in the place of the old one, without ever awaiting in between; readers keep
    the state that they began with. A key is the row of an element in the order of ids.
    """

    def __init__(self, scope: Scope, clock: Clock, cell: _Cell) -> None:
        self.analyser = cell.analyser
        self._scope = scope
        self._clock = clock
        self._cell = cell

    @property
    def scope(self) -> Scope:
        """The scope that everything here is read from and written to."""
        return self._scope

    @property
    def clock(self) -> Clock:
        """Tells the time of ``created_at``."""
        return self._clock

    @property
    def _state(self) -> State:
        state = _PINNED.get().get(self._cell, self._cell.state)
        if state is None:
            raise self._unknown()
        return state

    def _unknown(self) -> UnknownScopeError:
        return UnknownScopeError(
            f"nothing was ever written to scope {self._scope}: check how it is spelt, or write to it first"
        )

    def _change(self, change: Callable[[State], tuple[State, T]], *, create: bool = False) -> T:
        """Replace the state. One writer at a time, and no reader sees half of it."""
        with self._cell.lock:
            state = self._cell.state or (State(analyser=self._cell.analyser) if create else None)
            if state is None:
                raise self._unknown()
            self._cell.state, result = change(state)
        return result

    def snapshot(self) -> AbstractAsyncContextManager[None]:
        """Everything read inside, in this task and those it starts, sees one state of the graph. May be nested."""
        return _Snapshot(self._cell, self._state)

    # -- writing -------------------------------------------------------------------------------------------------

    async def bind_embedder(self, name: str, dimensions: int) -> None:
        """State whose vectors this scope holds; `EmbeddingModelError` when it already holds another model's."""
        validation.refuse(
            "embedder", validation.text("name", name), validation.number("dimensions", dimensions, 1, 16_000)
        )

        def bind(state: State) -> tuple[State, None]:
            if state.embedder is None:
                return state.successor(embedder=name, dimensions=dimensions), None
            if (state.embedder, state.dimensions) == (name, dimensions):
                return state, None
            raise EmbeddingModelError(
                f"scope {self._scope} holds vectors of {state.embedder!r} ({state.dimensions} numbers), "
                f"not of {name!r} ({dimensions}): use that model, or write to another scope"
            )

        self._change(bind, create=True)

    async def register_types(self, types: Sequence[RelationType]) -> None:
        """Add or replace what is known of relation types in this scope."""
        now = self._clock.now()
        self._change(lambda state: (write.register_types(state, types, now), None), create=True)

    async def write(self, batch: Batch) -> WriteReport:
        """Write all of a batch, or nothing; see `Batch`. `InvalidInputError` names every dangling id."""
        now = self._clock.now()
        return self._change(lambda state: write.write(state, batch, now), create=True)

    async def forget(self, memory_ids: Sequence[str]) -> WriteReport:
        """Delete memories with their mentions and claims, and fold again what they touched."""
        now = self._clock.now()
        return self._change(lambda state: write.forget(state, memory_ids, now))

    async def delete(self, *, entities: Sequence[UUID] = (), relations: Sequence[UUID] = ()) -> WriteReport:
        """Delete entities with their relations, claims and mentions, and single relations with their claims."""
        now = self._clock.now()
        return self._change(lambda state: write.delete(state, entities, relations, now))

    async def remove_scope(self) -> None:
        """Delete everything in this scope, and that it ever was."""
        with self._cell.lock:
            self._cell.state = None

    async def merge(self, source_id: UUID, target_id: UUID, *, dry_run: bool = False) -> Merge:
        """Make of two entities one: what was said of the source is now said of the target, which has its names too."""
        now = self._clock.now()

        def change(state: State) -> tuple[State, Merge]:
            later, made = merges.merge_entities(state, source_id, target_id, now)
            return (state if dry_run else later), made

        return self._change(change)

    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Make two entities again of those that a merge made one."""
        now = self._clock.now()
        return self._change(lambda state: merges.undo_merge(state, merge_id, now))

    async def settle(self) -> int:
        """0: indexes are built when they are first asked for, and nothing is left for later."""
        self._change(lambda state: (state, None))
        return 0

    # -- whole elements ------------------------------------------------------------------------------------------

    async def embedder_name(self) -> str | None:
        """The model bound by `bind_embedder`, or None."""
        return self._state.embedder

    async def relation_types(self) -> Mapping[str, RelationType]:
        """What is known of types by name: the defaults and what was registered."""
        return self._state.types

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        return self._state.entities.those(ids)

    async def get_relations(self, ids: Sequence[UUID]) -> Sequence[Relation]:
        """Relations in the order of ``ids``, retracted ones too."""
        return self._state.relations.those(ids)

    async def get_memories(self, ids: Sequence[str]) -> Sequence[Memory]:
        """Memories in the order of ``ids``."""
        return self._state.memories.those(ids)

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """The elements behind keys, in their order."""
        return reading.behind(self._state, kind, keys)

    async def list_entities(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None
    ) -> Sequence[Entity]:
        """The next page in order of id."""
        wanted = None if type is None else snake_case(type)

        def keep(entity: Entity) -> bool:
            return wanted is None or entity.type == wanted

        return reading.page(self._state, ElementKind.ENTITY, after, limit, keep)

    async def list_relations(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None, entity_id: UUID | None = None
    ) -> Sequence[Relation]:
        """The next page in order of id, retracted ones left out; of one type and of one entity where they are given."""
        wanted = None if type is None else snake_case(type)

        def keep(relation: Relation) -> bool:
            return relation.retracted_at is None and (wanted is None or relation.type == wanted)

        if entity_id is not None:
            return reading.page_around(self._state, entity_id, after, limit, keep)
        return reading.page(self._state, ElementKind.RELATION, after, limit, keep)

    async def list_memories(
        self, *, after: str | None = None, limit: int = 100, source: str | None = None, session_id: str | None = None
    ) -> Sequence[Memory]:
        """The next page in order of id (by code point), of one source and of one session where they are given."""
        return page_of_memories(self._state, after, limit, source, session_id)

    async def list_mentions(
        self, *, memory_ids: Sequence[str] = (), entity_ids: Sequence[UUID] = ()
    ) -> Sequence[Mention]:
        """Mentions in any of the memories or of any of the entities, by (memory, entity, span)."""
        return reading.mentions(self._state, memory_ids, entity_ids)

    async def list_claims(
        self, *, memory_ids: Sequence[str] = (), relation_ids: Sequence[UUID] = (), groups: Sequence[Group] = ()
    ) -> Sequence[Claim]:
        """Claims of any of the memories, behind any of the relations or folded in any of the groups."""
        return reading.claims(self._state, memory_ids, relation_ids, groups)

    async def contradictions(self, *, limit: int = 100) -> Sequence[Contradiction]:
        """Unretracted relations of which two cannot both hold, by (source, type, ids)."""
        return linking.contradictions(self._state, limit)

    # -- linking -------------------------------------------------------------------------------------------------

    async def link_memories(self, links: Sequence[MemoryLink]) -> int:
        """Link memories; how many links are new. `InvalidInputError` names every memory that is not there."""
        now = self._clock.now()
        return self._change(lambda state: linking.link_memories(state, links, now))

    async def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        """Links from and to any of the memories, each once, by (from, to, type)."""
        return linking.memory_links(self._state, memory_ids)

    async def mark_distinct(self, pairs: Sequence[tuple[UUID, UUID]], *, distinct: bool = True) -> int:
        """Say of pairs of entities that they are two and no duplicates, or take that back; of how many it is news."""
        return self._change(lambda state: linking.mark_distinct(state, pairs, distinct=distinct))

    async def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        """Pairs marked as distinct with any of the entities, the lower id first, in order."""
        return linking.distinct_pairs(self._state, entity_ids)

    # -- finding -------------------------------------------------------------------------------------------------

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        """Entities whose name or alias equals one of ``names``, both normalised and case-folded."""
        state = self._state
        return name_index.find_names(state.naming.index, names, state.entities.items)

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        """Entities one of whose names has one of ``words``, or with ``prefix`` a word that starts with one of them."""
        state = self._state
        return name_index.find_words(state.naming.index, words, state.entities.items, prefix=prefix, limit=limit)

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        """For each of ``names`` the entities with a similar name or alias, best first, ties by id."""
        return name_index.similar_names(self._state.naming.index, names, threshold, limit)

    async def similar_pairs(self, *, threshold: float, limit: int) -> Sequence[SimilarPair]:
        """Pairs of entities of one type with similar names, best first, ties by ids."""
        refuse_threshold(threshold, limit)
        state = self._state
        return similar_pairs(
            state.naming.index.entities,
            lambda key: state.entities.items[key].type,
            lambda pair: pair[1] in state.distinct.get(pair[0], ()),
            threshold,
            limit,
        )

    async def given(self, ids: Sequence[UUID]) -> Sequence[Given]:
        """Entities as they were given, in the order of ``ids``."""
        return naming.given(self._state.naming, await self.get_entities(ids))

    async def sayings(
        self, entity_ids: Sequence[UUID], *, names: Sequence[str] | None = None, limit: int
    ) -> Sequence[Saying]:
        """What mentions call entities, by (entity, surface), each with the first ``limit`` of its memories."""
        return saying.sayings(self._state, entity_ids, names, limit)

    async def merges(self, entity_ids: Sequence[UUID] = ()) -> Sequence[Merge]:
        """Merges, of any of the entities where some are given, in the order they were made."""
        return merges.merges(self._state, entity_ids)

    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        """The nearest elements of a kind by cosine distance, ties by key."""
        return reading.nearest(self._state, kind, vector, limit, view)

    async def search_lexical(self, kind: ElementKind, query: str, *, limit: int, view: View) -> Hits:
        """Elements of a kind by the BM25 of their text, best first, ties by key; any text is a valid query."""
        return reading.lexical(self._state, kind, query, limit, view)

    async def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        """The entities of these ids that hold in the view, in order of key."""
        return reading.locate(self._state, ids, view)

    # -- walking -------------------------------------------------------------------------------------------------

    async def expand(self, keys: Keys, *, fan_out: int, view: View) -> Expansion:
        """The relations of a frontier that pass the view, strongest first: ``fan_out`` an entity and direction."""
        return reading.expand(self._state, keys, fan_out, view)

    async def related(self, keys: Keys, *, view: View) -> Expansion:
        """Relations as steps from their source to their target, in the order of their keys, in view or not."""
        return relating.related(self._state, keys, view)

    async def unembedded_facts(self, *, after: UUID | None = None, limit: int = 100) -> Sequence[Relation]:
        """The next page, in order of id, of unretracted relations with a fact that has no vector."""
        return relating.unembedded_facts(self._state, after, limit)

    async def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        """What lies one mention away: the memories that mention entities, or the entities that memories mention."""
        return mentioning.mentioned(self._state, kind, keys, limit, view)

    async def turns(self, keys: Keys, *, view: View) -> Turns:
        """The memories right before and right after each in its session, in order of (position, id)."""
        return mentioning.turns(self._state, keys, view)

    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        """How many relations of these entities the view leaves out, by the first reason that fits."""
        return reading.left_out(self._state, keys, view)

    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        """The content of signature codes."""
        known = self._state.signatures
        return {code: signature for code in codes if (signature := known.get(code))}

    async def shared_signatures(self) -> Codes:
        """Codes of the signatures that are shared, in order."""
        return np.flatnonzero(self.signature_table().shared)

    def signature_table(self) -> SignatureTable:
        """All signatures of this scope by code."""
        state = self._state
        return state.derive(SignatureTable.by_code, state.signatures, state.types)

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of entities."""
        return self._ids(ElementKind.ENTITY, keys)

    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of relations."""
        return self._ids(ElementKind.RELATION, keys)

    def memory_ids(self, keys: Keys) -> Sequence[str]:
        """The ids behind keys of memories."""
        return self._ids(ElementKind.MEMORY, keys)

    def _ids(self, kind: ElementKind, keys: Keys) -> list[Any]:
        ids = reading.table(self._state, kind).ids
        return [ids[row] for row in np.asarray(keys, np.int64).tolist()]

    # -- communities ---------------------------------------------------------------------------------------------

    async def edges(self, *, after: UUID | None = None, limit: int = 100_000, view: View) -> Edges:
        """The next page, in order of id, of relations that pass the view."""
        return partition.edges(self._state, after, limit, view)

    async def write_communities(
        self, communities: Sequence[Community], *, replacing: Sequence[UUID] | None = None
    ) -> None:
        """Keep communities in the place of those with the ids ``replacing``, and of their own; of all where None."""
        self._change(lambda state: (partition.write_communities(state, communities, replacing), None))

    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> Sequence[Community]:
        """Communities, the largest first, then by id; only those with any of the entities where these are given."""
        return partition.communities(self._state, entity_ids, limit)

    # -- learning ------------------------------------------------------------------------------------------------

    async def log_injection(self, injection: Injection) -> None:
        """Remember what was surfaced to a session; the same id again changes nothing."""

        def log(state: State) -> tuple[State, None]:
            if injection.id in state.injections:
                return state, None
            return state.successor(injections={**state.injections, injection.id: injection}), None

        self._change(log)

    async def injections(self, session_id: str) -> Sequence[Injection]:
        """What was surfaced to a session, oldest first."""
        logged = [each for each in self._state.injections.values() if each.session_id == session_id]
        return sorted(logged, key=lambda injection: (injection.created_at, injection.id))

    async def apply_outcome(self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef]) -> FeedbackReport:
        """Move the elements' feedback weights, exactly once a (session, element), as design 7 says."""
        return self._change(lambda state: feedback.apply_outcome(state, session_id, outcome, elements))

    async def outcomes(self, elements: Sequence[ElementRef]) -> Sequence[OutcomeRecord]:
        """The history of elements, by (element, seq)."""
        return feedback.outcomes(self._state, elements)

    # -- counting ------------------------------------------------------------------------------------------------

    async def statistics(self) -> Statistics:
        """Counts of the scope."""
        return reading.statistics(self._state)

    async def degrees(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """How many unretracted relations each entity has, both directions."""
        rows, degree = reading.table(self._state, ElementKind.ENTITY), reading.degrees(self._state)
        return {key: int(degree[rows.row_of[key]]) for key in ids if key in rows.row_of}
