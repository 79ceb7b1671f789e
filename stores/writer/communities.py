"""Communities as rows: written with the summaries that still hold, read with labels of the names entities have now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from uuid import UUID

import attrs

from graphsearch.model import Community, CommunitySummary, validation
from graphsearch.model.codec import decode, encode
from graphsearch.protocols import Store
from graphsearch.protocols.rows import CommunityRow, MemberRow, Rows
from graphsearch.stores.writer.keeping import beside


class Communities(Store):
    """The communities of a graph."""

    async def write_communities(
        self, communities: Sequence[Community], *, replacing: Sequence[UUID] | None = None
    ) -> None:
        """Store communities; they replace those with the ids ``replacing`` and their own ids, or all if it is None.

        Labels are not stored but built from the current names of entities on reading. Members that no longer exist are
        dropped, and so are communities with fewer than two remaining members. A community keeps its stored summary if
        every member that it had stays; the summaries of ``communities`` are not read: see `write_summary`. What
        merges left of a community, if it is a single member, can join another. `InvalidInputError` when an entity would
        be in two communities.
        """
        members = {member for each in communities for member in each.members}
        own = [each.id for each in communities]
        async with beside(self) as port:
            stay = {row.entity_id: row.community_id for row in await port.rows_by("member", "entity", members)}
            shown = {each.id: each for each in await _shown(port, {*own, *stay.values()})}
            if replacing is None:
                _refuse_overlaps(communities, ())
                await port.clear(["member", "community"])
            else:
                lapsed = {key for key in stay.values() if key not in shown}
                replaced = {*replacing, *own, *lapsed}
                _refuse_overlaps(communities, {entity for entity, key in stay.items() if key not in replaced})
                await port.drop_by("member", "community", replaced)
                await port.drop("community", replaced, {})
            gone = members.difference(row.key for row in await port.rows("entity", members))
            kept = [
                attrs.evolve(left, summary=_kept_summary(each, shown.get(each.id)))
                for each in communities
                if (left := each.without(gone)) is not None
            ]
            port.scope.summarised = port.scope.summarised or any(each.summary for each in kept)
            for kind in ("community", "member"):
                await port.put(kind, [row for each in kept for of, row in rows_of(each) if of == kind], {})

    async def write_summary(self, community: Community, *, version: Hashable) -> bool:
        """Store the summary of a stored community; return False, and store nothing, if the graph has changed.

        ``version`` is that of the scope when the content of the summary was read; the community must have the same
        members as then. From then on every change that removes or rewrites anything that the summary may be made of
        drops it in the same transaction: a member that is removed, renamed, merged or separated; a relation with a
        member that is removed, retracted or reworded, or loses evidence; a memory that mentions a member, or is
        evidence of its relations, that is forgotten or rewritten. What is only added leaves it.
        """
        async with beside(self) as port:
            shown = await _shown(port, [community.id])
            holds = port.version == version and [each.members for each in shown] == [community.members]
            if holds:
                [row] = await port.rows("community", [community.id])
                new = attrs.evolve(row, summary=community.summary and encode(community.summary))
                await port.put("community", [new], {row.key: row})
                port.scope.summarised = True
        return holds

    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> Sequence[Community]:
        """Communities, the largest first, then by id; only those with any of ``entity_ids`` if given.

        Members that were deleted or merged into another entity are left out.
        """
        validation.refuse("page", None if limit is None else validation.number("limit", limit, 0))
        async with self.snapshot():
            ids = None
            if entity_ids is not None:
                found = await self.rows_by("member", "entity", entity_ids)
                merged = await self.tree([row.entity_id for row in found])
                ids = {row.community_id for row in found if row.entity_id not in merged}
            first = sorted(await _shown(self, ids), key=lambda community: (-community.size, community.id))[:limit]
            named = {member for each in first for member in each.named}
            names = {row.key: row.entity.name for row in await self.rows("entity", named)}
        return [each.labelled(names) for each in first]


def _kept_summary(community: Community, stored: Community | None) -> CommunitySummary | None:
    """The stored summary of a community, if every member that it had stays."""
    return stored.summary if stored and set(stored.members) <= set(community.members) else None


def rows_of(community: Community) -> Iterator[tuple[str, CommunityRow | MemberRow]]:
    """The rows of a community and of its members, each with its kind."""
    yield "community", CommunityRow(community.id, community.density, community.summary and encode(community.summary))
    places = {member: place for place, member in enumerate(community.top)}
    for member, strength in zip(community.members, community.strengths, strict=True):
        yield "member", MemberRow(member, community.id, strength, places.get(member))


async def _shown(rows: Rows, ids: Collection[UUID] | None) -> list[Community]:
    """Stored communities, or all, without merged members and not labelled."""
    stored = await (rows.page("community") if ids is None else rows.rows("community", ids))
    own = [row.key for row in stored]
    members = await (rows.page("member") if ids is None else rows.rows_by("member", "community", own))
    merged = await rows.tree([row.entity_id for row in members]) if members else {}
    return [shown for each in communities_of(stored, members) if (shown := each.without(merged.keys()))]


def communities_of(rows: Iterable[CommunityRow], members: Iterable[MemberRow]) -> list[Community]:
    """Communities as they were detected, without labels, of their rows and those of their members."""
    of: dict[UUID, list[MemberRow]] = {}
    for member in sorted(members, key=lambda member: member.entity_id):
        of.setdefault(member.community_id, []).append(member)
    return [
        Community(
            id=row.key,
            members=[each.entity_id for each in of[row.key]],
            strengths=[each.strength for each in of[row.key]],
            density=row.density,
            top=[
                key for _, key in sorted((each.place, each.entity_id) for each in of[row.key] if each.place is not None)
            ],
            summary=None if row.summary is None else decode(CommunitySummary, row.summary),
        )
        for row in rows
    ]


def _refuse_overlaps(communities: Sequence[Community], taken: Collection[UUID]) -> None:
    """Raise `InvalidInputError` that names duplicate ids, and entities in two communities.

    ``taken`` are the entities in communities that stay.
    """
    ids = Counter(each.id for each in communities)
    members = Counter(member for each in communities for member in each.members)
    twice = {member for member, times in members.items() if times > 1}.union(taken)
    validation.refuse(
        "communities",
        *(f"two of them have the id {key}" for key in sorted(key for key, times in ids.items() if times > 1)),
        *(f"entity {key} would be in two of them" for key in sorted(twice)),
    )
