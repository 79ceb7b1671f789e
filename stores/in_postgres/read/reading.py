"""Whole elements from Postgres, and the mentions and claims behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Unpack
from uuid import UUID

from graphsearch.columns import Keys
from graphsearch.errors import StoreError
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
from graphsearch.protocols import Reading
from graphsearch.protocols.graph_store import MemoryFilters
from graphsearch.stores.in_postgres import rows
from graphsearch.stores.in_postgres.base import PostgresScope
from graphsearch.stores.in_postgres.session.copying import UuidArray, packed
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.shared.answers import claim_place, mention_place


class PostgresReading(PostgresScope, Reading):
    """Elements by rows; a snapshot reads each of them once."""

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        async with self._reading() as session:
            return await stored(session, ElementKind.ENTITY, ids)

    async def get_relations(self, ids: Sequence[UUID]) -> Sequence[Relation]:
        async with self._reading() as session:
            return await stored(session, ElementKind.RELATION, ids)

    async def get_memories(self, ids: Sequence[str]) -> Sequence[Memory]:
        async with self._reading() as session:
            return await stored(session, ElementKind.MEMORY, ids)

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """Raises `StoreError` if an element is missing that others refer to."""
        requested: Sequence[Any] = rows.texts(keys) if kind is ElementKind.MEMORY else rows.bytes_of(keys)
        async with self._reading() as session:
            found = await _read(session, kind, requested, with_ends=True)
            if any(element is None for element in found):
                raise StoreError(
                    f"{kind} rows of {session.scope} that others lead to are not there: repair what deleted them"
                )
            return found

    async def list_entities(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None
    ) -> Sequence[Entity]:
        page = statement("list entity")
        return await self._page(page, ElementKind.ENTITY, limit, after=after, type=type and snake_case(type))

    async def list_relations(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None, entity_id: UUID | None = None
    ) -> Sequence[Relation]:
        page = statement("list relation" if entity_id is None else "list relations of entity")
        values = {"after": after, "type": type and snake_case(type), "entity_id": entity_id}
        return await self._page(page, ElementKind.RELATION, limit, **values)

    async def list_memories(
        self, *, after: str | None = None, limit: int = 100, **filters: Unpack[MemoryFilters]
    ) -> Sequence[Memory]:
        given = [value for value in filters.values() if isinstance(value, str)]
        page = statement("list memory") if len(rows.storable(given)) == len(given) else None
        values = {name: filters.get(name) for name in MemoryFilters.__annotations__}
        return await self._page(page, ElementKind.MEMORY, limit, after=after, **values)

    async def _page(self, page: bytes | None, kind: ElementKind, limit: int, **values: Any) -> list[Any]:
        """The next elements in order of id; none without a statement."""
        async with self._reading() as session:
            validation.refuse("page", validation.number("limit", limit, 0))
            found = await session.dicts(page, limit=limit, **values) if page else []
            return [rows.element_of(kind, row) for row in found]

    async def list_mentions(
        self, *, memory_ids: Sequence[str] = (), entity_ids: Sequence[UUID] = ()
    ) -> Sequence[Mention]:
        values = {"memory_ids": rows.storable(memory_ids), "entity_ids": list(entity_ids)}
        async with self._reading() as session:
            found = map(rows.mention_of, await session.dicts(statement("list mentions"), **values))
            return sorted(found, key=mention_place)

    async def list_claims(
        self, *, memory_ids: Sequence[str] = (), relation_ids: Sequence[UUID] = (), groups: Sequence[Group] = ()
    ) -> Sequence[Claim]:
        found: list[dict[str, Any]] = []
        async with self._reading() as session:
            if memory_ids:
                found += await session.dicts(statement("claims of memories"), memory_ids=rows.storable(memory_ids))
            if relation_ids:
                found += await session.dicts(statement("claims of relations"), relation_ids=list(relation_ids))
            if groups:
                found += await session.dicts(statement("claims of groups"), **rows.group_values(groups))
        dated = {rows.claim_of(row) for row in found}
        return [each.claim for each in sorted(dated, key=claim_place)]

    async def relation_types(self) -> Mapping[str, RelationType]:
        async with self._reading() as session:
            return rows.types_of(session.types)

    async def statistics(self) -> Statistics:
        async with self._reading() as session:
            entities = dict(await session.rows(statement("entities by type")))
            relations = dict(await session.rows(statement("relations by type")))
            memories, claims, mentions, largest = await session.row(statement("counts"))
            counters = dict(await session.rows(statement("counters")))
        count, live = sum(entities.values()), sum(relations.values())
        return Statistics(
            entities=count,
            relations=live,
            memories=memories,
            claims=claims,
            mentions=mentions,
            entities_by_type=entities,
            relations_by_type=relations,
            embedder=session.embedder,
            dimensions=session.dimensions,
            max_degree=largest,
            mean_degree=2 * live / count if count else 0.0,
            counters=counters,
        )


async def stored(session: Session, kind: ElementKind, ids: Sequence[Any]) -> list[Any]:
    """Elements in the order of ``ids``."""
    found = await _read(session, kind, ids if kind is ElementKind.MEMORY else packed(ids))
    return [element for element in found if element is not None]


async def _read(session: Session, kind: ElementKind, requested: Sequence[Any], *, with_ends: bool = False) -> list[Any]:
    """Elements by the ids of memories, or by the bytes of other ids; None for missing ones.

    ``with_ends`` reads the entities at the ends of relations in the same round trip: they are asked for next.
    """
    known = session.once.elements(kind)
    if unread := [key for key in requested if key not in known]:
        ids = rows.storable(unread) if kind is ElementKind.MEMORY else UuidArray.of(unread)
        asked = [session.run_kept(statement("get", kind), ids=ids)]
        if with_ends and kind is ElementKind.RELATION:
            asked.append(session.run_kept(statement("ends of relations"), ids=ids))
        for each, answer in zip((kind, ElementKind.ENTITY), await asyncio.gather(*asked), strict=False):
            there = session.once.elements(each)
            for row in answer.dicts:
                key = row["id"] if each is ElementKind.MEMORY else row["id"].bytes
                if key not in there:
                    there[key] = rows.element_of(each, row)
    return list(map(known.get, requested))
