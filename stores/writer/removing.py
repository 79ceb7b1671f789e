"""Removing elements in a write, with everything that goes with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final
from uuid import UUID

from graphsearch.model import Entity, Memory
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import Entry, RelationRow
from graphsearch.stores.writer.work import Work

_LEAST_MEMBERS: Final = 2


def drop_relations(work: Work, keys: Iterable[UUID]) -> set[UUID]:
    """Remove relations; return the entities that they joined."""
    gone = list(keys)
    ends = {end for key in gone for end in work.relations[key].ends}
    work.relations.drop(gone)
    return ends


def unproved(work: Work, keys: Iterable[UUID], forgotten: Collection[str]) -> set[UUID]:
    """Relations without claims that go with forgotten evidence; the others lose that alone.

    A retracted one goes with any of its evidence, since it may quote it; an asserted one only with the last.
    """
    gone = set()
    for key in keys:
        row = work.relations[key]
        left = tuple(each for each in row.relation.evidence if each not in forgotten)
        if row.relation.retracted_at is not None or not left:
            gone.add(key)
        else:
            work.relations.put(revised(row, relation=revised(row.relation, evidence=left)))
    return gone


# -- entities that nothing names -----------------------------------------------------------------------------------


async def drop_unnamed(work: Work, keys: Iterable[UUID], *, prune: bool = False) -> tuple[set[UUID], set[UUID]]:
    """Remove those of some entities that nothing names or keeps, with their retracted relations; return both.

    Retracted relations do not keep entities that only mentions named, whose names are forgotten words: what they joined
    goes in turn. With ``prune`` they keep no entity, and nothing goes in turn.
    """
    gone: set[UUID] = set()
    lapsed: set[UUID] = set()
    waiting = set(keys)
    while waiting:
        await work.read_entities(waiting)
        unmerged = (key for key in waiting if key not in work.tree.into and not work.tree.absorbs(key))
        apart = {key for key in unmerged if key in work.entities}
        await work.read_forms(apart)
        fading = {key for key in apart if not work.mentions_of(key)}
        touching = await work.relations.by("end", fading)
        for row in touching:
            fading.difference_update([end for end in row.ends if _keeps(row, named=prune or is_named(work, end))])
        relations = [row for row in touching if not fading.isdisjoint(row.ends)]
        work.entities.drop(fading)
        work.relations.drop([row.key for row in relations])
        gone |= fading
        lapsed.update(row.key for row in relations)
        joined = set() if prune else {end for row in relations for end in row.ends} - gone
        await work.read_entities(joined)
        waiting = {key for key in joined if is_named(work, key)}
    return gone, lapsed


def _keeps(row: RelationRow, *, named: bool) -> bool:
    """Whether a relation keeps an entity that nothing mentions."""
    return row.relation.retracted_at is None or not named


def is_named(work: Work, key: UUID) -> bool:
    """Whether an entity exists that only mentions name."""
    row = work.entities.get(key)
    return row is not None and row.named


# -- merged entities -----------------------------------------------------------------------------------------------


async def forget_merged(work: Work, keys: Iterable[UUID]) -> tuple[set[UUID], set[UUID]]:
    """Remove those merged entities that nothing mentions any more, with the records of their merges.

    Retracted relations do not keep entities that only mentions named, and go with them. Returns both. What they were
    merged into loses names.
    """
    gone: set[UUID] = set()
    lapsed: set[UUID] = set()
    waiting = {key for key in keys if key in work.tree.into}
    while waiting:
        await work.read_forms(waiting)
        claims = await work.claims.by("written", waiting)
        stated = {end for row in claims for end in (row.claim.source_id, row.claim.target_id)}
        stated |= {end for row in await work.relations.by("written", waiting) for end in row.given or ()}
        touching = await work.relations.by("end", waiting)
        fading = {
            key
            for key in waiting
            if key not in stated
            and not work.mentions_of(key)
            and not work.tree.absorbs(key)
            and not any(key in row.ends and _keeps(row, named=is_named(work, key)) for row in touching)
        }
        lapsed |= {row.key for row in touching if not fading.isdisjoint(row.ends)}
        targets = {key: work.tree.into[key] for key in fading}
        for key, target in targets.items():
            work.lost.setdefault(target, set()).update(work.lost.get(key, ()))  # it may have had its name from it
        await drop_merges(work, fading)
        gone |= fading
        work.touched.update(targets.values())
        waiting = {target for target in targets.values() if target in work.tree.into}
    drop_relations(work, lapsed)
    work.entities.drop(gone)
    return gone, lapsed


async def drop_merges(work: Work, keys: Collection[UUID]) -> None:
    """Take entities out of the merges, with all records that name them."""
    for key in keys:
        work.tree.part(key)
    work.merges.drop([row.key for row in await work.merges.by("end", keys)] if work.scope.merges else ())


# -- what goes with elements ---------------------------------------------------------------------------------------


async def drop_ties(work: Work) -> int:
    """Remove links, marks and memberships of the elements that are dropped; return the number of links and marks."""
    links = await work.links.by("memory", work.memories.gone)
    marks = await work.marks.by("entity", work.entities.gone)
    work.links.drop([row.key for row in links])
    work.marks.drop([row.key for row in marks])
    await _leave_communities(work, work.entities.gone)
    return len(links) + len(marks)


async def drop_references(work: Work) -> int:
    """Remove the elements that are dropped from the log of injections; return how many entries of it name them."""
    gone, number = work.gone, 0
    for row in await work.injections.by("element", gone):
        injection = row.value
        kept = tuple(each for each in injection.elements if (str(each.kind), each.id) not in gone)
        number += len(injection.elements) - len(kept)
        work.injections.put(Entry(row.key, revised(injection, elements=kept)))
    return number


async def _leave_communities(work: Work, keys: Collection[UUID]) -> None:
    """Take entities out of their communities, and remove communities with fewer than two remaining members."""
    leaving = await work.members.by("entity", keys)
    work.members.drop([row.key for row in leaving])
    communities = {row.community_id for row in leaving}
    staying: dict[UUID, list[UUID]] = {key: [] for key in communities}
    for row in await work.members.by("community", communities):
        staying[row.community_id].append(row.key)
    left = [key for key, members in staying.items() if len(members) < _LEAST_MEMBERS]
    work.members.drop([member for key in left for member in staying[key]])
    await work.communities.read(left)
    work.communities.drop(left)


async def drop_summaries(work: Work) -> None:
    """Drop the summaries of communities a member of which, or what was known of it, this write removes or rewrites."""
    if not work.scope.summarised:
        return
    rewritten = {
        old.key
        for old, new in work.memories.changes.values()
        if old is not None and (new is None or _worded(old.memory) != _worded(new.memory))
    }
    await work.relations.by("evidence", rewritten)
    members = await work.members.by("entity", {*_changed(work), *_stated_in(work, rewritten)})
    for row in await work.communities.those({row.community_id for row in members}):
        if row.summary is not None:
            work.communities.put(revised(row, summary=None))


def _changed(work: Work) -> Iterator[UUID]:
    """The entities that are gone, renamed, merged or separated, their targets, and ends of relations that say less."""
    for old, new in work.entities.changes.values():
        if old is not None and (new is None or _is_renamed(old.entity, new.entity)):
            targets = (old.entity.merged_into, new.entity.merged_into if new else None)
            yield from (old.key, *(target for target in targets if target))
    for was, now in work.relations.changes.values():
        if was is not None and (now is None or (was.relation.retracted_at is None and _is_reworded(was, now))):
            yield from was.ends


def _stated_in(work: Work, memories: set[str]) -> Iterator[UUID]:
    """The entities about which memories stated anything; their mentions, claims and relations were read."""
    for mention in work.mentions.stored.values():
        if mention is not None and mention.mention.memory_id in memories:
            yield mention.entity_id
    for claim in work.claims.stored.values():
        if claim is not None and claim.claim.memory_id in memories:
            yield from claim.ends
    for row in work.relations.stored.values():
        if row is not None and not memories.isdisjoint(row.relation.evidence):
            yield from row.ends


def _is_renamed(old: Entity, new: Entity) -> bool:
    return (old.name, old.merged_into) != (new.name, new.merged_into)


def _is_reworded(old: RelationRow, new: RelationRow) -> bool:
    lost = new.relation.retracted_at is not None or not set(old.relation.evidence) <= set(new.relation.evidence)
    return lost or _stated(old) != _stated(new)


def _stated(row: RelationRow) -> tuple[object, ...]:
    relation = row.relation
    return row.ends, relation.type, relation.valid_from, relation.valid_to, relation.fact


def _worded(memory: Memory) -> tuple[object, ...]:
    return memory.text, memory.subject, memory.speaker, memory.occurred_at
