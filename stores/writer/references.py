"""What a batch refers to, and does not hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from uuid import UUID

from graphsearch.model import Batch, Claim, Relation


def referred(batch: Batch) -> tuple[set[UUID], set[str]]:
    """The entities and the memories that a batch refers to and does not hold."""
    edges: tuple[Relation | Claim, ...] = (*batch.relations, *batch.claims)
    entities = {end for each in edges for end in (each.source_id, each.target_id)}
    entities.update(each.entity_id for each in batch.mentions)
    memories = {key for each in batch.relations for key in each.evidence}
    entities.difference_update(each.id for each in (*batch.entities, *batch.named))
    return entities, memories.difference(each.id for each in batch.memories)


def reference_faults(batch: Batch, no_entities: Collection[UUID], no_memories: Collection[str]) -> Iterator[str]:
    """What a batch refers to and does not exist, and the mentions and claims of memories that it does not hold."""
    written = {memory.id for memory in batch.memories}
    for kind, edges in (("relation", batch.relations), ("claim", batch.claims)) if no_entities else ():
        ends = ((each.type, end) for each in edges for end in (each.source_id, each.target_id))
        yield from (f"{kind} {type_!r}: no entity {end}" for type_, end in ends if end in no_entities)
    for mention in batch.mentions:
        if mention.entity_id in no_entities:
            yield f"mention {mention.surface!r}: no entity {mention.entity_id}"
    for kind, proofs in (("mention", batch.mentions), ("claim", batch.claims)):
        outside = (each.memory_id for each in proofs if each.memory_id not in written)
        yield from (f"{kind}: memory {key!r} is not in the batch" for key in outside)
    for relation in batch.relations if no_memories else ():
        yield from (f"relation {relation.id}: no memory {key!r}" for key in relation.evidence if key in no_memories)
