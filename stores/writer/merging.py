"""Merging entities and separating them again: what was written of a merged entity is meant of its target."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID, uuid5

from graphsearch._support.concurrency import in_slices
from graphsearch.errors import UnknownElementError
from graphsearch.model import Group, Merge, UndoReport, validation
from graphsearch.model.reports import refuse_merge
from graphsearch.model.stored import StoredMerge
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import ClaimRow, Ends, Port, RelationRow
from graphsearch.stores.writer.folding import finish, group_of_row, refold, retract
from graphsearch.stores.writer.removing import drop_references, drop_ties, drop_unnamed, forget_merged, is_named
from graphsearch.stores.writer.work import Work

_MERGE: Final = UUID("c9b1d1f5-6a53-5c0e-8a55-0d5e7c4b2f18")


async def merge(
    port: Port, source_id: UUID, target_id: UUID, now: datetime, *, dry_run: bool = False, retype: bool = False
) -> Merge:
    """Merge one entity into another (`GraphStore.merge`)."""
    work = Work(port, now)
    await work.read_entities([source_id, target_id])
    entities = {row.key: row.entity for row in work.entities}
    refuse_merge(source_id, target_id, entities.get(source_id), entities.get(target_id), retype=retype)
    tree = work.tree.below(source_id)
    mentions, claims, relations = await _held_by(work, source_id, tree)
    made = Merge(
        id=_merge_id(source_id, target_id, await work.merges.by("end", [source_id])),
        source_id=source_id,
        target_id=target_id,
        created_at=now,
        mentions=mentions,
        claims=claims,
        relations=relations,
    )
    if dry_run:
        return made
    await _count_held(work, target_id, mentions + claims)
    work.scope.merges += 1
    work.merges.put(StoredMerge(made, work.scope.merges, mentions + claims))
    _set_target(work, source_id, target_id)
    proved, lost = await refold(work, await _reproject(work, tree))
    for key in proved:
        old = work.relations.stored.get(key)
        if old is not None and old.relation.retracted_at is not None:
            work.relations.put(revised(work.relations[key], lapsed_at=old.relation.retracted_at))
    retract(work, lost)
    for row in await work.relations.by("end", [source_id]):
        if row.relation.retracted_at is None:
            _move(work, row, tree)
    work.touched.add(source_id)
    await finish(work)
    return made


async def undo_merge(port: Port, key: UUID, now: datetime) -> UndoReport:
    """Separate two entities again (`GraphStore.undo_merge`)."""
    work = Work(port, now)
    await work.merges.read([key])
    record = _refuse_undo(key, work.merges.get(key))
    source_id = record.merge.source_id
    await work.read_entities([source_id])
    tree, target_id = work.tree.below(source_id), work.tree.into[source_id]
    _set_target(work, source_id, None)
    work.merges.put(revised(record, merge=revised(record.merge, undone_at=now)))
    proved, lost = await refold(work, await _reproject(work, tree))
    for each in proved:
        if work.relations[each].lapsed_at is not None:
            work.relations.put(revised(work.relations[each], lapsed_at=None))
    _unmake(work, lost)
    moved = await work.relations.by("written", tree)
    await work.read_tree({end for row in moved if row.relation.retracted_at for end in row.given or ()})
    for row in moved:
        _move(work, row, tree)
    await _drop_nameless(work, target_id, tree)
    await _count_held(work, target_id, -record.held)
    work.touched |= {source_id, target_id}
    mentions, claims, relations = await _held_by(work, source_id, tree)
    stayed = await _written_since(work, record.number, work.tree.root(target_id), source_id)
    await drop_ties(work)
    await drop_references(work)
    return UndoReport(
        mentions=mentions,
        claims=claims,
        relations=relations,
        stayed=stayed,
        forgotten=max(0, record.held - mentions - claims),
        reworded=await finish(work),
    )


def _merge_id(source_id: UUID, target_id: UUID, earlier: Iterable[StoredMerge]) -> UUID:
    """UUIDv5 of the source, the target, and how often the one was merged into the other: it tells of no other merge."""
    before = sum((row.merge.source_id, row.merge.target_id) == (source_id, target_id) for row in earlier)
    return uuid5(_MERGE, f"{source_id} {target_id} {before}")


def _refuse_undo(key: UUID, record: StoredMerge | None) -> StoredMerge:
    """The record; raise `UnknownElementError` if it does not exist, `InvalidInputError` if it was undone."""
    if record is None:
        raise UnknownElementError(f"no merge {key} in this scope")
    undone_at = record.merge.undone_at
    validation.refuse(f"merge {key}", None if undone_at is None else f"it was undone at {undone_at}")
    return record


def _set_target(work: Work, source_id: UUID, target_id: UUID | None) -> None:
    """Let an entity be merged into another, or into none."""
    work.tree.part(source_id)
    if target_id is not None:
        work.tree.join(source_id, target_id)
    row = work.entities[source_id]
    work.entities.put(revised(row, entity=revised(row.entity, merged_into=target_id)))


# -- what moves ----------------------------------------------------------------------------------------------------


async def _reproject(work: Work, tree: Sequence[UUID]) -> set[Group]:
    """Let what was written of some entities mean what these are merged into now; return the groups to fold again."""
    work.repointed.update(tree)
    claims = await work.claims.by("written", tree)
    return await in_slices(_moved_groups(work, claims, set(tree)))


def _moved_groups(work: Work, claims: Iterable[ClaimRow], tree: set[UUID]) -> Generator[None, None, set[Group]]:
    """Let claims be between the entities that are meant now, in steps; return the groups that this changes."""
    groups: set[Group] = set()
    for row in claims:
        written = (row.claim.source_id, row.claim.target_id)
        source, target = (
            work.tree.root(end) if end in tree else now for end, now in zip(written, row.ends, strict=True)
        )
        if (source, target) != row.ends:
            moved = ClaimRow(row.claim, (source, target), row.ordinal, row.occurred_at, row.signature)
            work.claims.put(moved)
            groups.update(group_of_row(each, work.scope.types) for each in (row, moved))
        yield
    return groups


def _move(work: Work, row: RelationRow, tree: Sequence[UUID]) -> None:
    """Redirect the ends of an asserted relation that are among some entities to what these are merged into.

    It is retracted as long as merges turn it into one of an entity about itself, and does not move meanwhile.
    """
    relation, given = row.relation, row.given or row.ends
    stale = relation.retracted_at is not None
    source, target = (
        work.tree.root(end) if stale or end in tree else now for end, now in zip(given, row.ends, strict=True)
    )
    retracted_at = None if _collapses(row.ends, given) else relation.retracted_at
    if _collapses((source, target), given):
        retracted_at = relation.retracted_at or work.now
    moved = revised(relation, source_id=source, target_id=target, retracted_at=retracted_at)
    work.relations.put(revised(row, relation=moved, given=None if (source, target) == given else given))


def _collapses(ends: Ends, given: Ends) -> bool:
    """Whether merges have turned a relation of two entities into one of an entity about itself."""
    return ends[0] == ends[1] and given[0] != given[1]


def _unmake(work: Work, keys: Iterable[UUID]) -> None:
    """Remove relations that only a merge made, or retract again those that a merge revived."""
    for key in keys:
        row = work.relations[key]
        if row.lapsed_at is None:
            work.relations.drop([key])
        else:
            again = revised(row.relation, retracted_at=row.lapsed_at)
            work.relations.put(revised(row, relation=again, folded=False, lapsed_at=None))


async def _drop_nameless(work: Work, target_id: UUID, tree: Sequence[UUID]) -> None:
    """Let a target that took its name from separated entities, and what it was merged into, take another.

    One that only mentions named goes when none does any more, with those that this leaves so.
    """
    await work.read_forms(tree)
    shown = {work.entities[key].entity.name for key in work.tree.above([target_id])}
    surfaces = {surface for surface, _, _ in work.forms(*tree)}
    work.lost.setdefault(target_id, set()).update(surfaces & shown)
    if is_named(work, target_id):
        gone, _ = await forget_merged(work, [target_id])
        if not gone:
            await drop_unnamed(work, [target_id])


# -- counts --------------------------------------------------------------------------------------------------------


async def _held_by(work: Work, key: UUID, tree: Sequence[UUID]) -> tuple[int, int, int]:
    """The numbers of mentions, claims and unretracted relations of an entity, with all that was merged into it."""
    await work.read_forms(tree)
    claims = await work.claims.by("written", tree)
    relations = await work.relations.by("end", [key])
    return (
        work.mentions_of(*tree),
        sum(key in row.ends for row in claims),
        sum(row.relation.retracted_at is None for row in relations),
    )


async def _count_held(work: Work, key: UUID, number: int) -> None:
    """Add to the counts of mentions and claims of an entity's merge, and of the merges above it."""
    above = work.tree.above([key])
    for row in await work.merges.by("end", above):
        if row.merge.undone_at is None and row.merge.source_id in above:
            work.merges.put(revised(row, held=row.held + number))


async def _written_since(work: Work, number: int, key: UUID, source_id: UUID) -> int:
    """Count the mentions and claims of an entity, not of a source, in memories written since a merge."""
    tree = work.tree.below(key)
    claims = [row for row in await work.claims.by("written", tree) if key in row.ends and source_id not in row.ends]
    mentions = await work.mentions.by("written", tree)
    memories = [*(row.mention.memory_id for row in mentions), *(row.claim.memory_id for row in claims)]
    since = {row.key for row in await work.memories.those(memories) if row.merges >= number}
    return sum(key in since for key in memories)
