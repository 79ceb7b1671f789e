"""A graph kept in memory: exact, without a server, gone with the process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, TypeVar
from uuid import UUID

import numpy as np

from graphsearch import validation
from graphsearch.clock import SystemClock
from graphsearch.columns import Expansion, Hits, Keys
from graphsearch.errors import EmbeddingModelError, UnknownScopeError
from graphsearch.identity import snake_case
from graphsearch.model import (
    Claim,
    ElementKind,
    Entity,
    Memory,
    Mention,
    Outcome,
    Relation,
    RelationType,
    Scope,
    View,
)
from graphsearch.protocols import Clock
from graphsearch.records import (
    Batch,
    ElementRef,
    FeedbackReport,
    Injection,
    NameMatch,
    OutcomeRecord,
    Statistics,
    Vector,
    WriteReport,
)
from graphsearch.signature import Signature
from graphsearch.stores.in_memory import feedback, reading, write
from graphsearch.stores.in_memory.state import State

T = TypeVar("T")


class _Cell:
    """Where the state of one scope stands; None until something is written."""

    def __init__(self) -> None:
        self.state: State | None = None
        self.lock = Lock()


_PINNED: Final[ContextVar[Mapping[_Cell, State]]] = ContextVar("pinned", default=MappingProxyType({}))
"""The states that the snapshots of this task began with."""


class InMemoryGraphStore:
    """Hands out scopes, and can do nothing else. All of its scopes are gone when it is."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._cells: dict[Scope, _Cell] = {}

    def with_scope(self, *, org_id: str, project_id: str) -> ScopedMemoryStore:
        """The graph of one scope. Raises `InvalidInputError` when either part is empty."""
        scope = Scope(org_id, project_id)
        return ScopedMemoryStore(scope, self._clock, self._cells.setdefault(scope, _Cell()))


class ScopedMemoryStore:
    """One scope of an `InMemoryGraphStore`; a `graphsearch.protocols.GraphStore`.

    A write makes a new state and puts it in the place of the old one, without ever awaiting in between; readers keep
    the state that they began with. A key is the row of an element in the order of ids.
    """

    def __init__(self, scope: Scope, clock: Clock, cell: _Cell) -> None:
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
            state = self._cell.state or (State() if create else None)
            if state is None:
                raise self._unknown()
            self._cell.state, result = change(state)
        return result

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[None]:
        """Everything read inside, in this task and those it starts, sees one state of the graph. May be nested."""
        token = _PINNED.set({**_PINNED.get(), self._cell: self._state})
        try:
            yield
        finally:
            _PINNED.reset(token)

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
        entities = self._state.entities
        return [entity for key in ids if (entity := entities.get(key))]

    async def get_relations(self, ids: Sequence[UUID]) -> Sequence[Relation]:
        """Relations in the order of ``ids``, retracted ones too."""
        relations = self._state.relations
        return [relation for key in ids if (relation := relations.get(key))]

    async def get_memories(self, ids: Sequence[str]) -> Sequence[Memory]:
        """Memories in the order of ``ids``."""
        memories = self._state.memories
        return [memory for key in ids if (memory := memories.get(key))]

    async def list_entities(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None
    ) -> Sequence[Entity]:
        """The next page in order of id."""
        wanted = None if type is None else snake_case(type)

        def keep(entity: Entity) -> bool:
            return wanted is None or entity.type == wanted

        return reading.page(self._state, ElementKind.ENTITY, after, limit, keep)

    async def list_relations(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None
    ) -> Sequence[Relation]:
        """The next page in order of id, retracted ones left out."""
        wanted = None if type is None else snake_case(type)

        def keep(relation: Relation) -> bool:
            return relation.retracted_at is None and (wanted is None or relation.type == wanted)

        return reading.page(self._state, ElementKind.RELATION, after, limit, keep)

    async def list_memories(
        self, *, after: str | None = None, limit: int = 100, source: str | None = None
    ) -> Sequence[Memory]:
        """The next page in order of id (by code point)."""

        def keep(memory: Memory) -> bool:
            return source is None or memory.source == source

        return reading.page(self._state, ElementKind.MEMORY, after, limit, keep)

    async def list_mentions(
        self, *, memory_ids: Sequence[str] = (), entity_ids: Sequence[UUID] = ()
    ) -> Sequence[Mention]:
        """Mentions in any of the memories or of any of the entities, by (memory, entity, span)."""
        return reading.mentions(self._state, memory_ids, entity_ids)

    async def list_claims(
        self, *, memory_ids: Sequence[str] = (), relation_ids: Sequence[UUID] = ()
    ) -> Sequence[Claim]:
        """Claims of any of the memories or behind any of the relations, in the order of the fold."""
        return reading.claims(self._state, memory_ids, relation_ids)

    # -- finding -------------------------------------------------------------------------------------------------

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        """Entities whose name or alias equals one of ``names``, both normalised and case-folded."""
        return reading.find_names(self._state, names)

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

    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        """How many relations of these entities the view leaves out, by the first reason that fits."""
        return reading.left_out(self._state, keys, view)

    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        """The content of signature codes."""
        known = self._state.signatures
        return {code: known[code] for code in map(int, codes) if code in known}

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
