"""Validation of a batch once its first rows are in the transaction: every fault is found, not just the first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import attrgetter
from typing import Any
from uuid import UUID

from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, ElementKind, Memory
from graphsearch.stores.in_postgres.index.bulk import NUMBER
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.shared.vectors import Vectors


async def check(
    session: Session, batch: Batch, memories: Mapping[str, Memory], vectors: Vectors
) -> dict[UUID, ElementKind]:
    """Validate a batch; raise every fault at once.

    Returns the kinds of stored elements of which it has only the vectors.
    """
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
    vectors.refuse_others(session.embedder, session.dimensions)
    return {key: ElementKind.RELATION if key in no_entities else ElementKind.ENTITY for key in others}


def _elsewhere(batch: Batch, vectors: Vectors) -> set[UUID]:
    """The entities and relations of which a batch has only the vectors."""
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
    """Ends of relations by id as a number: numbers compare ten times as fast as ids."""
    ids = list(map(attrgetter(end), batch.relations))
    return dict(zip(map(attrgetter("int"), ids), ids, strict=True))


async def _missing(session: Session, kind: ElementKind, ids: Collection[Any]) -> set[Any]:
    if not ids:
        return set()
    return {key for (key,) in await (await session.run(statement("missing", kind), ids=list(ids))).fetchall()}
