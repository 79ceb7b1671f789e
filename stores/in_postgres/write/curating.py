"""Merges, links, duplicates and communities in Postgres."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import attrs
from psycopg.types.json import Jsonb

from graphsearch.model import (
    Community,
    CommunitySummary,
    ElementKind,
    MemoryLink,
    Merge,
    Relation,
    UndoReport,
    validation,
)
from graphsearch.model.codec import encode
from graphsearch.model.reports import refuse_merge
from graphsearch.protocols import Curating
from graphsearch.stores.in_postgres.base import PostgresScope
from graphsearch.stores.in_postgres.index.signing import stored_relations
from graphsearch.stores.in_postgres.read.moving import stored_communities
from graphsearch.stores.in_postgres.read.reading import stored
from graphsearch.stores.in_postgres.rows import storable, types_of
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.folds import (
    keep_original_ends,
    keys_of,
    put_relations,
    refold,
    retract,
    sign_folded_again,
)
from graphsearch.stores.in_postgres.write.removing import (
    drop_communities,
    drop_entities,
    drop_relations,
    forget_references,
    unnamed,
)
from graphsearch.stores.in_postgres.write.renaming import put_into, read_tree, rename_entities
from graphsearch.stores.in_postgres.write.summaries import drop_summaries
from graphsearch.stores.shared.answers import (
    Pair,
    ordered,
    refuse_absent,
    refuse_communities,
    refuse_pairs,
)
from graphsearch.stores.shared.merging import Record, merge_id, redirected, refuse_undo


class PostgresCurating(PostgresScope, Curating):
    """Curation decisions in tables of their own; merges move rows and record their origin."""

    async def merge(self, source_id: UUID, target_id: UUID, *, dry_run: bool = False, retype: bool = False) -> Merge:
        async with self._writing(changing=True) as session:
            now = self._clock.now()
            found = {each.id: each for each in await stored(session, ElementKind.ENTITY, [source_id, target_id])}
            refuse_merge(source_id, target_id, found.get(source_id), found.get(target_id), retype=retype)
            mentions, claims, relations = await session.row(statement("what would move"), id=source_id)
            number = session.merges + 1
            earlier = await session.dicts(statement("merges"), ids=[source_id], id=None)
            made = Merge(
                id=merge_id(source_id, target_id, [_record(each).merge for each in earlier]),
                source_id=source_id,
                target_id=target_id,
                created_at=now,
                mentions=mentions,
                claims=claims,
                relations=relations,
            )
            if dry_run:
                return made
            await _hold(session, target_id, mentions + claims)
            await session.run(statement("count merge"))
            session.merges = number
            kept = attrs.asdict(made, filter=lambda field, _: field.name != "undone_at")
            await session.run(statement("keep merge"), number=number, held=mentions + claims, **kept)
            await put_into(session, [source_id], target_id)
            await session.run(statement("move mentions"), id=source_id, target_id=target_id)
            groups = await session.rows(statement("move claims"), id=source_id, target_id=target_id)
            before = await stored_relations(session, "relations of groups", **keys_of(sorted(groups)))
            lapsed = {key: each.relation.retracted_at for key, each in before.items() if each.relation.retracted_at}
            types = types_of(session.types)
            _, lost = await refold(session, groups, types, now)
            await retract(session, lost, now)
            await session.run(statement("revive relations"), ids=list(lapsed), times=list(lapsed.values()))
            touching = await stored_relations(session, "relations touching", relation_ids=[], entity_ids=[source_id])
            await _move(
                session, [each.relation for each in touching.values() if each.relation.retracted_at is None], now
            )
            renamed = await rename_entities(session, [target_id], anew=[source_id])
            await sign_folded_again(session, renamed.signed, types, now)
            return made

    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        async with self._writing(changing=True) as session:
            now = self._clock.now()
            rows = await session.dicts(statement("merges"), ids=None, id=merge_id)
            record = refuse_undo(merge_id, _record(rows[0]) if rows else None)
            source, target = record.merge.source_id, record.merge.target_id
            tree = await read_tree(session, [source])
            own = list(tree.below(source))
            target = tree.into[source]
            await drop_summaries(session, entities=[target])
            await session.run(statement("end merge"), id=merge_id, now=now)
            await put_into(session, [source], None)
            await _hold(session, target, -record.held)
            await session.run(statement("bring mentions back"), id=source, ids=own)
            groups = await session.rows(statement("bring claims back"), id=source, ids=own)
            types = types_of(session.types)
            _, lost = await refold(session, groups, types, now)
            await drop_summaries(session, relations=lost)
            lapsed = set(await session.column(statement("lapse relations"), ids=lost))
            await drop_relations(session, [each for each in lost if each not in lapsed])
            asserted = await stored_relations(session, "relations by original ends", ids=own)
            await _move(session, [each.relation for each in asserted.values()], now)
            without = await unnamed(session, target)
            await drop_entities(session, without.gone)
            await forget_references(
                session, {ElementKind.ENTITY: without.gone, ElementKind.RELATION: without.relations}
            )
            taken = {target: await session.column(statement("names of surfaces"), id=source, ids=tree.above([target]))}
            renamed = await rename_entities(
                session,
                {target, *without.left_by}.difference(without.gone),
                lost_surfaces=without.surfaces(taken),
                anew=[source],
            )
            await sign_folded_again(session, renamed.signed, types, now)
            mentions, claims, relations = await session.row(statement("what would move"), id=source)
            (stayed,) = await session.row(
                statement("written since"), id=tree.root(target), source_id=source, number=record.number
            )
            return UndoReport(
                mentions=mentions,
                claims=claims,
                relations=relations,
                stayed=stayed,
                forgotten=max(0, record.held - mentions - claims),
                reworded=renamed.reworded,
            )

    async def merges(self, entity_ids: Sequence[UUID] = ()) -> Sequence[Merge]:
        async with self._reading() as session:
            rows = await session.dicts(statement("merges"), ids=list(entity_ids) or None, id=None)
            return [_record(row).merge for row in rows]

    async def link_memories(self, links: Sequence[MemoryLink]) -> int:
        async with self._writing() as session:
            now = self._clock.now()
            given = sorted(dict.fromkeys(links), key=lambda link: (link.from_id, link.to_id, link.type))
            ends = {end for link in given for end in (link.from_id, link.to_id)}
            refuse_absent(await session.column(statement("missing", ElementKind.MEMORY), ids=sorted(ends)))
            added = await session.run(
                statement("link memories"),
                from_ids=[link.from_id for link in given],
                to_ids=[link.to_id for link in given],
                types=[link.type for link in given],
                created=[link.created_at or now for link in given],
            )
            return added.count

    async def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        async with self._reading() as session:
            return [
                MemoryLink(**row) for row in await session.dicts(statement("memory links"), ids=storable(memory_ids))
            ]

    async def mark_distinct(self, pairs: Sequence[tuple[UUID, UUID]], *, distinct: bool = True) -> int:
        async with self._writing() as session:
            ends = sorted({end for pair in pairs for end in pair})
            refuse_pairs(pairs, await session.column(statement("missing", ElementKind.ENTITY), ids=ends))
            marks = ordered(pairs)
            marked = await session.run(
                statement("mark distinct" if distinct else "unmark distinct"),
                low_ids=[low for low, _ in marks],
                high_ids=[high for _, high in marks],
            )
            return marked.count

    async def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[Pair]:
        async with self._reading() as session:
            return await session.rows(statement("distinct pairs"), ids=list(entity_ids))

    async def write_communities(
        self, communities: Sequence[Community], *, replacing: Sequence[UUID] | None = None
    ) -> None:
        async with self._writing() as session:
            replaced = None if replacing is None else {*replacing, *(each.id for each in communities)}
            members = [member for each in communities for member in each.members]
            stay = await _communities_of(session, members) if replaced is not None else {}
            if replaced is not None and stay:
                replaced |= set(stay.values()).difference(
                    each.id for each in await _shown(session, list(set(stay.values())))
                )
            refuse_communities(
                communities, {key for key, community in stay.items() if community not in (replaced or ())}
            )
            there = await session.column(statement("existing", ElementKind.ENTITY, table="entity"), ids=members)
            gone = set(members).difference(there)
            summaries = await _kept_summaries(session, communities)
            await drop_communities(session, replaced)
            kept = [kept for each in communities if (kept := each.without(gone))]
            await insert_communities(session, [attrs.evolve(each, summary=summaries.get(each.id)) for each in kept])

    async def write_summary(self, community: Community, *, version: Hashable) -> bool:
        async with self._writing() as session:
            stored = await _shown(session, [community.id])
            if session.changes != version or not stored or stored[0].members != community.members:
                return False
            await session.run(statement("mark summarised"))
            summary = None if community.summary is None else Jsonb(encode(community.summary))
            await session.run(statement("set summary"), id=community.id, summary=summary)
            return True

    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> Sequence[Community]:
        # Tables are read one by one and not joined: the planner's statistics may be out of date, and a join of
        # hundreds of thousands of rows for a handful takes minutes.
        async with self._reading() as session:
            validation.refuse("page", None if limit is None else validation.number("limit", limit, 0))
            ids = None if entity_ids is None else await _communities_shown(session, entity_ids)
            kept = await _shown(session, ids)
            first = sorted(kept, key=lambda community: (-community.size, community.id))[:limit]
            named = [member for each in first for member in each.named]
            names = dict(await session.rows_kept(statement("names of"), ids=named))
            return [each.labelled(names) for each in first]


def _record(row: dict[str, Any]) -> Record:
    number, held = row.pop("number"), row.pop("held")
    return Record(Merge(**row), number, held)


async def _hold(session: Session, key: UUID, step: int) -> None:
    """Add to the counts of mentions and claims of an entity's merge, and of the merges above it."""
    above = (await read_tree(session, [key])).above([key])
    await session.run(statement("count held"), ids=above, step=step)


async def _move(session: Session, relations: Collection[Relation], now: datetime) -> None:
    """Redirect asserted relations to the entities that their ends were merged into."""
    if not relations:
        return
    found = await session.rows(statement("original ends"), ids=[each.id for each in relations])
    given = {key: (source, target) for key, source, target in found}
    ends = {each.id: given.get(each.id, (each.source_id, each.target_id)) for each in relations}
    tree = await read_tree(session, {end for pair in ends.values() for end in pair})
    moved = [redirected(each, ends[each.id], tree.root, now) for each in relations]
    await put_relations(session, moved, types_of(session.types), now, folded=False)
    meant = {each.id: (each.source_id, each.target_id) for each in moved}
    await keep_original_ends(session, {key: (None, None) if meant[key] == pair else pair for key, pair in ends.items()})


async def _shown(session: Session, ids: Sequence[UUID] | None) -> list[Community]:
    """Stored communities without merged members, not labelled."""
    found = await stored_communities(session, ids)
    members = [member for each in found for member in each.members]
    merged = set(await session.column(statement("merged away"), ids=members))
    return [shown for each in found if (shown := each.without(merged))]


async def _kept_summaries(session: Session, communities: Sequence[Community]) -> dict[UUID, CommunitySummary]:
    """The stored summaries of communities in which every member stays."""
    if not session.summarised:
        return {}
    stays = {each.id: set(each.members) for each in communities}
    stored = await _shown(session, list(stays))
    return {each.id: each.summary for each in stored if each.summary and stays[each.id].issuperset(each.members)}


async def insert_communities(session: Session, communities: Sequence[Community]) -> None:
    """Communities, their summaries and their members, each in order of key."""
    summaries = [None if each.summary is None else Jsonb(encode(each.summary)) for each in communities]
    if any(summaries) and not session.summarised:
        await session.run(statement("mark summarised"))
    await session.run(
        statement("insert communities"),
        ids=[each.id for each in communities],
        densities=[float(each.density) for each in communities],
        summaries=summaries,
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


async def _communities_shown(session: Session, entity_ids: Collection[UUID]) -> list[UUID]:
    """The communities of entities, except of merged ones."""
    of = await _communities_of(session, entity_ids)
    merged = set(await session.column(statement("merged away"), ids=list(of)))
    return sorted({community for entity, community in of.items() if entity not in merged})


async def _communities_of(session: Session, entity_ids: Collection[UUID]) -> dict[UUID, UUID]:
    return dict(await session.rows_kept(statement("communities of"), entity_ids=list(entity_ids)))
