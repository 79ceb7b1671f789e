"""Writing a batch: it is checked against what is stored, and replaces what its memories proved."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from graphsearch._support.concurrency import aside, in_slices
from graphsearch.claims.folding import group_of, type_named
from graphsearch.claims.naming import is_typed_by_mentions
from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, Claim, Entity, Group, Memory, Mention, Relation, RelationType, WriteReport
from graphsearch.model.identity import keyed_id
from graphsearch.model.signatures import memory_signature
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import ClaimRow, EntityRow, Entry, MemoryRow, MentionRow, Port, RelationRow
from graphsearch.stores.writer.folding import changed_relations, finish, group_of_row, refold, retract
from graphsearch.stores.writer.removing import drop_ties, drop_unnamed, forget_merged, is_named
from graphsearch.stores.writer.vectors import Vectors, read_vectors, refuse_other_model, with_current_vectors
from graphsearch.stores.writer.work import ELEMENTS, Work, grouped
from graphsearch.text.bm25 import stepped

T = TypeVar("T", Entity, Memory, Relation)


async def write(port: Port, batch: Batch, now: datetime) -> WriteReport:
    """Write all of a batch, or nothing (`GraphStore.write`)."""
    work = Work(port, now)
    batch = await _read(work, batch)
    vectors = await aside(lambda: _check(work, batch), _size(batch))
    entities = await in_slices(_put_entities(work, batch))
    memories, others = await in_slices(_put_memories(work, batch))
    had, groups = await in_slices(put_proof(work, batch, others))
    groups |= await in_slices(_put_relations(work, batch))
    proved, lost = await refold(work, groups)
    retracted = retract(work, lost)
    await _sign_again(work, batch.memories)
    forgotten, _ = await forget_merged(work, [key for key in had if is_named(work, key)])
    pruned, _ = await drop_unnamed(work, batch.prune, prune=True)
    await _count(work, batch.counters)
    _put_vectors(work, vectors)
    if forgotten or pruned:
        await drop_ties(work)
    reworded = await finish(work)
    return WriteReport(
        entities=entities,
        relations=changed_relations(work, proved.union(each.id for each in batch.relations)),
        memories=memories,
        relations_retracted=retracted,
        entities_removed=len(pruned),
        reworded=tuple(key for key in reworded if key not in batch.vectors),
    )


async def minted(port: Port, batch: Batch) -> list[tuple[UUID, UUID]]:
    """What ingest has minted, or mints in this batch, for the type and name of one of its entities, each with that."""
    own = {keyed_id(each.id, port.scope.id_key): each.id for each in batch.entities}
    there = own.keys() & {each.id for each in (*batch.named, *batch.entities)}
    there |= {row.key for row in await port.rows("entity", own)} if own else set()
    return [(key, target) for key, target in own.items() if key in there]


async def register_types(port: Port, types: Sequence[RelationType], now: datetime) -> None:
    """Add or replace relation types (`GraphStore.register_types`)."""
    work = Work(port, now)
    known = work.scope.types
    turned = {each.name for each in types if type_named(each.name, known).functional != each.functional}
    claims = await work.claims.by("type", turned)
    groups = {group_of_row(row, known) for row in claims}
    for each in types:
        if known.get(each.name) != each:
            known[each.name] = each
            work.types.put(Entry(each.name, each))
    groups |= {group_of_row(row, known) for row in claims}
    _, lost = await refold(work, groups)
    retract(work, lost)
    await finish(work)


def _last(elements: Iterable[T]) -> list[T]:
    """Elements without those that another one of the same id follows."""
    return list({each.id: each for each in elements}.values())


# -- before ---------------------------------------------------------------------------------------------------------


async def _read(work: Work, batch: Batch) -> Batch:
    """Read the rows that a batch names, and what its memories had before; leave out vectors of outdated texts."""
    texts = {key for key in batch.vectors if isinstance(key, str)}
    memories = {each.id for each in batch.memories}
    await work.memories.read(memories | texts | {key for each in batch.relations for key in each.evidence})
    stored = [key for key in memories if key in work.memories]
    mentions, claims = await work.mentions.by("memory", stored), await work.claims.by("memory", stored)
    entities = {each.id for each in (*batch.entities, *batch.named)}.union(batch.prune, batch.vectors.keys() - texts)
    entities.update(each.entity_id for each in (*batch.mentions, *(row.mention for row in mentions)))
    edges: tuple[Relation | Claim, ...] = (*batch.relations, *batch.claims, *(row.claim for row in claims))
    entities.update(end for each in edges for end in (each.source_id, each.target_id))
    await work.read_entities(entities)
    relations = {each.id for each in batch.relations}
    await work.relations.read(relations.union(key for key in batch.vectors.keys() - texts if key not in work.entities))
    await work.words.read(batch.words)
    rows = ((kind, work.tables[kind].get(key)) for kind in ELEMENTS for key in batch.embedded)
    return with_current_vectors(batch, [getattr(row, kind) for kind, row in rows if row is not None])


def _check(work: Work, batch: Batch) -> Vectors:
    """The vectors of a batch; raise `InvalidInputError` that names every fault of it, or `EmbeddingModelError`."""
    vectors = read_vectors(batch.vectors)
    if faults := {*_faults(work, batch), *vectors.faults}:
        raise InvalidInputError("batch", sorted(faults))
    refuse_other_model(batch, work.scope.embedder)
    vectors.refuse_others(work.scope.embedder, work.scope.dimensions)
    return vectors


def _faults(work: Work, batch: Batch) -> Iterator[str]:
    """What a batch refers to that does not exist, and the mentions and claims of memories that it does not hold."""
    entities = {each.id for each in (*batch.entities, *batch.named)}
    memories = {each.id for each in batch.memories}
    edges: tuple[Relation | Claim, ...] = (*batch.relations, *batch.claims)
    named = {end for each in edges for end in (each.source_id, each.target_id)}
    named.update(each.entity_id for each in batch.mentions)
    if absent := {key for key in named - entities if key not in work.entities}:
        for kind, some in (("relation", batch.relations), ("claim", batch.claims)):
            ends = ((each.type, end) for each in some for end in (each.source_id, each.target_id))
            yield from (f"{kind} {type_!r}: no entity {end}" for type_, end in ends if end in absent)
        for mention in batch.mentions:
            if mention.entity_id in absent:
                yield f"mention {mention.surface!r}: no entity {mention.entity_id}"
    for kind, proofs in (("mention", batch.mentions), ("claim", batch.claims)):
        outside = (each.memory_id for each in proofs if each.memory_id not in memories)
        yield from (f"{kind}: memory {key!r} is not in the batch" for key in outside)
    for relation in batch.relations:
        missing = (key for key in relation.evidence if key not in memories and key not in work.memories)
        yield from (f"relation {relation.id}: no memory {key!r}" for key in missing)
    relations = {each.id for each in batch.relations} if batch.vectors else set[UUID]()
    for key in batch.vectors:
        if isinstance(key, str):
            known = key in memories or key in work.memories
        else:
            known = key in entities or key in relations or key in work.entities or key in work.relations
        if not known:
            yield f"vector: no element {key}"


def _size(batch: Batch) -> int:
    return sum(len(each) for each in (batch.named, batch.mentions, batch.claims, batch.relations, batch.vectors))


# -- elements -------------------------------------------------------------------------------------------------------


def _put_entities(work: Work, batch: Batch) -> Generator[None, None, int]:
    """Write entities as they are given, in steps; return how many that changed. Their names are folded later."""
    asserted = {each.id for each in batch.entities}
    changed = 0
    for entity in _last([*batch.named, *batch.entities]):
        old, named, type_ = work.entities.get(entity.id), entity.id not in asserted, entity.type
        merged_into = work.tree.into.get(entity.id, entity.merged_into)
        if old is None:
            created_at = entity.created_at or work.now
            shown = revised(entity, merged_into=merged_into, created_at=created_at)
            row = EntityRow(shown, entity.type, entity.aliases, named)
        else:
            kept = old.entity
            if is_typed_by_mentions(type_, named=named) and old.named and kept.type != old.given_type:
                type_ = kept.type  # a type stated by mentions stays while they do
            own = {"aliases": kept.aliases, "created_at": kept.created_at, "feedback_weight": kept.feedback_weight}
            shown = revised(entity, merged_into=merged_into, type=type_, **own)
            row = EntityRow(shown, entity.type, entity.aliases, named, old.signature)
        if row != old:
            changed += 1
            work.entities.put(row)
            work.touched.add(entity.id)
        yield
    for key, words in batch.words.items():
        if words:
            work.words.put(Entry(key, {word: stepped(weight) for word, weight in words.items()}))
        else:
            work.words.drop([key])
    return changed


def _put_memories(work: Work, batch: Batch) -> Generator[None, None, tuple[int, set[str]]]:
    """Write memories, in steps; return how many changed, and those that are new or have another time or signature."""
    changed, others = 0, set[str]()
    for memory in _last(batch.memories):
        old, code = work.memories.get(memory.id), work.sign(memory_signature(memory))
        if old is None:
            new = revised(memory, created_at=memory.created_at or work.now)
        else:
            kept = old.memory
            new = revised(memory, created_at=kept.created_at, feedback_weight=kept.feedback_weight)
        if old is None or (old.memory.occurred_at, old.signature) != (new.occurred_at, code):
            others.add(memory.id)
        if old is None or (old.memory, old.signature) != (new, code):
            changed += old is None or old.memory != new
            work.memories.put(MemoryRow(new, old.merges if old else 0, code))
        yield
    return changed, others


def _put_relations(work: Work, batch: Batch) -> Generator[None, None, set[Group]]:
    """Write asserted relations between the entities that are meant, in steps; return the groups that prove any as well.

    A relation that moved with a merge, and is asserted again unchanged, moves back when the merge is undone; so does
    one that would lead from an entity to itself.
    """
    groups: set[Group] = set()
    for relation in _last(batch.relations):
        old, ends = work.relations.get(relation.id), (relation.source_id, relation.target_id)
        source, target = map(work.tree.root, ends)
        own: dict[str, Any] = {"source_id": source, "target_id": target}
        given = old.given if old and old.given == ends else None
        if source == target and ends[0] != ends[1]:
            given, own["retracted_at"] = ends, relation.retracted_at or work.now
        if old is None:
            meant = revised(relation, created_at=relation.created_at or work.now, **own)
            row = RelationRow(meant, given=given)
        else:
            kept = old.relation
            meant = revised(relation, created_at=kept.created_at, feedback_weight=kept.feedback_weight, **own)
            row = RelationRow(meant, old.folded, given, old.lapsed_at, old.signature)
        work.relations.put(row)
        if row.folded:
            groups.add(group_of(meant, work.scope.types))
        yield
    return groups


async def _sign_again(work: Work, memories: Iterable[Memory]) -> None:
    """Put the asserted relations of memories with another signature, to be signed anew."""
    changes = ((work.memories.stored.get(each.id), work.memories[each.id]) for each in memories)
    resigned = [new.key for old, new in changes if old is not None and old.signature != new.signature]
    for row in await work.relations.by("evidence", resigned):
        if not row.folded and row.key not in work.relations.new:
            work.relations.put(row)


def _put_vectors(work: Work, vectors: Vectors) -> None:
    for key, row in vectors.rows.items():
        kind = "memory" if isinstance(key, str) else "entity" if key in work.entities else "relation"
        work.vectors[kind][key] = row


async def _count(work: Work, counters: Mapping[str, int]) -> None:
    """Add to the counters of the scope."""
    before = {row.key: row.value for row in await work.counters.those(counters)}
    for name, number in counters.items():
        work.counters.put(Entry(name, before.get(name, 0) + number))


# -- mentions and claims --------------------------------------------------------------------------------------------


def put_proof(work: Work, batch: Batch, others: set[str]) -> Generator[None, None, tuple[set[UUID], set[Group]]]:
    """Replace the mentions and claims of memories, where they differ or the memory is one of ``others``; in steps.

    Returns the entities that the replaced ones were written for, and the groups of claims to fold again.
    """
    mentions = grouped(batch.mentions, lambda each: each.memory_id)
    claims = grouped(batch.claims, lambda each: each.memory_id)
    old_mentions = grouped(work.mentions, lambda row: row.mention.memory_id)
    old_claims = grouped(work.claims, lambda row: row.claim.memory_id)
    had: set[UUID] = set()
    groups: set[Group] = set()
    for key in dict.fromkeys(each.id for each in batch.memories):
        were, claimed = old_mentions.get(key, []), old_claims.get(key, [])
        had_mentions, had_claims = {row.mention for row in were}, {row.claim for row in claimed}
        told, stated = _stated(work, mentions.get(key, ()), claims.get(key, ()), had_mentions, had_claims)
        other_mentions = set(told) != had_mentions if were else bool(told)
        other_claims = set(stated) != had_claims if claimed else bool(stated)
        if other_mentions or key in others:
            _replace_mentions(work, key, were, told)
            had.update(row.mention.entity_id for row in were)
        if other_claims or key in others:
            new = _replace_claims(work, key, claimed, stated)
            had.update(end for row in claimed for end in (row.claim.source_id, row.claim.target_id))
            groups.update(group_of_row(row, work.scope.types) for row in (*claimed, *new))
        if work.scope.merges and (other_mentions or other_claims):
            work.memories.put(revised(work.memories[key], merges=work.scope.merges))
        yield
    return had, groups


def _stated(
    work: Work,
    mentions: Iterable[Mention],
    claims: Iterable[Claim],
    had_mentions: Collection[Mention],
    had_claims: Collection[Claim],
) -> tuple[list[Mention], list[Claim]]:
    """The mentions and claims to keep of a memory that is written, without repeats.

    Those it had before are kept as they were; new ones are of the entities that are meant after the merges, except
    where that would make a claim of an entity about itself. What is stored as claimed of a merged entity keeps its
    mentions in that memory too: a later name of the entity is one of them.
    """
    root = work.tree.root
    if work.tree.into:
        claims = [each if each in had_claims else _meant(each, root) for each in claims]
        ends = {end for each in claims for end in (each.source_id, each.target_id)}
        mentions = [
            each
            if each in had_mentions or each.entity_id in ends or root(each.entity_id) == each.entity_id
            else revised(each, entity_id=root(each.entity_id))
            for each in mentions
        ]
    return list(dict.fromkeys(mentions)), list(dict.fromkeys(claims))


def _meant(claim: Claim, root: Callable[[UUID], UUID]) -> Claim:
    """A claim between the entities that are meant, unless they are one."""
    ends = (claim.source_id, claim.target_id)
    source, target = map(root, ends)
    if (source, target) == ends or (source == target and ends[0] != ends[1]):
        return claim
    return revised(claim, source_id=source, target_id=target)


def _replace_mentions(work: Work, key: str, old: Iterable[MentionRow], new: Iterable[Mention]) -> None:
    row, root = work.memories[key], work.tree.root
    copied = (row.memory.created_at, row.memory.occurred_at, row.signature)
    rows = [MentionRow(each, root(each.entity_id), place, *copied) for place, each in enumerate(new)]
    work.rewritten.add(key)
    work.mentions.drop([row.key for row in old])
    for mention in rows:
        work.mentions.put(mention)
    work.touched.update(row.mention.entity_id for row in (*old, *rows))
    for mention in old:
        work.lost.setdefault(mention.mention.entity_id, set()).add(mention.mention.surface)


def _replace_claims(work: Work, key: str, old: Iterable[ClaimRow], new: Iterable[Claim]) -> list[ClaimRow]:
    row, root = work.memories[key], work.tree.root
    copied = (row.memory.occurred_at, row.signature)
    rows = [
        ClaimRow(each, (root(each.source_id), root(each.target_id)), place, *copied) for place, each in enumerate(new)
    ]
    work.claims.drop([row.key for row in old])
    for claim in rows:
        work.claims.put(claim)
    return rows
