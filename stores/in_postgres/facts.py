"""Which facts have vectors: one goes when the fact is another, and what has none waits to be embedded.

A scope in which no fact has a vector keeps no list of those that wait: whoever does not embed facts pays nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from graphsearch.model import ElementKind, Relation, validation
from graphsearch.stores.in_postgres.rows import element_of
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement


def listed(session: Session) -> bool:
    """Whether the facts that wait are listed: any had a vector when the transaction began."""
    return session.tally(ElementKind.RELATION).vectors > 0


async def forget_changed(session: Session) -> None:
    """Take away the vectors of the facts that the relations about to be written replace by others."""
    dropped = (await session.run(statement("drop vectors of changed facts"))).rowcount
    if dropped:
        await session.run(statement("count vectors", ElementKind.RELATION), step=-dropped)


async def await_vectors(session: Session) -> None:
    """List the facts among the relations just written that have no vector."""
    await session.run(statement("list facts written"))


async def embedded(session: Session, ids: Collection[UUID]) -> None:
    """Facts got vectors and wait no more. With the first vectors of a scope all others begin to."""
    if ids and not listed(session):
        await session.run(statement("list all facts"))
    await struck(session, ids)


async def struck(session: Session, ids: Collection[UUID]) -> None:
    """Relations wait no more."""
    if ids:
        await session.run(statement("strike facts"), ids=list(ids))


async def unembedded(session: Session, after: UUID | None, limit: int) -> list[Relation]:
    """The next page, in order of id, of unretracted relations with a fact that has no vector."""
    validation.refuse("page", validation.number("limit", limit, 0))
    name = "unembedded facts" if listed(session) else "facts"
    rows = await session.dicts(statement(name, ElementKind.RELATION), after=after, limit=limit)
    return [element_of(ElementKind.RELATION, row) for row in rows]
