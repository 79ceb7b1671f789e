"""Orders, refusals and joins that all stores share, so that their results and errors are equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

from graphsearch.claims.folding import DatedClaim
from graphsearch.model import Batch, Claim, Community, HealthRecord, Mention, Relation, validation
from graphsearch.protocols.graph_store import HEALTH_RECORDS

Pair: TypeAlias = tuple[UUID, UUID]
GROWN: Final = 1.25
"""How many times as many memories as the record before it a record of health has, unless it is the last."""
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


def ordered(pairs: Iterable[Pair]) -> list[Pair]:
    """Pairs without duplicates, the lower id first, in order."""
    return sorted({(one, other) if one < other else (other, one) for one, other in pairs})


def refuse_absent(memory_ids: Collection[str]) -> None:
    """Raise `InvalidInputError` that names these missing memories, which were to be linked."""
    validation.refuse("links", *(f"no memory {key!r}" for key in sorted(memory_ids)))


def refuse_pairs(pairs: Iterable[Pair], absent: Collection[UUID]) -> None:
    """Raise `InvalidInputError` that names absent entities, and those paired with themselves."""
    alone = {one for one, other in pairs if one == other}
    validation.refuse(
        "pairs",
        *(f"no entity {key}" for key in sorted(absent)),
        *(f"entity {key} is paired with itself" for key in sorted(alone)),
    )


def refuse_communities(communities: Sequence[Community], taken: Collection[UUID]) -> None:
    """Raise `InvalidInputError` that names duplicate ids, and entities in two communities.

    ``taken`` are the entities in communities that stay.
    """
    ids = Counter(each.id for each in communities)
    members = Counter(member for each in communities for member in each.members)
    twice = {member for member, times in members.items() if times > 1} | {key for key in taken if key in members}
    validation.refuse(
        "communities",
        *(f"two of them have the id {key}" for key in sorted(key for key, times in ids.items() if times > 1)),
        *(f"entity {key} would be in two of them" for key in sorted(twice)),
    )


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


def mention_place(mention: Mention) -> tuple[Any, ...]:
    """By (memory, entity, span), one without a span first."""
    return (mention.memory_id, mention.entity_id, _span(mention), mention.surface, mention.type, mention.confidence)


def claim_place(dated: DatedClaim) -> tuple[Any, ...]:
    """In the order of the fold, then by content."""
    claim = dated.claim
    ends = (claim.source_id, claim.type, claim.target_id)
    period = (claim.valid_from or _EARLIEST, claim.valid_to or _LATEST)
    content = (claim.extractor, claim.fact, claim.kind, claim.confidence, claim.ceiling, _span(claim))
    return (dated.order, ends, period, *content)


def _span(proof: Mention | Claim) -> tuple[int, int]:
    return (proof.span.start, proof.span.end) if proof.span else (-1, -1)


def with_record(history: Sequence[HealthRecord], record: HealthRecord) -> tuple[HealthRecord, ...]:
    """The records of a scope with one more; it takes the place of the last one if the graph has hardly grown before."""
    known = list(history)
    if len(known) > 1 and known[-2].memories <= known[-1].memories < GROWN * known[-2].memories:
        known.pop()
    return tuple([*known, record][-HEALTH_RECORDS:])
