"""The steps of writing a batch: its entities, memories, mentions, claims and vectors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import attrs
import numpy as np

from graphsearch.claims.naming import is_typed_by_mentions
from graphsearch.model import Batch, ElementKind, Entity, Memory
from graphsearch.model.signatures import Attested
from graphsearch.stores.in_postgres.index import incoming
from graphsearch.stores.in_postgres.index.bulk import NUMBER, Carried, as_new, copy_in, copy_parts, in_parts
from graphsearch.stores.in_postgres.index.indexing import (
    put_vectors,
    put_words,
    strike_embedded,
)
from graphsearch.stores.in_postgres.index.signing import Codes, drop_signatures, keep_signatures
from graphsearch.stores.in_postgres.index.unsettled import index_documents, is_bulk, settle_owed
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.folds import Group
from graphsearch.stores.in_postgres.write.merged import Rewritten, mark_proof, surfaces_in
from graphsearch.stores.in_postgres.write.renaming import Surfaces, copy_to_ends, index_entities, types_so_far
from graphsearch.stores.shared.vectors import Matrix


async def put_entities(
    session: Session,
    entities: Sequence[Entity],
    named: Collection[UUID],
    batch: Batch,
    now: datetime,
) -> tuple[int, bool, Carried, set[UUID]]:
    """Write entities.

    Returns how many are new or changed, whether all are new, the vectors written with them, and those whose
    endpoint columns have changed.
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
    turned: dict[UUID, int] = {}
    stored_types = {} if fresh else await types_so_far(session, entities, named)
    given_types: dict[UUID, str] = {}
    typed = entities
    if stored_types:
        given_types = {each.id: each.type for each in entities if each.id in stored_types}
        typed = [
            attrs.evolve(each, type=stored_types[each.id]) if each.id in stored_types else each for each in entities
        ]
    codes, attested = Codes(), await _attested(session, entities, named, batch, fresh=fresh)
    carried = Carried()
    if fresh and is_bulk(entities) and session.dimensions:
        carried = Carried.of(entities, batch.vectors, session.dimensions)

    async def upsert() -> int:
        if not fresh:
            found = await session.run(statement("with other endpoint columns"))
            turned.update(await found.fetchall())
        return (await session.run(statement("insert entities" if fresh else "upsert entities"))).rowcount

    parts = (
        incoming.entity_columns(part, codes.of_entities(part, attested), now, named, given_types, carried.read(part))
        for part in in_parts(typed)
    )
    changed = await copy_parts(session, incoming.ENTITY, parts, upsert)
    await copy_to_ends(session, turned)
    await keep_signatures(session, codes)
    await drop_signatures(session, ElementKind.ENTITY, set(turned.values()).difference(codes.signatures.values()))
    await put_words(session, batch.words)
    if fresh:  # that of the others, when their mentions are known
        await index_entities(session, entities, fresh=True)
    return changed, fresh, carried, set(turned)


async def _attested(
    session: Session, entities: Sequence[Entity], named: Collection[UUID], batch: Batch, *, fresh: bool
) -> dict[UUID, Attested]:
    """What written entities depend on, as far as it is known before the mentions of the batch are written.

    `graphsearch.stores.in_postgres.write.renaming` completes it for those that were stored before.
    """
    codes = dict(zip((memory.id for memory in batch.memories), Codes().of_memories(batch.memories), strict=True))
    mentions: dict[UUID, set[int]] = {}
    for mention in batch.mentions:
        if mention.memory_id in codes:  # a mention of another memory is refused later
            mentions.setdefault(mention.entity_id, set()).add(codes[mention.memory_id])
    if not fresh:
        stored = await session.run(statement("mentioning signatures"), ids=[each.id for each in entities])
        for key, found in await stored.fetchall():
            mentions.setdefault(key, set()).update(found)
    return {
        each.id: Attested(
            mentions=frozenset(mentions[each.id]),
            named=each.id in named,
            typed=is_typed_by_mentions(each.type, named=each.id in named),
        )
        for each in entities
        if each.id in mentions
    }


async def copy_proof(session: Session, batch: Batch, proof: Rewritten) -> None:
    """Fill the temporary tables of mentions and claims."""
    if batch.memories or batch.mentions:
        await copy_in(session, incoming.MENTION, incoming.mention_columns(proof.mentions, proof.root))
    if batch.memories or batch.claims:
        await copy_in(session, incoming.CLAIM, incoming.claim_columns(proof.claims, proof.root))


async def put_memories(
    session: Session, memories: Mapping[str, Memory], now: datetime
) -> tuple[int, set[str], set[str]]:
    """Write memories; return how many are new or changed, which changed their signature, and which their time."""
    if not memories:
        return 0, set(), set()
    codes, written = Codes(), list(memories.values())
    await copy_in(session, incoming.MEMORY, incoming.memory_columns(written, codes.of_memories(written), now))
    await keep_signatures(session, codes)
    resigned = await (await session.run(statement("memories with another signature"))).fetchall()
    moved = await (await session.run(statement("moved memories"))).fetchall()
    changed = (await session.run(statement("upsert memories"))).rowcount
    await index_documents(session, ElementKind.MEMORY, written)
    return changed, {key for (key,) in resigned}, {key for (key,) in moved}


async def put_proof(
    session: Session, proof: Rewritten, memories: Mapping[str, Memory], others: Collection[str]
) -> tuple[dict[Group, set[UUID]], set[UUID], Surfaces]:
    """Replace the mentions and claims of the memories; ``others`` count as if their claims had changed.

    Returns the groups to be folded again with the targets that matter, and the entities mentioned now or before, with
    the surface forms that they lost.
    """
    if not memories:
        return {}, set(), {}
    ids = list(memories)
    touched, lost_surfaces = {each.entity_id for each in proof.mentions}, await surfaces_in(session, ids)
    touched |= lost_surfaces.keys()
    for step in ("drop mentions", "upsert mentions", "drop claims", "upsert claims"):
        await session.run(statement(step), memory_ids=ids)
    await mark_proof(session, proof)
    groups: dict[Group, set[UUID]] = {}
    for claim in proof.claims_of(proof.with_other_claims().union(others)):
        groups.setdefault((claim.source_id, claim.type), set()).add(claim.target_id)
    return groups, touched, lost_surfaces


async def put_batch_vectors(
    session: Session, matrix: Matrix, batch: Batch, others: Mapping[UUID, ElementKind], *, fresh: bool
) -> None:
    """Store the vectors of a batch; ``others`` are the kinds of stored elements of which it has only these."""
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
    await strike_embedded(session, of_facts.keys)


async def settle_some(session: Session, batch: Batch, folded: int) -> None:
    """After a small write, settle some of the deferred entries of bulk writes."""
    sizes = {
        ElementKind.ENTITY: len(batch.entities) + len(batch.named),
        ElementKind.RELATION: len(batch.relations) + folded,
        ElementKind.MEMORY: len(batch.memories),
    }
    await settle_owed(session, sizes)
