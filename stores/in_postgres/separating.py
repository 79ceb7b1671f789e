"""Merged entities that are forgotten or deleted, in Postgres."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from graphsearch.stores.in_postgres import traits
from graphsearch.stores.in_postgres.naming import read_tree
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement


async def put_into(session: Session, ids: Sequence[UUID], target_id: UUID | None) -> None:
    """Say of entities that they were merged into another, or into none any more."""
    await session.run(statement("merge into"), ids=list(ids), target_id=target_id)
    await traits.tell(session, ids)


async def unsaid_entities(session: Session, ids: Iterable[UUID]) -> tuple[list[UUID], set[UUID]]:
    """Which merged entities, only named once, nothing says any more; they leave what they were merged into.

    Returns these, and the entities that they leave.
    """
    gone: list[UUID] = []
    left = set[UUID]()
    waiting = set(ids) if session.merges else set[UUID]()
    while waiting:
        found = await (await session.run(statement("unsaid entities"), ids=list(waiting))).fetchall()
        now = [key for (key,) in found]
        tree = await read_tree(session, now)
        waiting = {tree.into[key] for key in now}
        left |= waiting
        gone += now
        await drop_merges(session, now)
    return sorted(gone), left - set(gone)


async def drop_merges(session: Session, ids: Collection[UUID]) -> None:
    """Remove the records of all merges of some entities."""
    if ids and session.merges:
        await session.run(statement("drop merges"), ids=list(ids))


async def separated(session: Session, ids: Sequence[UUID]) -> tuple[list[UUID], set[UUID]]:
    """What is to be deleted with some entities: all that was merged into them.

    One that was merged into an entity that stays leaves it all that was said of it. Returns what goes, and the
    entities that stay and lose a name.
    """
    if not session.merges:
        return list(ids), set()
    going, left = set(ids), set[UUID]()
    for key in sorted(ids):
        tree = await read_tree(session, [key])
        if key in tree.into and tree.root(key) not in going:
            await _give_up(session, key, tree.into[key])
            left.add(tree.into[key])
    tree = await read_tree(session, ids)
    gone = {each for key in ids for each in tree.below(key)}
    return sorted(gone), left - gone


async def _give_up(session: Session, key: UUID, above: UUID) -> None:
    """Leave to the entity that another was merged into all that was said of the other, for good."""
    for step in ("leave mentions", "leave claims", "leave relations"):
        await session.run(statement(step), id=key, target_id=above)
    children = await (await session.run(statement("hang elsewhere"), id=key, target_id=above)).fetchall()
    await put_into(session, [child for (child,) in children], above)
    await drop_merges(session, [key])
