"""Removing elements with everything that goes with them, once for every store."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

import attrs

from graphsearch.model.validation import revised
from graphsearch.stores.writer.folding import put_relation
from graphsearch.stores.writer.rows import Entry, MergeRow, RelationRow
from graphsearch.stores.writer.work import Work

Lost = dict[UUID, set[str]]
"""Surfaces that lost a mention, by the entity they were written for."""


async def unproved(work: Work, keys: Iterable[UUID], forgotten: Collection[str]) -> set[UUID]:
    """Relations without claims to delete with forgotten evidence.

    A retracted one goes with any of its evidence, since it may quote it; an asserted one only with the last.
    """
    gone = set()
    for key in keys:
        row = work.get("relation", key)
        left = tuple(each for each in row.relation.evidence if each not in forgotten)
        if len(left) == len(row.relation.evidence):
            continue
        if row.relation.retracted_at is not None or not left:
            gone.add(key)
        else:
            put_relation(work, revised(row.relation, evidence=left), folded=row.folded)
    return gone


def drop_relations(work: Work, keys: Iterable[UUID]) -> set[UUID]:
    """Remove relations; return the entities that they joined."""
    gone = list(keys)
    ends = {end for key in gone for end in work.get("relation", key).ends}
    work.drop("relation", gone)
    return ends


async def _unmentioned(work: Work, keys: Iterable[UUID], *, named: bool) -> set[UUID]:
    """The existing ones of some entities that no mention names and that are part of no merge."""
    await work.read_entities(keys)
    rows = {key: row for key in keys if (row := work.get("entity", key)) is not None and (row.named or not named)}
    apart = [key for key in rows if not work.merges(key)]
    await work.read_forms(apart)
    return {key for key in apart if not any(True for _ in work.forms([key]))}


async def isolated(work: Work, keys: Iterable[UUID]) -> list[UUID]:
    """The entities without mentions and relations that are part of no merge."""
    alone = await _unmentioned(work, keys, named=False)
    for row in await work.rows_by("relation", "end", alone):
        alone.difference_update(row.ends)
    return sorted(alone)


async def drop_faded(work: Work, keys: Iterable[UUID], *, named: bool = True) -> tuple[list[UUID], set[UUID]]:
    """Remove entities that no mention names and that have nothing but retracted relations, with these.

    With ``named`` only those that exist through their mentions, and what these relations joined in turn: their names are
    forgotten words. Returns both.
    """
    gone: list[UUID] = []
    relations: set[UUID] = set()
    waiting = await _unmentioned(work, keys, named=named)
    while waiting:
        touching = await work.rows_by("relation", "end", waiting)
        for row in touching:
            if row.relation.retracted_at is None:
                waiting.difference_update(row.ends)
        lapsed = {row.key for row in touching if not waiting.isdisjoint(row.ends)}
        drop_entities(work, waiting)
        gone += waiting
        relations |= lapsed
        joined = drop_relations(work, lapsed).difference(gone)
        waiting = await _unmentioned(work, joined, named=True) if named else set()
    return sorted(gone), relations


def drop_entities(work: Work, keys: Iterable[UUID]) -> None:
    """Remove entities; what belongs to them goes with them at the end (`drop_ties`)."""
    work.drop("entity", keys)


async def forget_merged(work: Work, keys: Iterable[UUID], lost: Lost) -> tuple[list[UUID], set[UUID], set[UUID]]:
    """Remove those merged entities that nothing mentions any more, with the records of their merges.

    Retracted relations do not keep entities that only mentions named, and go with them. Returns both, and the entities
    that they were merged into, which lose names.
    """
    gone: list[UUID] = []
    lapsed: set[UUID] = set()
    left: set[UUID] = set()
    waiting = {key for key in keys if key in work.into}
    while waiting:
        await work.read_forms(waiting)
        mentioned = {form.entity_id for form in work.forms(waiting)}
        for row in await work.rows_by("claim", "written", waiting):
            mentioned |= {row.claim.source_id, row.claim.target_id}
        for row in await work.rows_by("relation", "written", waiting):
            mentioned |= set(row.given)
        touching = await work.rows_by("relation", "end", waiting)
        above = set()
        for key in sorted(waiting):
            own = [row for row in touching if key in row.ends and row.key not in lapsed]
            named = work.get("entity", key).named
            kept = any(row.relation.retracted_at is None or not named for row in own)
            if key in mentioned or kept or work.absorbs(key):
                continue
            lapsed |= {row.key for row in own}
            target = work.into[key]
            await drop_record_of(work, key)
            lost.setdefault(target, set()).update(lost.get(key, ()))  # it may have given one of these to the other
            gone.append(key)
            left.add(target)
            if target in work.into:
                above.add(target)
        waiting = above
    drop_relations(work, lapsed)
    drop_entities(work, gone)
    return sorted(gone), lapsed, left.difference(gone)


async def drop_record_of(work: Work, key: UUID) -> None:
    """Remove an entity from the merges, with all records that name it."""
    work.part(key)
    work.drop("merge", [row.key for row in await work.rows_by("merge", "end", [key])])


async def count_held(work: Work, key: UUID, number: int) -> None:
    """Add to the counts of mentions and claims of an entity's merge, and of the merges above it."""
    above = work.above([key])
    for row in await work.rows_by("merge", "end", above):
        if row.merge.undone_at is None and row.merge.source_id in above:
            work.put("merge", MergeRow(row.merge, row.number, row.held + number))


async def drop_ties(work: Work, *, log: bool = True) -> tuple[int, int]:
    """Remove what belongs to the elements that were dropped; return the numbers of links and marks, and of references.

    Links, marks, outcomes, memberships, and with ``log`` the entries of the log that name them.
    """
    gone = {
        kind: [key for key, row in work.after[kind].items() if row is None and work.before[kind].get(key) is not None]
        for kind in ("memory", "entity", "relation")
    }
    links = 0
    for kind, column, keys in (("link", "memory", gone["memory"]), ("distinct", "entity", gone["entity"])):
        rows = await work.rows_by(kind, column, keys)
        work.drop(kind, [row.key for row in rows])
        links += len(rows)
    await leave_communities(work, gone["entity"])
    named = {(kind, str(key)) for kind, keys in gone.items() for key in keys}
    if not named:
        return links, 0
    work.forgotten |= named
    references = 0
    for row in await work.rows_by("injection", "element", named) if log else ():
        kept = tuple(each for each in row.value.elements if (str(each[0]), str(each[1])) not in named)
        references += len(row.value.elements) - len(kept)
        work.put("injection", Entry(row.key, attrs.evolve(row.value, elements=kept)))
    return links, references


async def leave_communities(work: Work, keys: Collection[UUID]) -> None:
    """Remove entities from their communities, and communities with fewer than two remaining members."""
    leaving = await work.rows_by("member", "entity", keys)
    work.drop("member", [row.key for row in leaving])
    communities = {row.community_id for row in leaving}
    left = await work.rows_by("member", "community", communities)
    for community in communities:
        own = [row for row in left if row.community_id == community]
        if len(own) < 2:
            work.drop("member", [row.key for row in own])
            await work.rows("community", [community])
            work.drop("community", [community])


async def drop_summaries(work: Work) -> None:
    """Drop the summaries of communities a member of which, or what was known of it, this write removes or rewrites."""
    if not work.scope.summarised:
        return
    about: set[UUID | None] = set()
    for old, new in work.changed("entity").values():
        if old and (
            new is None or (old.entity.name, old.entity.merged_into) != (new.entity.name, new.entity.merged_into)
        ):
            about |= {old.key, old.entity.merged_into, new.entity.merged_into if new else None}
    for old, new in work.changed("relation").values():
        if old and (new is None or (old.relation.retracted_at is None and _is_reworded(old, new))):
            about |= set(old.ends)
    worded = ("text", "subject", "speaker", "occurred_at")
    memories = {
        old.key
        for old, new in work.changed("memory").values()
        if old and (new is None or any(getattr(old.memory, name) != getattr(new.memory, name) for name in worded))
    }
    about |= {row.entity_id for row in work.before["mention"].values() if row and row.mention.memory_id in memories}
    about |= {
        end for row in work.before["claim"].values() if row and row.claim.memory_id in memories for end in row.ends
    }
    await work.rows_by("relation", "evidence", memories)
    for row in work.before["relation"].values():
        if row and not memories.isdisjoint(row.relation.evidence):
            about |= set(row.ends)
    members = await work.rows_by("member", "entity", {key for key in about if key})
    for row in await work.rows("community", {row.community_id for row in members}):
        if row.summary is not None:
            work.put("community", attrs.evolve(row, summary=None))


def _is_reworded(old: RelationRow, new: RelationRow) -> bool:
    one, other = old.relation, new.relation
    stated = ("source_id", "type", "target_id", "valid_from", "valid_to", "fact")
    lost = other.retracted_at is not None or not set(one.evidence) <= set(other.evidence)
    return lost or any(getattr(one, name) != getattr(other, name) for name in stated)
