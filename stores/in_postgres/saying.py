"""What mentions call entities, in Postgres, and which memories do."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from graphsearch.claims.naming import folded_name, refuse_limit
from graphsearch.model import Saying
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement


async def sayings(
    session: Session, entity_ids: Sequence[UUID], names: Sequence[str] | None, limit: int
) -> list[Saying]:
    """Each surface of some entities with the first of the memories that have it, by (entity, surface)."""
    refuse_limit(limit)
    wanted = None if names is None else set(map(folded_name, names))
    spoken = await (await session.run(statement("surfaces of entities"), ids=list(set(entity_ids)))).fetchall()
    asked = [each for each in spoken if wanted is None or folded_name(each[2]) in wanted]
    values = {"ids": [entity for entity, _, _ in asked], "hashes": [code for _, code, _ in asked], "limit": limit}
    found: dict[tuple[UUID, str], set[str]] = {(entity, surface): set() for entity, _, surface in asked}
    for place, memory in await (await session.run(statement("sayings"), **values)).fetchall():
        entity, _, surface = asked[place - 1]
        found[entity, surface].add(memory)
    return [
        Saying(entity_id=entity, surface=surface, memory_ids=sorted(memories)[:limit])
        for (entity, surface), memories in sorted(found.items())
    ]
