"""Writing a batch into Postgres: all of it or nothing, in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any
from uuid import UUID

import attrs
import numpy as np

from graphsearch.errors import EmbeddingModelError, InvalidInputError
from graphsearch.model import Batch, ElementKind, Entity, Memory, WriteReport
from graphsearch.stores.in_postgres import facts, incoming, traits
from graphsearch.stores.in_postgres.as_new import as_new
from graphsearch.stores.in_postgres.codes import Codes
from graphsearch.stores.in_postgres.folds import Group, give_relations, refold, retract, sign_beside, types_at_start
from graphsearch.stores.in_postgres.indexing import (
    BULK,
    copy_in,
    copy_parts,
    count_vectors,
    in_parts,
    index_documents,
    put_vectors,
    put_words,
    settle,
)
from graphsearch.stores.in_postgres.naming import Surfaces, call_again, index_entities, types_so_far
from graphsearch.stores.in_postgres.restating import (
    Restated,
    ends_meant,
    keep_merged,
    mark_proof,
    restated,
    say_ends,
    surfaces_in,
)
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.signing import (
    NUMBER,
    by_id,
    keep_signatures,
    last_of_each,
    sign_again,
)
from graphsearch.stores.in_postgres.statements import insertion, statement
from graphsearch.stores.in_postgres.vectors import Carried, Matrix, Vectors, read_vectors


async def write(session: Session, batch: Batch, now: datetime) -> WriteReport:
    """All of a batch. Raises `InvalidInputError` with every fault, and `EmbeddingModelError`.

    What is wrong with references is found in the database, so the check comes after the first rows were written; the
    transaction takes them back.
    """
    entities = await keep_merged(session, by_id((*batch.named, *batch.entities)))
    named = {each.id for each in batch.named}
    if named:
        named.difference_update([each.id for each in batch.entities])
    relations = last_of_each(batch.relations)
    memories = {memory.id: memory for memory in sorted(batch.memories, key=attrgetter("id"))}
    types = types_at_start(session)
    try:
        put, fresh, carried, turned = await _put_entities(session, entities, named, batch, now)
        vectors = read_vectors(carried.others(batch.vectors), carried.faults)
        proof = await restated(session, batch)
        await _copy_proof(session, batch, proof)
        others = await _refuse(session, batch, memories, vectors)
        told, resigned, moved = await _put_memories(session, memories, now)
        groups, touched, unsaid = await _put_proof(session, proof, memories, moved | resigned)
        changed, lost = await refold(session, groups, types, now, groups)
        meant, ends = await ends_meant(session, relations, now)
        changed += await give_relations(session, meant, types, now)
        await say_ends(session, ends)
        anew = () if fresh else [each.id for each in entities]
        reworded = await call_again(session, touched, unsaid=unsaid, anew=anew)
        await sign_beside(session, turned.union(reworded), types, now)
    except OverflowError as error:
        raise InvalidInputError("batch", [f"a number is too large to be stored: {error}"]) from error
    retracted = await retract(session, lost, now)
    await sign_again(session, resigned)
    await count_vectors(session, ElementKind.ENTITY, len(carried))
    dropped = read_vectors({key: batch.vectors[key] for key in reworded if key.int in carried.vectors})
    for matrix in (*vectors.matrices, *dropped.matrices):
        await _put_vectors(session, matrix, batch, others, fresh=fresh)
    if batch.counters:
        names, numbers = zip(*sorted(batch.counters.items()), strict=True)
        await session.run(statement("count"), names=list(names), numbers=list(numbers))
    await _settle(session, batch, changed)
    return WriteReport(
        entities=put,
        relations=changed,
        memories=told,
        relations_retracted=retracted,
        reworded=tuple(key for key in reworded if key not in batch.vectors),
    )


async def bind_embedder(session: Session, name: str, dimensions: int) -> None:
    """State whose vectors the scope holds; `EmbeddingModelError` when it already holds another model's."""
    if session.embedder is None:
        await session.run(statement("bind embedder"), embedder=name, dimensions=dimensions)
    elif (session.embedder, session.dimensions) != (name, dimensions):
        raise EmbeddingModelError(
            f"scope {session.scope} holds vectors of {session.embedder!r} ({session.dimensions} numbers), "
            f"not of {name!r} ({dimensions}): use that model, or write to another scope"
        )


async def _put_entities(
    session: Session,
    entities: Sequence[Entity],
    named: Collection[UUID],
    batch: Batch,
    now: datetime,
) -> tuple[int, bool, Carried, set[UUID]]:
    """How many entities are new or other than they were, whether all are new, and the vectors written with them.

    And which have other traits.
    """
    if not entities:
        return 0, False, Carried(), set()

    async def put(fresh: bool) -> tuple[int, bool, Carried, set[UUID]]:
        return await _put_entities_as(session, entities, named, batch, now, fresh=fresh)

    return await as_new(session, ElementKind.ENTITY, entities, put)


async def _put_entities_as(
    session: Session,
    entities: Sequence[Entity],
    named: Collection[UUID],
    batch: Batch,
    now: datetime,
    *,
    fresh: bool,
) -> tuple[int, bool, Carried, set[UUID]]:
    turned = set[UUID]()
    told = {} if fresh else await types_so_far(session, entities, named)
    given_types: dict[UUID, str] = {}
    typed = entities
    if told:
        given_types = {each.id: each.type for each in entities if each.id in told}
        typed = [attrs.evolve(each, type=told[each.id]) if each.id in told else each for each in entities]
    codes = Codes()
    carried = Carried()
    if fresh and len(entities) >= BULK and session.dimensions:
        carried = Carried.of(entities, batch.vectors, session.dimensions)

    async def upsert() -> int:
        if not fresh:
            turned.update(key for (key,) in await (await session.run(statement("with other traits"))).fetchall())
        return (await session.run(insertion("upsert entities", fresh=fresh))).rowcount

    parts = (
        incoming.entity_columns(part, codes.of_entities(part), now, named, given_types, carried.read(part))
        for part in in_parts(typed)
    )
    changed = await copy_parts(session, incoming.ENTITY, parts, upsert)
    await traits.tell(session, turned)
    await keep_signatures(session, codes)
    await put_words(session, batch.words)
    if fresh:  # the others are, when their mentions are known
        await index_entities(session, entities, fresh=True)
    return changed, fresh, carried, turned


async def _copy_proof(session: Session, batch: Batch, proof: Restated) -> None:
    if batch.memories or batch.mentions:
        await copy_in(session, incoming.MENTION, incoming.mention_columns(proof.mentions, proof.root))
    if batch.memories or batch.claims:
        await copy_in(session, incoming.CLAIM, incoming.claim_columns(proof.claims, proof.root))


async def _put_memories(
    session: Session, memories: Mapping[str, Memory], now: datetime
) -> tuple[int, set[str], set[str]]:
    """How many memories are new or other than they were, which have another signature, and which another time."""
    if not memories:
        return 0, set(), set()
    codes, told = Codes(), list(memories.values())
    await copy_in(session, incoming.MEMORY, incoming.memory_columns(told, codes.of_memories(told), now))
    await keep_signatures(session, codes)
    resigned = await (await session.run(statement("memories with another signature"))).fetchall()
    moved = await (await session.run(statement("moved memories"))).fetchall()
    changed = (await session.run(statement("upsert memories"))).rowcount
    await index_documents(session, ElementKind.MEMORY, told)
    return changed, {key for (key,) in resigned}, {key for (key,) in moved}


async def _put_proof(
    session: Session, proof: Restated, memories: Mapping[str, Memory], others: Collection[str]
) -> tuple[dict[Group, set[UUID]], set[UUID], Surfaces]:
    """Give the memories these mentions and claims and no others; ``others`` count as if they claimed something else.

    Returns the groups to be folded again with the targets that matter, and the entities mentioned now or before, with
    the surfaces that were said of them before.
    """
    if not memories:
        return {}, set(), {}
    ids = list(memories)
    touched, unsaid = {each.entity_id for each in proof.mentions}, await surfaces_in(session, ids)
    touched |= unsaid.keys()
    for step in ("drop mentions", "upsert mentions", "drop claims", "upsert claims"):
        await session.run(statement(step), memory_ids=ids)
    await mark_proof(session, proof)
    groups: dict[Group, set[UUID]] = {}
    for claim in proof.claims_of(proof.with_other_claims().union(others)):
        groups.setdefault((claim.source_id, claim.type), set()).add(claim.target_id)
    return groups, touched, unsaid


# -- what is refused ----------------------------------------------------------------------------------------------


async def _refuse(
    session: Session, batch: Batch, memories: Mapping[str, Memory], vectors: Vectors
) -> dict[UUID, ElementKind]:
    """Raise what is wrong with a batch; the kinds of the stored elements that it has only the vectors of."""
    found = [*vectors.faults, *await _dangling(session, batch)]
    found += [
        f"{kind}: memory {each.memory_id!r} is not in the batch"
        for kind, proofs in (("mention", batch.mentions), ("claim", batch.claims))
        for each in proofs
        if each.memory_id not in memories
    ]
    cited = {key for relation in batch.relations for key in relation.evidence}.difference(memories)
    absent = await _missing(session, ElementKind.MEMORY, cited)
    found += [
        f"relation {each.id}: no memory {key!r}" for each in batch.relations for key in each.evidence if key in absent
    ]
    texts = {key for key in vectors.keys if isinstance(key, str)}.difference(memories)
    others = _elsewhere(batch, vectors)
    no_entities = await _missing(session, ElementKind.ENTITY, others)
    nothing = await _missing(session, ElementKind.RELATION, no_entities)
    found += [f"vector: no element {key}" for key in nothing | await _missing(session, ElementKind.MEMORY, texts)]
    if found:
        raise InvalidInputError("batch", sorted(set(found)))
    for length in vectors.lengths:
        refuse_length(session, length)
    return {key: ElementKind.RELATION if key in no_entities else ElementKind.ENTITY for key in others}


def _elsewhere(batch: Batch, vectors: Vectors) -> set[UUID]:
    """The entities and relations that a batch has the vectors of and nothing else."""
    ids = {key.int: key for key in vectors.keys if not isinstance(key, str)}
    for elements in (batch.entities, batch.named, batch.relations) if ids else ():
        for number in map(NUMBER, elements):
            ids.pop(number, None)
    return set(ids.values())


async def _dangling(session: Session, batch: Batch) -> list[str]:
    faults: list[str] = []
    ends = _numbered("source_id", batch) | _numbered("target_id", batch)
    for entity in (*batch.entities, *batch.named) if ends else ():
        ends.pop(entity.id.int, None)
    absent = await _missing(session, ElementKind.ENTITY, ends.values())
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


def _numbered(end: str, batch: Batch) -> dict[int, UUID]:
    """Ends of relations by their number: numbers are told apart ten times as fast as ids."""
    ids = list(map(attrgetter(end), batch.relations))
    return dict(zip(map(attrgetter("int"), ids), ids, strict=True))


async def _missing(session: Session, kind: ElementKind, ids: Collection[Any]) -> set[Any]:
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
    session: Session, matrix: Matrix, batch: Batch, others: Mapping[UUID, ElementKind], *, fresh: bool
) -> None:
    if matrix.textual:
        await put_vectors(session, ElementKind.MEMORY, matrix)
        return
    of_relations = set(map(NUMBER, batch.relations))
    of_relations |= {key.int for key, kind in others.items() if kind is ElementKind.RELATION}
    is_relation = [key.int in of_relations for key in matrix.keys]
    entities, relations = (np.flatnonzero(np.equal(is_relation, each)).tolist() for each in (False, True))
    await put_vectors(session, ElementKind.ENTITY, matrix.take(entities), fresh=fresh and not others)
    of_facts = matrix.take(relations)
    await put_vectors(session, ElementKind.RELATION, of_facts)
    await facts.embedded(session, of_facts.keys)


async def _settle(session: Session, batch: Batch, folded: int) -> None:
    """A small write pays at once what it owes, and as much again of what bulk writes left."""
    sizes = {
        ElementKind.ENTITY: len(batch.entities) + len(batch.named),
        ElementKind.RELATION: len(batch.relations) + folded,
        ElementKind.MEMORY: len(batch.memories),
    }
    for kind, size in sizes.items():
        if 0 < size < BULK:
            await settle(session, kind, limit=2 * size)
