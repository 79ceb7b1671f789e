"""Communities in Postgres, and the edges that they are found in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

import attrs

from graphsearch import validation
from graphsearch.columns import Edges
from graphsearch.model import ElementKind, View
from graphsearch.records import Community
from graphsearch.stores.in_postgres import rows
from graphsearch.stores.in_postgres.searching import view_values
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement
from graphsearch.stores.shared.answers import NAMED, refuse_communities


async def edges(session: Session, after: UUID | None, limit: int, view: View) -> Edges:
    """The next relations in order of id that are in view."""
    validation.refuse("page", validation.number("limit", limit, 0))
    page = statement("edges", ElementKind.RELATION)
    found = await (await session.run(page, after=after, limit=limit, **view_values(view))).fetchone()
    ids, sources, targets, weights = found or (b"", b"", b"", b"")
    return Edges(
        relations=rows.keys(ids),
        sources=rows.keys(sources),
        targets=rows.keys(targets),
        weights=rows.floats(weights),
    )


async def write_communities(
    session: Session, communities: Sequence[Community], replacing: Collection[UUID] | None
) -> None:
    """Keep communities in the place of others."""
    replaced = None if replacing is None else {*replacing, *(each.id for each in communities)}
    members = [member for each in communities for member in each.members]
    stay = await _communities_of(session, members) if replaced is not None else {}
    refuse_communities(communities, {key for key, community in stay.items() if community not in (replaced or ())})
    there = await _column(session, statement("existing", ElementKind.ENTITY), ids=members)
    gone = set(members).difference(there)
    await _drop(session, replaced)
    await _insert(session, [kept for each in communities if (kept := each.without(gone))])


async def _insert(session: Session, communities: Sequence[Community]) -> None:
    """Communities and their members, each in order of key."""
    await session.run(
        statement("insert communities"),
        ids=[each.id for each in communities],
        densities=[float(each.density) for each in communities],
    )
    rows = [
        (member, each.id, float(strength), each.top.index(member) if member in each.top else None)
        for each in communities
        for member, strength in zip(each.members, each.strengths, strict=True)
    ]
    names = ("entity_ids", "community_ids", "strengths", "places")
    await session.run(
        statement("insert members"), **{name: [row[place] for row in rows] for place, name in enumerate(names)}
    )


async def leave_communities(session: Session, entity_ids: Collection[UUID]) -> None:
    """Take entities out of the communities that they are in, and remove those with fewer than two left."""
    left = await _column(session, statement("leave communities"), ids=list(entity_ids))
    if left:
        await _drop(session, await _column(session, statement("too small"), ids=left))


async def communities(session: Session, entity_ids: Collection[UUID] | None, limit: int | None) -> list[Community]:
    """Communities as they are by now, the largest first.

    Tables are read one by one and not joined: what the planner knows of them may be out of date, and a join of
    hundreds of thousands of rows for a handful takes minutes.
    """
    validation.refuse("page", None if limit is None else validation.number("limit", limit, 0))
    ids = None if entity_ids is None else await _visible(session, entity_ids)
    found = await _stored(session, ids)
    members = [member for each in found for member in each.members]
    merged = set(await _column(session, statement("merged away"), ids=members))
    kept = [shown for each in found if (shown := each.without(merged))]
    first = sorted(kept, key=lambda community: (-community.size, community.id))[:limit]
    named = [member for each in first for member in each.top[:NAMED]]
    names = dict(await (await session.run_kept(statement("names of"), ids=named)).fetchall())
    return [attrs.evolve(each, label=", ".join(names[member] for member in each.top[:NAMED])) for each in first]


async def _visible(session: Session, entity_ids: Collection[UUID]) -> list[UUID]:
    """The communities that entities are in, of those that were not merged into others."""
    of = await _communities_of(session, entity_ids)
    merged = set(await _column(session, statement("merged away"), ids=list(of)))
    return sorted({community for entity, community in of.items() if entity not in merged})


async def _stored(session: Session, ids: Sequence[UUID] | None) -> list[Community]:
    """Communities as they were found, without labels."""
    members: dict[UUID, list[tuple[UUID, float, int | None]]] = {}
    for community, *member in await (await session.run(statement("members"), ids=ids)).fetchall():
        members.setdefault(community, []).append(tuple(member))
    return [
        Community(
            id=key,
            members=[member for member, _, _ in members[key]],
            strengths=[strength for _, strength, _ in members[key]],
            density=density,
            top=[
                member for place, member in sorted((place, key) for key, _, place in members[key] if place is not None)
            ],
            label="",
        )
        for key, density in await (await session.run(statement("communities"), ids=ids)).fetchall()
    ]


async def _communities_of(session: Session, entity_ids: Collection[UUID]) -> dict[UUID, UUID]:
    return dict(await (await session.run_kept(statement("communities of"), entity_ids=list(entity_ids))).fetchall())


async def _drop(session: Session, ids: Collection[UUID] | None) -> None:
    asked = None if ids is None else list(ids)
    await session.run(statement("drop members"), ids=asked)
    await session.run(statement("drop communities"), ids=asked)


async def _column(session: Session, query: bytes, **values: Any) -> list[UUID]:
    return [key for (key,) in await (await session.run_kept(query, **values)).fetchall()]
