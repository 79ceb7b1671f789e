"""Writing a batch, forgetting memories, merging and separating entities: each algorithm once, over the port of rows.

Every operation reads what it needs, a constant number of times; computes; and writes each kind of row once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import attrs
import numpy as np

from graphsearch.claims.folding import group_of, type_named
from graphsearch.claims.naming import is_typed_by_mentions
from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, Entity, Group, Merge, Relation, RelationType, UndoReport, WriteReport
from graphsearch.model.reports import refuse_merge
from graphsearch.model.signatures import memory_signature
from graphsearch.model.validation import revised
from graphsearch.stores.shared.merging import collapses, merge_id, redirected, refuse_undo, shown, stated
from graphsearch.stores.shared.vectors import read_vectors, refuse_other_model, with_current_vectors
from graphsearch.stores.writer.folding import (
    Folded,
    claim_order,
    keep_code,
    mention_order,
    numbered,
    put_relation,
    refold,
    rename,
    retract,
    sign_relations,
)
from graphsearch.stores.writer.removing import (
    Lost,
    count_held,
    drop_entities,
    drop_faded,
    drop_record_of,
    drop_relations,
    drop_summaries,
    drop_ties,
    forget_merged,
    isolated,
    unproved,
)
from graphsearch.stores.writer.rows import (
    ClaimRow,
    EntityRow,
    Entry,
    MemoryRow,
    MentionRow,
    MergeRow,
    Port,
    RelationRow,
)
from graphsearch.stores.writer.work import Work, by
from graphsearch.text.bm25 import stepped

# -- writing -------------------------------------------------------------------------------------------------------


async def write(port: Port, batch: Batch, now: datetime) -> WriteReport:
    """Write all of a batch, or nothing (`graphsearch.protocols.Writing.write`)."""
    work = Work(port, now)
    entities = {each.id: each for each in (*batch.named, *batch.entities)}
    named = {each.id for each in batch.named}.difference(each.id for each in batch.entities)
    memories = {each.id: each for each in batch.memories}
    relations = {each.id: each for each in batch.relations}
    batch = await _read(work, batch, entities.keys(), memories, relations)
    _check(work, batch, entities, memories, relations)
    written = sum([_put_entity(work, each, named=each.id in named) for each in entities.values()])
    for key, words in batch.words.items():
        work.put("words", Entry(key, {word: stepped(weight) for word, weight in words.items()}))
    changed_memories, others = _put_memories(work, memories.values())
    groups, touched, lost, before = await _put_proof(work, batch, memories, others)
    touched |= entities.keys()
    for each in relations.values():
        groups |= _put_given(work, each)
    folded = await refold(work, groups, Folded())
    proved, retracted = set(folded.kept), retract(work, folded.lost)
    gone, _, left = await forget_merged(work, {key for key in before if _is_named(work, key)}, lost)
    pruned, _ = await drop_faded(work, batch.prune, named=False) if batch.prune else ([], set())
    reworded, resigned = await rename(work, (touched | left).difference(gone, pruned), lost)
    await _sign_evidence(work, memories)
    await sign_relations(work, folded, resigned)
    await work.rows("counter", batch.counters)
    for name, number in batch.counters.items():
        old = work.get("counter", name)
        work.put("counter", Entry(name, number + (old.value if old else 0)))
    _put_vectors(work, batch)
    if gone or pruned:
        await drop_ties(work, log=False)
    await drop_summaries(work)
    await work.flush()
    return WriteReport(
        entities=written,
        relations=_changed(work, relations.keys() | proved),
        memories=changed_memories,
        relations_retracted=retracted,
        entities_removed=len(pruned),
        reworded=tuple(key for key in reworded if key not in batch.vectors and key not in pruned),
    )


async def _read(work: Work, batch: Batch, entities: Iterable[UUID], memories: Any, relations: Any) -> Batch:
    """Read the rows that a batch names, and what they had before; leave out vectors of outdated texts."""
    work.rewritten |= memories.keys()
    texts = {key for key in batch.vectors if isinstance(key, str)}
    ids = batch.vectors.keys() - texts
    await work.rows("memory", {*memories, *texts, *(key for each in batch.relations for key in each.evidence)})
    had = [*await work.rows_by("mention", "memory", memories), *await work.rows_by("claim", "memory", memories)]
    ends = {row.mention.entity_id if isinstance(row, MentionRow) else row.claim.source_id for row in had}
    ends |= {row.claim.target_id for row in had if isinstance(row, ClaimRow)}
    ends |= {each.entity_id for each in batch.mentions}
    ends |= {end for each in (*batch.claims, *batch.relations) for end in (each.source_id, each.target_id)}
    await work.read_entities({*entities, *ends, *batch.prune, *ids})
    await work.rows("relation", {*relations, *(key for key in ids if work.get("entity", key) is None)})
    if not batch.embedded:
        return batch
    told = [key for key in batch.embedded if isinstance(key, str)]
    others = batch.embedded.keys() - told
    of_kind = {"entity": others, "relation": others, "memory": told}
    rows = [row for kind, keys in of_kind.items() for row in await work.rows(kind, keys)]
    return with_current_vectors(batch, [getattr(row, type(row).__name__[:-3].lower()) for row in rows])


def _check(work: Work, batch: Batch, entities: Any, memories: Any, relations: Any) -> None:
    """Raise `InvalidInputError` that names every fault of a batch, or `EmbeddingModelError`."""

    def is_entity(key: Any) -> bool:
        return key in entities or work.get("entity", key) is not None

    def is_memory(key: Any) -> bool:
        return key in memories or work.get("memory", key) is not None

    vectors = read_vectors(batch.vectors)
    faults = [
        f"mention {each.surface!r}: no entity {each.entity_id}"
        for each in batch.mentions
        if not is_entity(each.entity_id)
    ]
    for kind, edges in (("relation", batch.relations), ("claim", batch.claims)):
        faults += [
            f"{kind} {each.type!r}: no entity {end}"
            for each in edges
            for end in (each.source_id, each.target_id)
            if not is_entity(end)
        ]
    for kind, proofs in (("mention", batch.mentions), ("claim", batch.claims)):
        faults += [
            f"{kind}: memory {each.memory_id!r} is not in the batch"
            for each in proofs
            if each.memory_id not in memories
        ]
    faults += [
        f"relation {each.id}: no memory {key!r}"
        for each in batch.relations
        for key in each.evidence
        if not is_memory(key)
    ]
    faults += vectors.faults
    faults += [
        f"vector: no element {key}"
        for key in vectors.keys
        if not (
            is_memory(key)
            if isinstance(key, str)
            else is_entity(key) or key in relations or work.get("relation", key) is not None
        )
    ]
    if faults:
        raise InvalidInputError("batch", sorted(set(faults)))
    refuse_other_model(batch, work.scope.embedder)
    vectors.refuse_others(work.scope.embedder, work.scope.dimensions)


def _put_entity(work: Work, entity: Entity, *, named: bool) -> bool:
    """Write an entity as it is given; return whether that changed anything. Its names are folded later."""
    old: EntityRow | None = work.get("entity", entity.id)
    type_ = entity.type
    if old and is_typed_by_mentions(type_, named=named) and old.named and old.entity.type != old.given_type:
        type_ = old.entity.type  # a type stated by mentions stays while they do
    own: dict[str, Any] = {"merged_into": work.into.get(entity.id, entity.merged_into), "type": type_}
    if old:
        kept = old.entity
        own |= {"created_at": kept.created_at, "feedback_weight": kept.feedback_weight, "aliases": kept.aliases}
    else:
        own |= {"created_at": entity.created_at or work.now}
    row = EntityRow(revised(entity, **own), entity.type, entity.aliases, named, old.signature if old else 0)
    work.put("entity", row)
    return row != old


def _put_memories(work: Work, memories: Iterable[Any]) -> tuple[int, set[str]]:
    """Write memories; return how many changed, and which of them have another time or signature."""
    changed, others = 0, set()
    for memory in memories:
        old: MemoryRow | None = work.get("memory", memory.id)
        code = keep_code(work, memory_signature(memory))
        created = old.memory.created_at if old else memory.created_at or work.now
        weight = old.memory.feedback_weight if old else memory.feedback_weight
        new = revised(memory, created_at=created, feedback_weight=weight)
        work.put("memory", MemoryRow(new, old.merges if old else 0, code))
        changed += old is None or old.memory != new
        if old is None or (old.memory.occurred_at, old.signature) != (new.occurred_at, code):
            others.add(memory.id)
    return changed, others


async def _put_proof(
    work: Work, batch: Batch, memories: Any, others: set[str]
) -> tuple[set[Group], set[UUID], Lost, set[UUID]]:
    """Replace the mentions and claims of memories.

    Returns the groups to fold again, the entities whose names may change, the surfaces that they lost, and the entities
    that merged ones among the old mentions and claims were written for.
    """
    groups: set[Group] = set()
    touched: set[UUID] = set()
    lost: Lost = {}
    before: set[UUID] = set()
    had_mentions = by(await work.rows_by("mention", "memory", memories), lambda row: row.mention.memory_id)
    had_claims = by(await work.rows_by("claim", "memory", memories), lambda row: row.claim.memory_id)
    mentions, claims = by(batch.mentions, lambda each: each.memory_id), by(batch.claims, lambda each: each.memory_id)
    for key in memories:
        row = work.get("memory", key)
        old_mentions, old_claims = had_mentions.get(key, []), had_claims.get(key, [])
        written: Any = (mentions.get(key, ()), claims.get(key, ()))
        if work.into:
            had = {each.mention for each in old_mentions} | {each.claim for each in old_claims}
            written = stated(written[0], written[1], had, work.root)
            before |= {each.mention.entity_id for each in old_mentions}
            before |= {end for each in old_claims for end in (each.claim.source_id, each.claim.target_id)}
        copied = (row.memory.created_at, row.memory.occurred_at, row.signature)
        new_mentions = [
            MentionRow(each, work.root(each.entity_id), ordinal, *copied)
            for ordinal, each in numbered(written[0], mention_order)
        ]
        new_claims = [
            ClaimRow(each, (work.root(each.source_id), work.root(each.target_id)), ordinal, *copied[1:])
            for ordinal, each in numbered(written[1], claim_order)
        ]
        other_claims = {each.claim for each in old_claims} != {each.claim for each in new_claims}
        other_mentions = {each.mention for each in old_mentions} != {each.mention for each in new_mentions}
        if other_claims or key in others:
            groups |= {group_of(each.shown, work.scope.types) for each in (*old_claims, *new_claims)}
        if other_mentions or key in others:
            touched |= {each.entity_id for each in (*old_mentions, *new_mentions)}
            touched |= {each.mention.entity_id for each in (*old_mentions, *new_mentions)}
            for each in old_mentions:
                lost.setdefault(each.mention.entity_id, set()).add(each.mention.surface)
        for kind, old, new in (("mention", old_mentions, new_mentions), ("claim", old_claims, new_claims)):
            work.drop(kind, [each.key for each in old])
            for each in new:
                work.put(kind, each)
        if work.scope.merges and (other_claims or other_mentions):
            work.put("memory", MemoryRow(row.memory, work.scope.merges, row.signature))
    return groups, touched, lost, before


def _is_named(work: Work, key: UUID) -> bool:
    row = work.get("entity", key)
    return row is not None and row.named


def _put_given(work: Work, relation: Relation) -> set[Group]:
    """Write an asserted relation between the entities that are meant; return its group if claims prove it as well.

    A relation that moved with a merge, and is asserted again unchanged, moves back when the merge is undone; so does
    one that would lead from an entity to itself.
    """
    old: RelationRow | None = work.get("relation", relation.id)
    ends, moved = (relation.source_id, relation.target_id), old.given if old else None
    meant = shown(relation, work.root)
    if collapses(relation, work.root):
        moved = ends
        meant = attrs.evolve(meant, retracted_at=relation.retracted_at or work.now)
    elif moved != ends:
        moved = None
    put_relation(work, meant, folded=False, given=moved)
    if old is None or not old.folded:
        return set()
    row = work.get("relation", relation.id)
    work.put("relation", RelationRow(row.relation, True, row.given, row.lapsed_at, row.signature))
    return {group_of(meant, work.scope.types)}


async def _sign_evidence(work: Work, memories: Iterable[str]) -> None:
    """Put the relations proved by memories with another signature, to be signed anew."""
    resigned = [
        key
        for key in memories
        if (old := work.before["memory"].get(key)) and old.signature != work.get("memory", key).signature
    ]
    for row in await work.rows_by("relation", "evidence", resigned):
        if row.key not in work.after["relation"] and not row.folded:
            work.put("relation", row)


def _put_vectors(work: Work, batch: Batch) -> None:
    for matrix in read_vectors(batch.vectors).matrices:
        for key, row in zip(matrix.keys, matrix.rows, strict=True):
            kinds = ("memory",) if isinstance(key, str) else ("entity", "relation")
            kind = next((kind for kind in kinds if work.get(kind, key) is not None), None)
            if kind:
                work.put(f"{kind}_vector", Entry(key, np.asarray(row)))


def _changed(work: Work, keys: Iterable[UUID]) -> int:
    """The number of relations that are new or changed."""
    rows = ((work.before["relation"].get(key), work.get("relation", key)) for key in keys)
    return sum(row is not None and (old is None or old.relation != row.relation) for old, row in rows)


# -- forgetting ----------------------------------------------------------------------------------------------------


async def forget(port: Port, memory_ids: Sequence[str], now: datetime, *, dry_run: bool = False) -> WriteReport:
    """Delete memories with their mentions and claims, and all that nothing else proves (`Writing.forget`)."""
    work = Work(port, now)
    forgotten = {row.key for row in await work.rows("memory", memory_ids)}
    if not forgotten:
        return WriteReport()
    work.rewritten |= forgotten
    mentions = await work.rows_by("mention", "memory", forgotten)
    claims = await work.rows_by("claim", "memory", forgotten)
    proved = {row.key for row in await work.rows_by("relation", "evidence", forgotten)}
    groups = {group_of(row.shown, work.scope.types) for row in claims}
    touched = {end for row in claims for end in (*row.ends, row.claim.source_id, row.claim.target_id)}
    touched |= {end for row in mentions for end in (row.entity_id, row.mention.entity_id)}
    lost: Lost = {}
    for row in mentions:
        lost.setdefault(row.mention.entity_id, set()).add(row.mention.surface)
    for kind, rows in (("memory", [*work.before["memory"].values()]), ("mention", mentions), ("claim", claims)):
        work.drop(kind, [row.key for row in rows if row is not None])
    folded = await refold(work, groups, Folded())
    kept = set(folded.kept)
    gone = folded.lost | await unproved(work, proved - folded.lost - folded.kept, forgotten)
    touched |= drop_relations(work, gone)
    await work.read_entities(touched)
    removed, lapsed, left = await forget_merged(work, touched, lost)
    alone = await isolated(work, touched.difference(removed))
    drop_entities(work, alone)
    faded, others = await drop_faded(work, touched.difference(removed, alone))
    removed, gone = [*removed, *alone, *faded], gone | lapsed | others
    reworded, resigned = await rename(work, (lost.keys() | left).difference(removed), lost)
    await sign_relations(work, folded, resigned)
    links, references = await drop_ties(work)
    if not dry_run:
        await drop_summaries(work)
        await work.flush()
    return WriteReport(
        memories=len(forgotten),
        relations=_changed(work, kept),
        relations_retracted=len(gone),
        entities_removed=len(removed),
        mentions_removed=len(mentions),
        claims_removed=len(claims),
        links_removed=links,
        references_removed=references,
        reworded=reworded,
    )


# -- merging -------------------------------------------------------------------------------------------------------


async def merge(
    port: Port, source_id: UUID, target_id: UUID, now: datetime, *, dry_run: bool = False, retype: bool = False
) -> Merge:
    """Merge one entity into another (`Curating.merge`)."""
    work = Work(port, now)
    await work.read_entities([source_id, target_id])
    source, target = (work.get("entity", key) for key in (source_id, target_id))
    refuse_merge(source_id, target_id, source and source.entity, target and target.entity, retype=retype)
    tree = work.below(source_id)
    number = work.scope.merges + 1
    mentions, claims, relations = await _held_by(work, source_id, tree)
    earlier = await work.rows_by("merge", "end", [source_id])
    made = Merge(
        id=merge_id(source_id, target_id, (row.merge for row in earlier)),
        source_id=source_id,
        target_id=target_id,
        created_at=now,
        mentions=mentions,
        claims=claims,
        relations=relations,
    )
    if dry_run:
        return made
    await count_held(work, target_id, mentions + claims)
    work.scope.merges = number
    work.join(source_id, target_id)
    work.put("merge", MergeRow(made, number, mentions + claims))
    work.put("entity", attrs.evolve(source, entity=revised(source.entity, merged_into=target_id)))
    folded = await refold(work, await _reproject(work, tree), Folded())
    for key in folded.kept:
        old, row = work.before["relation"].get(key), work.get("relation", key)
        if old is not None and old.relation.retracted_at is not None:
            work.put("relation", attrs.evolve(row, lapsed_at=old.relation.retracted_at))
    retract(work, folded.lost)
    for row in await work.rows_by("relation", "end", [source_id]):
        if row.relation.retracted_at is None:
            _move(work, row, tree)
    _, resigned = await rename(work, [source_id], {})
    await sign_relations(work, folded, resigned)
    await drop_summaries(work)
    await work.flush()
    return made


async def undo_merge(port: Port, key: UUID, now: datetime) -> UndoReport:
    """Separate two entities again (`Curating.undo_merge`)."""
    work = Work(port, now)
    await work.rows("merge", [key])
    record = refuse_undo(key, work.get("merge", key))
    source_id = record.merge.source_id
    await work.read_entities([source_id])
    tree, target_id = work.below(source_id), work.into[source_id]
    work.part(source_id)
    source = work.get("entity", source_id)
    work.put("entity", attrs.evolve(source, entity=revised(source.entity, merged_into=None)))
    work.put("merge", attrs.evolve(record, merge=attrs.evolve(record.merge, undone_at=now)))
    folded = await refold(work, await _reproject(work, tree), Folded())
    for each in folded.kept:
        row = work.get("relation", each)
        if row.lapsed_at is not None:
            work.put("relation", attrs.evolve(row, lapsed_at=None))
    _unmake(work, folded.lost)
    for row in await work.rows_by("relation", "written", tree):
        _move(work, row, tree)
    await work.read_forms(tree)
    surfaces = {form.surface for form in work.forms(tree)}
    named = {work.get("entity", each).entity.name for each in work.above([target_id])}
    lost: Lost = {target_id: surfaces & named}
    left = await _drop_unnamed(work, target_id, lost)
    await count_held(work, target_id, -record.held)
    touched = {source_id, target_id, *left}
    reworded, resigned = await rename(work, [each for each in touched if work.get("entity", each)], lost)
    await sign_relations(work, folded, resigned)
    mentions, claims, relations = await _held_by(work, source_id, tree)
    stayed = await _written_since(work, record.number, work.root(target_id), source_id)
    await drop_ties(work)
    await drop_summaries(work)
    await work.flush()
    return UndoReport(
        mentions=mentions,
        claims=claims,
        relations=relations,
        stayed=stayed,
        forgotten=max(0, record.held - mentions - claims),
        reworded=reworded,
    )


async def _held_by(work: Work, key: UUID, tree: Sequence[UUID]) -> tuple[int, int, int]:
    """The numbers of mentions, claims and unretracted relations of an entity, with all that was merged into it."""
    await work.read_forms(tree)
    claims = await work.rows_by("claim", "written", tree)
    relations = await work.rows_by("relation", "end", [key])
    return (
        sum(form.count for form in work.forms(tree)),
        sum(key in row.ends for row in claims),
        sum(row.relation.retracted_at is None for row in relations),
    )


async def _written_since(work: Work, number: int, key: UUID, source_id: UUID) -> int:
    """Count the mentions and claims of an entity, not of a source, in memories written since a merge."""
    tree = work.below(key)
    claims = [row for row in await work.rows_by("claim", "written", tree) if key in row.ends]
    mentions = await work.port.rows_by("mention", "written", tree)
    memories = [
        *(row.mention.memory_id for row in mentions),
        *(row.claim.memory_id for row in claims if source_id not in row.ends),
    ]
    since = {row.key for row in await work.rows("memory", memories) if row.merges >= number}
    return sum(key in since for key in memories)


async def _reproject(work: Work, tree: Sequence[UUID]) -> set[Group]:
    """Let what was written of some entities mean what these are merged into now; return the groups to fold again."""
    work.repointed |= set(tree)
    groups: set[Group] = set()
    for row in await work.rows_by("claim", "written", tree):
        written = (row.claim.source_id, row.claim.target_id)
        source, target = (work.root(one) if one in tree else now for one, now in zip(written, row.ends, strict=True))
        ends = (source, target)
        if ends != row.ends:
            moved = ClaimRow(row.claim, ends, row.ordinal, row.occurred_at, row.signature)
            work.put("claim", moved)
            groups |= {group_of(each.shown, work.scope.types) for each in (row, moved)}
    return groups


def _move(work: Work, row: RelationRow, tree: Sequence[UUID]) -> None:
    """Redirect the ends of an asserted relation that are among some entities to what these are merged into."""
    given = row.given or row.ends
    others = dict(zip(given, row.ends, strict=True))
    moved = redirected(row.relation, given, lambda end: work.root(end) if end in tree else others[end], work.now)
    ends = (moved.source_id, moved.target_id)
    work.put("relation", RelationRow(moved, row.folded, None if ends == given else given, row.lapsed_at, row.signature))


def _unmake(work: Work, keys: Iterable[UUID]) -> None:
    """Remove relations that only a merge made, or retract again those that a merge revived."""
    for key in keys:
        row = work.get("relation", key)
        if row.lapsed_at is None:
            work.drop("relation", [key])
        else:
            again = revised(row.relation, retracted_at=row.lapsed_at)
            work.put("relation", RelationRow(again, False, row.given, None, row.signature))


async def _drop_unnamed(work: Work, key: UUID, lost: Lost) -> set[UUID]:
    """Remove an entity that only mentions named, when none does any more, with those that this leaves so.

    It had the names of what was merged into it. Returns the entities that it was merged into.
    """
    if not _is_named(work, key):
        return set()
    gone, _, left = await forget_merged(work, [key], lost)
    if not gone:
        await drop_faded(work, [key])
    return left


# -- types ---------------------------------------------------------------------------------------------------------


async def register_types(port: Port, types: Sequence[RelationType], now: datetime) -> None:
    """Add or replace relation types (`Writing.register_types`)."""
    work = Work(port, now)
    turned = {each.name for each in types if type_named(each.name, work.scope.types).functional != each.functional}
    claims = await work.rows_by("claim", "type", turned)
    groups = {group_of(row.shown, work.scope.types) for row in claims}
    for each in types:
        work.scope.types[each.name] = each
        work.put("type", Entry(each.name, each))
    groups |= {group_of(row.shown, work.scope.types) for row in claims}
    folded = await refold(work, groups, Folded())
    retract(work, folded.lost)
    await sign_relations(work, folded, ())
    await drop_summaries(work)
    await work.flush()


# -- deleting ------------------------------------------------------------------------------------------------------


async def delete(port: Port, entities: Sequence[UUID], relations: Sequence[UUID], now: datetime) -> WriteReport:
    """Delete entities with their relations, claims and mentions, and single relations with their claims."""
    work = Work(port, now)
    await work.read_entities(entities)
    requested = [key for key in dict.fromkeys(entities) if work.get("entity", key) is not None]
    left = set()
    for key in sorted(requested):
        if key in work.into and work.root(key) not in requested:
            left.add(work.into[key])
            await _release(work, key)
    gone = {each for key in requested for each in work.below(key)}
    dropped = {row.key for row in await work.rows("relation", relations)}
    dropped |= {row.key for row in await work.rows_by("relation", "end", gone)}
    claims = {row.key: row for row in await work.rows_by("claim", "written", gone) if not gone.isdisjoint(row.ends)}
    proved = [work.get("relation", key).relation for key in dropped]
    edges = {(each.source_id, each.type, each.target_id): each for each in proved}
    evidence = {(key, edge) for edge, each in edges.items() for key in each.evidence}
    for row in await work.rows_by("claim", "group", edges):
        edge = (row.ends[0], row.claim.type, row.ends[1])
        if (row.claim.memory_id, edge) in evidence:
            claims[row.key] = row
    mentions = await work.rows_by("mention", "written", gone)
    groups = {group_of(row.shown, work.scope.types) for row in claims.values()}
    work.drop("claim", claims)
    work.drop("mention", [row.key for row in mentions])
    folded = await refold(work, groups, Folded())
    kept = set(folded.kept)
    dropped |= folded.lost
    drop_relations(work, dropped)
    for key in sorted(gone):
        await drop_record_of(work, key)
    drop_entities(work, gone)
    reworded, resigned = await rename(work, left - gone, {})
    await sign_relations(work, folded, resigned)
    links, _ = await drop_ties(work, log=False)
    await drop_summaries(work)
    await work.flush()
    return WriteReport(
        relations=_changed(work, kept),
        relations_retracted=len(dropped),
        entities_removed=len(gone),
        mentions_removed=len(mentions),
        claims_removed=len(claims),
        links_removed=links,
        reworded=reworded,
    )


async def _release(work: Work, key: UUID) -> None:
    """Let all that was written of a merged entity be of its target, permanently; what was merged into it, too."""
    above = work.into[key]

    def instead(end: UUID) -> UUID:
        return above if end == key else end

    for row in await work.rows_by("merge", "end", [key]):
        if row.merge.target_id == key and row.merge.undone_at is None:
            child = row.merge.source_id
            work.put("merge", attrs.evolve(row, merge=attrs.evolve(row.merge, target_id=above)))
            work.part(child)
            work.join(child, above)
            entity = work.get("entity", child)
            work.put("entity", attrs.evolve(entity, entity=revised(entity.entity, merged_into=above)))
    mentions = await work.rows_by("mention", "written", [key])
    work.rewritten |= {row.mention.memory_id for row in mentions}
    await work.rows_by("mention", "memory", work.rewritten)
    for row in mentions:
        work.put("mention", attrs.evolve(row, mention=revised(row.mention, entity_id=above)))
    for row in await work.rows_by("claim", "written", [key]):
        ends = {"source_id": instead(row.claim.source_id), "target_id": instead(row.claim.target_id)}
        work.put("claim", attrs.evolve(row, claim=revised(row.claim, **ends)))
    for row in await work.rows_by("relation", "written", [key]):
        given = (instead(row.given[0]), instead(row.given[1]))
        work.put("relation", attrs.evolve(row, given=None if given == row.ends else given))
    await drop_record_of(work, key)
