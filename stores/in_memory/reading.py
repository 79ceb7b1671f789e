"""Whole elements in memory, and the mentions and claims behind them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Final, Unpack
from uuid import UUID

from graphsearch.claims.folding import DatedClaim
from graphsearch.columns import Keys
from graphsearch.model import (
    Claim,
    ElementKind,
    Entity,
    Group,
    Memory,
    Mention,
    Relation,
    RelationType,
    Statistics,
    validation,
)
from graphsearch.model.identity import snake_case
from graphsearch.model.signatures import memory_signature
from graphsearch.protocols import Reading
from graphsearch.protocols.graph_store import MemoryFilters
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.in_memory.folding import GroupedClaims, claims_behind
from graphsearch.stores.in_memory.state import E, Elements
from graphsearch.stores.in_memory.steps import adjacency, degrees
from graphsearch.stores.in_memory.tables import Table, table
from graphsearch.stores.shared.answers import claim_place, mention_place


class InMemoryReading(InMemoryScope, Reading):
    """Elements out of the state, with their current feedback weights."""

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        return self._state.entities.those(ids)

    async def get_relations(self, ids: Sequence[UUID]) -> Sequence[Relation]:
        return self._state.relations.those(ids)

    async def get_memories(self, ids: Sequence[str]) -> Sequence[Memory]:
        return self._state.memories.those(ids)

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        state = self._state
        rows = table(state, kind)
        if state.elements(kind).weights:
            return state.elements(kind).those([rows.ids[row] for row in keys.tolist()])
        return [rows.items[row] for row in keys.tolist()]

    async def list_entities(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None
    ) -> Sequence[Entity]:
        wanted = None if type is None else snake_case(type)
        state = self._state
        ids = table(state, ElementKind.ENTITY).ids
        return _page(state.entities, ids, after, limit, lambda entity: wanted is None or entity.type == wanted)

    async def list_relations(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None, entity_id: UUID | None = None
    ) -> Sequence[Relation]:
        state, wanted = self._state, None if type is None else snake_case(type)
        ids: Sequence[UUID] = table(state, ElementKind.RELATION).ids
        if entity_id is not None:
            row = table(state, ElementKind.ENTITY).row_of.get(entity_id)
            ids = [] if row is None else [ids[each] for each in adjacency(state).around(row).tolist()]

        def keep(relation: Relation) -> bool:
            return relation.retracted_at is None and (wanted is None or relation.type == wanted)

        return _page(state.relations, ids, after, limit, keep)

    async def list_memories(
        self, *, after: str | None = None, limit: int = 100, **filters: Unpack[MemoryFilters]
    ) -> Sequence[Memory]:
        state = self._state
        rows = table(state, ElementKind.MEMORY)
        ids: Sequence[str] = rows.ids
        for name in ("session_id", "source"):
            if (value := filters.get(name)) is not None:
                ids = state.derive(_ids_by_field, rows).get((name, value), ())
                break
        return _page(state.memories, ids, after, limit, lambda memory: _passes(memory, filters))

    async def list_mentions(
        self, *, memory_ids: Sequence[str] = (), entity_ids: Sequence[UUID] = ()
    ) -> Sequence[Mention]:
        state, wanted, entities = self._state, set(memory_ids), set(entity_ids)
        memories = wanted.union(*(state.mentioned.get(entity, ()) for entity in entities))
        found = [
            mention
            for memory in memories
            for mention in state.mentions.get(memory, ())
            if memory in wanted or mention.entity_id in entities
        ]
        return sorted(found, key=mention_place)

    async def list_claims(
        self, *, memory_ids: Sequence[str] = (), relation_ids: Sequence[UUID] = (), groups: Sequence[Group] = ()
    ) -> Sequence[Claim]:
        state = self._state
        found = {claim for memory in set(memory_ids) for claim in state.claims.get(memory, ())}
        for key in relation_ids:
            if relation := state.relations.items.get(key):
                found.update(claims_behind(state, relation))
        grouped = GroupedClaims(state.claims, state.merging.originals, state.types)
        for group in groups:
            found.update(grouped.of(group, state.groups.get(group, ())))
        dated = [DatedClaim(claim, state.memories.items[claim.memory_id].occurred_at) for claim in found]
        return [each.claim for each in sorted(dated, key=claim_place)]

    async def relation_types(self) -> Mapping[str, RelationType]:
        return self._state.types

    async def statistics(self) -> Statistics:
        state = self._state
        live = [relation for relation in state.relations.items.values() if relation.retracted_at is None]
        degree = degrees(state)
        return Statistics(
            entities=len(state.entities.items),
            relations=len(live),
            memories=len(state.memories.items),
            claims=sum(map(len, state.claims.values())),
            mentions=sum(map(len, state.mentions.values())),
            entities_by_type=_by_type(state.entities.items.values()),
            relations_by_type=_by_type(live),
            embedder=state.embedder,
            dimensions=state.dimensions,
            max_degree=int(degree.max(initial=0)),
            mean_degree=float(degree.mean()) if len(degree) else 0.0,
            counters=state.counters,
        )


def _page(
    elements: Elements[E], ids: Sequence[Any], after: UUID | str | None, limit: int, keep: Callable[[E], bool]
) -> list[E]:
    """The next elements, by sorted ids, that satisfy a predicate."""
    validation.refuse("page", validation.number("limit", limit, 0))
    start = 0 if after is None else bisect_right(ids, after)
    kept = (key for key in islice(ids, start, None) if keep(elements.items[key]))
    return [element for key in islice(kept, limit) if (element := elements.get(key))]


_TYPE: Final = attrgetter("type")


def _by_type(elements: Iterable[Entity | Relation]) -> dict[str, int]:
    return dict(sorted(Counter(map(_TYPE, elements)).items()))


def _passes(memory: Memory, filters: MemoryFilters) -> bool:
    before, label = filters.get("before"), filters.get("label")
    written = memory.occurred_at or memory.created_at
    return (
        (label is None or label in memory.labels)
        and (before is None or (written is not None and written < before))
        and all(
            filters.get(name) in (None, value)
            for name, value in (
                ("source", memory.source),
                ("session_id", memory.session_id),
                ("subject", memory.subject),
                ("owner", memory_signature(memory).owner),
            )
        )
    )


def _ids_by_field(rows: Table) -> dict[tuple[str, object], list[str]]:
    """The ids of memories, in order, by their session and by their source."""
    found: dict[tuple[str, object], list[str]] = {}
    for memory in rows.items:
        for name in ("session_id", "source"):
            found.setdefault((name, getattr(memory, name)), []).append(memory.id)
    return found
