"""Writing a batch into Postgres: all of it or nothing, in one transaction."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any
from uuid import UUID

from graphsearch.errors import EmbeddingModelError, InvalidInputError
from graphsearch.model import Claim, ElementKind, Entity, Memory, Relation
from graphsearch.records import Batch, Vector, WriteReport
from graphsearch.signature import entity_signature, memory_signature
from graphsearch.stores.in_postgres import incoming
from graphsearch.stores.in_postgres.copying import Incoming
from graphsearch.stores.in_postgres.folds import Group, give_relations, refold, retract, stored_types
from graphsearch.stores.in_postgres.indexing import BULK, copy_in, index_documents, put_vectors, settle
from graphsearch.stores.in_postgres.rows import claim_of
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.signing import by_id, keep_signatures, none_stored, sign_again
from graphsearch.stores.in_postgres.statements import insertion, statement


async def write(session: Session, batch: Batch, now: datetime) -> WriteReport:
    """All of a batch. Raises `InvalidInputError` with every fault, and `EmbeddingModelError`.

    What is wrong with references is found in the database, so the check comes after the first rows were written; the
    transaction takes them back.
    """
    entities = {entity.id: entity for entity in batch.entities}
    memories = {memory.id: memory for memory in sorted(batch.memories, key=attrgetter("id"))}
    relations = {relation.id: relation for relation in batch.relations}
    types = await stored_types(session)
    try:
        put = await _put_entities(session, entities, now)
        await _copy_proof(session, batch)
        await _refuse(session, batch, entities, memories, relations)
        told, resigned, moved = await _put_memories(session, memories, now)
        groups = await _put_proof(session, batch, memories, moved)
        changed, lost = await refold(session, groups, types, now)
        changed += await give_relations(session, relations, types, now)
    except struct.error as error:
        raise InvalidInputError("batch", [f"a number is too large to be stored: {error}"]) from error
    retracted = await retract(session, lost, now)
    await sign_again(session, resigned)
    await _put_vectors(session, batch.vectors, entities, relations)
    await _settle(session, batch, changed)
    return WriteReport(entities=put, relations=changed, memories=told, relations_retracted=retracted)


async def _put_entities(session: Session, entities: Mapping[UUID, Entity], now: datetime) -> int:
    if not entities:
        return 0
    ordered = by_id(entities.values())
    codes = await keep_signatures(session, [entity_signature(entity) for entity in ordered])
    rows = (incoming.entity_row(each, code, now) for each, code in zip(ordered, codes, strict=True))
    await copy_in(session, incoming.ENTITY, rows)
    await copy_in(session, incoming.NAME, incoming.name_rows(ordered))
    fresh = await none_stored(session, ElementKind.ENTITY, ordered)
    changed = (await session.run(insertion("upsert entities", fresh=fresh))).rowcount
    if not fresh:
        await session.run(statement("drop names"))
    await session.run(insertion("upsert names", fresh=fresh))
    await index_documents(session, ElementKind.ENTITY, entities.values(), fresh=fresh)
    return changed


async def _copy_proof(session: Session, batch: Batch) -> None:
    for table, rows in _proof(batch):
        await copy_in(session, table, rows)


def _proof(batch: Batch) -> Iterable[tuple[Incoming, Iterable[incoming.Row]]]:
    if batch.memories or batch.mentions:
        yield incoming.MENTION, incoming.mention_rows(batch.mentions)
    if batch.memories or batch.claims:
        yield incoming.CLAIM, incoming.claim_rows(batch.claims)


async def _put_memories(
    session: Session, memories: Mapping[str, Memory], now: datetime
) -> tuple[int, set[str], set[str]]:
    """How many memories are new or other than they were, which have another signature, and which another time."""
    if not memories:
        return 0, set(), set()
    codes = await keep_signatures(session, [memory_signature(memory) for memory in memories.values()])
    rows = (incoming.memory_row(each, code, now) for each, code in zip(memories.values(), codes, strict=True))
    await copy_in(session, incoming.MEMORY, rows)
    resigned = await (await session.run(statement("memories with another signature"))).fetchall()
    moved = await (await session.run(statement("moved memories"))).fetchall()
    changed = (await session.run(statement("upsert memories"))).rowcount
    await index_documents(session, ElementKind.MEMORY, memories.values())
    return changed, {key for (key,) in resigned}, {key for (key,) in moved}


async def _put_proof(
    session: Session, batch: Batch, memories: Mapping[str, Memory], moved: Collection[str]
) -> set[Group]:
    """Give the memories the mentions and claims of the batch and no others; the groups to be folded again."""
    if not memories:
        return set()
    ids = list(memories)
    old: dict[str, set[Claim]] = {key: set() for key in ids}
    new: dict[str, set[Claim]] = {key: set() for key in ids}
    for row in await session.dicts(statement("claims of memories"), memory_ids=ids):
        old[row["memory_id"]].add(claim_of(row).claim)
    for claim in batch.claims:
        new[claim.memory_id].add(claim)
    for step in ("drop mentions", "upsert mentions", "drop claims", "upsert claims"):
        await session.run(statement(step), memory_ids=ids)
    touched = [key for key in ids if old[key] != new[key] or key in moved]
    return {(claim.source_id, claim.type) for key in touched for claim in old[key] | new[key]}


# -- what is refused ----------------------------------------------------------------------------------------------


async def _refuse(
    session: Session,
    batch: Batch,
    entities: Mapping[UUID, Entity],
    memories: Mapping[str, Memory],
    relations: Mapping[UUID, Relation],
) -> None:
    faults, lengths = incoming.refuse_vectors(batch.vectors)
    faults += await _dangling(session, batch)
    faults += [
        f"{kind}: memory {each.memory_id!r} is not in the batch"
        for kind, proofs in (("mention", batch.mentions), ("claim", batch.claims))
        for each in proofs
        if each.memory_id not in memories
    ]
    cited = {key for relation in batch.relations for key in relation.evidence}.difference(memories)
    absent = await _missing(session, ElementKind.MEMORY, cited)
    faults += [
        f"relation {each.id}: no memory {key!r}" for each in batch.relations for key in each.evidence if key in absent
    ]
    texts = {key for key in batch.vectors if isinstance(key, str)}.difference(memories)
    others = {key for key in batch.vectors if not isinstance(key, str)}.difference(entities).difference(relations)
    others = await _missing(session, ElementKind.RELATION, await _missing(session, ElementKind.ENTITY, others))
    faults += [f"vector: no element {key}" for key in others | await _missing(session, ElementKind.MEMORY, texts)]
    if faults:
        raise InvalidInputError("batch", sorted(set(faults)))
    for length in lengths:
        refuse_length(session, length)


async def _dangling(session: Session, batch: Batch) -> list[str]:
    faults: list[str] = []
    ends = {end for each in batch.relations for end in (each.source_id, each.target_id)}
    absent = await _missing(session, ElementKind.ENTITY, ends.difference(each.id for each in batch.entities))
    if absent:
        faults += [
            f"relation {each.type!r}: no entity {end}"
            for each in batch.relations
            for end in (each.source_id, each.target_id)
            if end in absent
        ]
    for name, there in (("dangling claims", batch.claims), ("dangling mentions", batch.mentions)):
        if there:
            rows = await (await session.run(statement(name))).fetchall()
            faults += [f"{kind} {label!r}: no entity {key}" for kind, label, key in rows]
    return faults


async def _missing(session: Session, kind: ElementKind, ids: set[Any]) -> set[Any]:
    if not ids:
        return set()
    return {key for (key,) in await (await session.run(statement("missing", kind), ids=list(ids))).fetchall()}


def refuse_length(session: Session, length: int) -> None:
    """Raise `EmbeddingModelError` for a vector that is not as long as the scope's."""
    if session.dimensions is None:
        raise EmbeddingModelError("this scope holds no vectors yet: call bind_embedder(name, dimensions) first")
    if session.dimensions != length:
        raise EmbeddingModelError(
            f"this scope holds vectors of {session.dimensions} numbers by {session.embedder!r}, not of {length}: "
            "use that model, or write to another scope"
        )


# -- vectors ------------------------------------------------------------------------------------------------------


async def _put_vectors(
    session: Session,
    vectors: Mapping[UUID | str, Vector],
    entities: Mapping[UUID, Entity],
    given: Mapping[UUID, Relation],
) -> None:
    if not vectors:
        return
    unknown = {key for key in vectors if not isinstance(key, str) and key not in entities and key not in given}
    relations = await _missing(session, ElementKind.ENTITY, unknown) | set(given)
    of: dict[ElementKind, dict[Any, Vector]] = {kind: {} for kind in ElementKind}
    for key, vector in vectors.items():
        kind = ElementKind.RELATION if key in relations else ElementKind.ENTITY
        of[ElementKind.MEMORY if isinstance(key, str) else kind][key] = vector
    for kind, some in of.items():
        await put_vectors(session, kind, some)


async def _settle(session: Session, batch: Batch, folded: int) -> None:
    """A small write pays at once what it owes, and as much again of what bulk writes left."""
    sizes = {
        ElementKind.ENTITY: len(batch.entities),
        ElementKind.RELATION: len(batch.relations) + folded,
        ElementKind.MEMORY: len(batch.memories),
    }
    for kind, size in sizes.items():
        if 0 < size < BULK:
            await settle(session, kind, limit=2 * size)
