"""Links that somebody made, in Postgres: between memories that belong together, and entities that are no duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from graphsearch import validation
from graphsearch.model import ElementKind
from graphsearch.records import Contradiction, MemoryLink
from graphsearch.stores.in_postgres.folds import keys_of, types_at_start
from graphsearch.stores.in_postgres.reading import storable
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.signing import stored_relations
from graphsearch.stores.in_postgres.statements import statement
from graphsearch.stores.shared.answers import Pair, contradicting, ordered, refuse_absent, refuse_pairs

GROUPS: Final = 500
"""Groups of relations that are looked at in turn for contradictions."""


async def link_memories(session: Session, links: Iterable[MemoryLink], now: datetime) -> int:
    """Keep links; how many are new."""
    given = sorted(dict.fromkeys(links), key=lambda link: (link.from_id, link.to_id, link.type))
    ends = {end for link in given for end in (link.from_id, link.to_id)}
    absent = await session.run(statement("missing", ElementKind.MEMORY), ids=sorted(ends))
    refuse_absent([key for (key,) in await absent.fetchall()])
    added = await session.run(
        statement("link memories"),
        from_ids=[link.from_id for link in given],
        to_ids=[link.to_id for link in given],
        types=[link.type for link in given],
        created=[link.created_at or now for link in given],
    )
    return added.rowcount


async def memory_links(session: Session, memory_ids: Sequence[str]) -> list[MemoryLink]:
    """Links from and to any of the memories."""
    return [MemoryLink(**row) for row in await session.dicts(statement("memory links"), ids=storable(memory_ids))]


async def mark_distinct(session: Session, pairs: Sequence[Pair], *, distinct: bool) -> int:
    """Mark pairs of entities, or take their marks away; of how many that is news."""
    absent = await session.run(
        statement("missing", ElementKind.ENTITY), ids=sorted({end for pair in pairs for end in pair})
    )
    refuse_pairs(pairs, [key for (key,) in await absent.fetchall()])
    told = ordered(pairs)
    marked = await session.run(
        statement("mark distinct" if distinct else "unmark distinct"),
        low_ids=[low for low, _ in told],
        high_ids=[high for _, high in told],
    )
    return marked.rowcount


async def distinct_pairs(session: Session, entity_ids: Sequence[UUID]) -> list[Pair]:
    """Pairs marked with any of the entities."""
    return await (await session.run(statement("distinct pairs"), ids=list(entity_ids))).fetchall()


async def contradictions(session: Session, limit: int) -> list[Contradiction]:
    """Pairs of relations that cannot both hold."""
    validation.refuse("page", validation.number("limit", limit, 0))
    functional = sorted(name for name, known in types_at_start(session).items() if known.functional)
    groups = await (await session.run(statement("overlapping groups"), types=functional)).fetchall()
    found: list[Contradiction] = []
    for at in range(0, len(groups), GROUPS):
        if len(found) < limit:
            some = groups[at : at + GROUPS]
            stored = await stored_relations(session, "relations of groups", **keys_of(some))
            found += contradicting(each.relation for each in stored.values())
    return found[:limit]
