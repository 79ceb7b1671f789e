"""Summaries of communities in Postgres: dropped with the change of anything that they may be made of."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement


async def drop_summaries(
    session: Session,
    *,
    entities: Collection[UUID] = (),
    relations: Collection[UUID] = (),
    memories: Collection[str] = (),
) -> None:
    """Drop the summaries of the communities of entities, of the ends of relations, and of what memories state.

    To be called before these change: relations and memories are looked up as they are stored.
    """
    if session.summarised and (entities or relations or memories):
        await session.run(
            statement("drop summaries"),
            entity_ids=list(entities),
            relation_ids=list(relations),
            memory_ids=list(memories),
        )


async def drop_summaries_of_incoming(session: Session, changed: str) -> None:
    """Drop the summaries that an upsert outdates; ``changed`` is the statement that finds what it changes.

    One of "renamed entities", "rewritten memories" and "reworded relations".
    """
    if session.summarised:
        ids = await session.column(statement(changed))
        await drop_summaries(session, **{changed.split()[1]: ids})
