"""Orders, refusals and joins that all stores share, so that their results and errors are equal."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from heapq import nsmallest
from itertools import combinations, product
from typing import Any, Final, TypeAlias
from uuid import UUID

from graphsearch.claims.folding import DatedClaim
from graphsearch.claims.naming import MAX_TRIGRAMS, folded_name, prefix_lengths, sizes
from graphsearch.model import Batch, Claim, Community, HealthRecord, Mention, Relation, SimilarPair, validation
from graphsearch.names.candidate_index import MAX_COMPARED
from graphsearch.protocols.learning import HEALTH_RECORDS
from graphsearch.text.trigrams import overlap, trigrams

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


def similar_pairs(
    named: Iterable[tuple[UUID, str, Sequence[str]]], distinct: Callable[[Pair], bool], threshold: float, limit: int
) -> list[SimilarPair]:
    """Pairs of entities of one type, best first, by their first `MAX_COMPARED` names; not those that are ``distinct``.

    ``named`` has the id, the type and the names of each.
    """
    of, type_of, best = defaultdict[str, set[UUID]](set), dict[UUID, str](), dict[Pair, float]()
    for key, type_, names in named:
        type_of[key] = type_
        for name in names[:MAX_COMPARED]:
            of[folded_name(name)].add(key)
    for one, other, score in _alike(of, threshold):
        for a, b in combinations(sorted(of[one]), 2) if one == other else product(of[one], of[other]):
            pair = (a, b) if a < b else (b, a)
            if a != b and type_of[a] == type_of[b] and not distinct(pair):
                best[pair] = max(score, best.get(pair, 0.0))
    pairs = (SimilarPair(one_id=a, other_id=b, similarity=score) for (a, b), score in best.items())
    return nsmallest(limit, pairs, key=lambda pair: (-pair.similarity, pair.one_id, pair.other_id))


def _alike(names: Iterable[str], threshold: float) -> Iterator[tuple[str, str, float]]:
    """Similar names, each pair once, and each name with itself.

    Here the fixed order of trigrams is the best one, the rarest first.
    """
    sets = {name: found for name in names if 0 < len(found := trigrams(name)) <= MAX_TRIGRAMS}
    often = Counter(trigram for each in sets.values() for trigram in each)
    met: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for name, own in sorted(sets.items(), key=lambda item: len(item[1])):  # the smaller before the larger
        yield name, name, 1.0
        ordered, size = sorted(own, key=lambda trigram: (often[trigram], trigram)), len(own)
        for other in range(sizes(size, threshold).start, size + 1):
            prefix = ordered[: prefix_lengths(size, other, threshold)[0]]
            for each in set[str]().union(*(met.get((trigram, other), ()) for trigram in prefix)):
                if (score := overlap(own, sets[each])) >= threshold:
                    yield name, each, score
        for trigram in ordered[: prefix_lengths(size, size, threshold)[0]]:  # no larger name shares but a later one
            met[trigram, size].append(name)


def with_record(history: Sequence[HealthRecord], record: HealthRecord) -> tuple[HealthRecord, ...]:
    """The records of a scope with one more; it takes the place of the last one if the graph has hardly grown before."""
    known = list(history)
    if len(known) > 1 and known[-2].memories <= known[-1].memories < GROWN * known[-2].memories:
        known.pop()
    return tuple([*known, record][-HEALTH_RECORDS:])
