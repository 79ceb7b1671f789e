"""Validation of a batch before it is written in memory: every fault is found, not just the first."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from uuid import UUID

import numpy as np

from graphsearch.errors import EmbeddingModelError, InvalidInputError
from graphsearch.model import Batch, Claim, Relation, Vector
from graphsearch.stores.in_memory.state import State


def check(state: State, batch: Batch) -> None:
    """Raise `InvalidInputError` that names every fault, or `EmbeddingModelError`."""
    entities = state.entities.items.keys() | {entity.id for entity in (*batch.entities, *batch.named)}
    relations = {relation.id for relation in batch.relations}
    written = {memory.id for memory in batch.memories}
    memories = state.memories.items.keys() | written
    faults = [
        *(
            f"mention {each.surface!r}: no entity {each.entity_id}"
            for each in batch.mentions
            if each.entity_id not in entities
        ),
        *_dangling("relation", batch.relations, entities),
        *_dangling("claim", batch.claims, entities),
        *(
            f"{kind}: memory {each.memory_id!r} is not in the batch"
            for kind, proofs in (("mention", batch.mentions), ("claim", batch.claims))
            for each in proofs
            if each.memory_id not in written
        ),
        *(
            f"relation {each.id}: no memory {key!r}"
            for each in batch.relations
            for key in each.evidence
            if key not in memories
        ),
    ]
    known = entities | relations | state.relations.items.keys() | memories
    wrong_length = set()
    for key, vector in batch.vectors.items():
        if key not in known:
            faults.append(f"vector: no element {key}")
        if fault := _vector_fault(vector):
            faults.append(f"vector of {key}: {fault}")
        elif len(vector) != state.dimensions:
            wrong_length.add(len(vector))
    if faults:
        raise InvalidInputError("batch", sorted(set(faults)))
    if wrong_length:
        raise wrong_vector(state, wrong_length.pop())


def _dangling(kind: str, edges: Iterable[Relation | Claim], entities: AbstractSet[UUID]) -> Iterable[str]:
    for edge in edges:
        for end in (edge.source_id, edge.target_id):
            if end not in entities:
                yield f"{kind} {edge.type!r}: no entity {end}"


def _vector_fault(vector: Vector) -> str | None:
    array = np.asarray(vector)
    if array.ndim != 1 or not len(array):
        return f"must be one row of numbers, not of shape {array.shape}"
    with np.errstate(over="ignore"):
        rounded = array.astype(np.float16)
    if not np.isfinite(rounded).all():
        return "must be finite, also as float16"
    return None if rounded.any() else "must not be zero"


def wrong_vector(state: State, length: int) -> EmbeddingModelError:
    """The error for a vector whose length differs from the scope's."""
    if state.dimensions is None:
        return EmbeddingModelError("this scope holds no vectors yet: call bind_embedder(name, dimensions) first")
    return EmbeddingModelError(
        f"this scope holds vectors of {state.dimensions} numbers by {state.embedder!r}, not of {length}: "
        "use that model, or write to another scope"
    )
