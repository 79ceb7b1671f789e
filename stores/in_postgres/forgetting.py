"""What a forgetting takes along in Postgres beside the elements themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres.partition import leave_communities
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement


async def forget_references(session: Session, gone: Mapping[ElementKind, Collection[Any]]) -> int:
    """Take elements that went out of the log of what was surfaced; how often they stood there.

    The id of a memory is a text like any other.
    """
    named = [(kind.value, str(key)) for kind, keys in gone.items() for key in keys]
    refs = [f"{kind} {key}" for kind, key in named]
    found = await session.run(statement("naming injections"), gone=refs, ids=[key for _, key in named])
    times = {key: count for key, count in await found.fetchall() if count}
    if times:
        await session.run(statement("forget references"), gone=refs, injections=list(times))
    return sum(times.values())


async def unlink(session: Session, memory_ids: Collection[str]) -> int:
    """Remove the links from and to memories; how many there were."""
    return (await session.run(statement("delete links"), ids=list(memory_ids))).rowcount


async def untie(session: Session, entity_ids: Collection[UUID]) -> int:
    """Take entities out of their communities, and remove the marks that tell them from others; how many there were."""
    await leave_communities(session, entity_ids)
    return (await session.run(statement("delete marks"), ids=list(entity_ids))).rowcount
