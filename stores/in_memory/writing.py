"""Validation of a batch before it is written in memory: every fault is found, not just the first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

import attrs
import numpy as np

from graphsearch.claims.folding import group_of, type_named
from graphsearch.errors import EmbeddingModelError, InvalidInputError
from graphsearch.model import (
    AssertedEntity,
    Batch,
    Claim,
    ElementKind,
    ElementRef,
    Group,
    Mention,
    Relation,
    RelationType,
    Vector,
    WriteReport,
    validation,
)
from graphsearch.protocols import Writing
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.in_memory.folding import (
    changed,
    claims_behind,
    drop_proof,
    put_entity,
    put_memory,
    put_relation,
    refold,
    regrouped,
    rename_entities,
    replace_proof,
    retract,
    sign_entities,
    sign_folded_again,
)
from graphsearch.stores.in_memory.merged import (
    drop_record_of,
    ends_of,
    forget_merged,
    given_relation,
    merged_entities_in,
    release,
)
from graphsearch.stores.in_memory.state import Draft, State


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


class InMemoryWriting(InMemoryScope, Writing):
    """Changes to elements, each on a draft that becomes the state at the end."""

    async def bind_embedder(self, name: str, dimensions: int) -> None:
        validation.refuse(
            "embedder", validation.text("name", name), validation.number("dimensions", dimensions, 1, 16_000)
        )
        with self._draft(create=True) as draft:
            if draft.embedder is None:
                draft.embedder, draft.dimensions = name, dimensions
            elif (draft.embedder, draft.dimensions) != (name, dimensions):
                raise EmbeddingModelError(
                    f"scope {self._scope} holds vectors of {draft.embedder!r} ({draft.dimensions} numbers), "
                    f"not of {name!r} ({dimensions}): use that model, or write to another scope"
                )

    async def embedder_name(self) -> str | None:
        return self._state.embedder

    async def register_types(self, types: Sequence[RelationType]) -> None:
        now, turned = self._clock.now(), set[str]()
        with self._draft(create=True) as draft:
            for each in types:
                known = type_named(each.name, draft.types)
                turned |= {each.name} if known.functional != each.functional else set()
                if draft.types.get(each.name) != each:
                    draft.types.set(each.name, each)
            _, lost = refold(draft, regrouped(draft, turned), now)
            for key in sorted(lost):
                retract(draft, key, now)

    async def write(self, batch: Batch) -> WriteReport:
        now = self._clock.now()
        with self._draft(create=True) as draft:
            check(draft.before, batch)
            entities = sum([put_entity(draft, entity, now, named=True) for entity in batch.named])
            entities += sum([put_entity(draft, entity, now) for entity in batch.entities])
            for key, words in batch.words.items():
                draft.entities.put_words(key, words)
            memories = sum([put_memory(draft, memory, now) for memory in batch.memories])
            groups = _prove(draft, batch)
            sign_entities(draft, draft.upwards(draft.naming.touched))
            for each in {each.id: each for each in batch.relations}.values():  # the last of equal ids
                relation = given_relation(draft, each, now)
                put_relation(draft, relation, now)
                if draft.groups.get(group := group_of(relation, draft.types)):
                    groups.add(group)  # a claim may state the same relation, and takes precedence
            folded, lost = refold(draft, groups, now)
            given = {relation.id for relation in batch.relations}
            retracted = sum([retract(draft, key, now) for key in sorted(lost)])
            reworded = rename_entities(draft)
            sign_folded_again(draft, now)
            for name, number in batch.counters.items():
                draft.counters.set(name, (draft.counters.get(name) or 0) + number)
            for key, vector in batch.vectors.items():
                for elements in (draft.entities, draft.relations, draft.memories):
                    if key in elements.items:
                        elements.put_vector(key, vector)
            return WriteReport(
                entities=entities,
                relations=changed(draft, given | folded),
                memories=memories,
                relations_retracted=retracted,
                reworded=tuple(key for key in reworded if key not in batch.vectors),
            )

    async def forget(self, memory_ids: Sequence[str]) -> WriteReport:
        now = self._clock.now()
        with self._draft() as draft:
            state = draft.before
            forgotten = sorted({key for key in memory_ids if key in state.memories.items})
            groups, entities, relations, merged = set[Group](), set[UUID](), set[UUID](), set[UUID]()
            for key in forgotten:
                claims, mentions = state.claims.get(key, ()), state.mentions.get(key, ())
                merged |= merged_entities_in(draft, key)
                groups |= {group_of(claim, draft.types) for claim in claims}
                entities |= {mention.entity_id for mention in mentions}
                entities |= {end for claim in claims for end in ends_of(claim)}
                relations |= state.proved.get(key, frozenset())
                drop_proof(draft, key)
                draft.drop(ElementKind.MEMORY, key)
            folded, lost = refold(draft, groups, now)
            lost |= _unproved(draft, relations - lost, forgotten, now)
            entities |= _drop_relations(draft, lost)
            removed = forget_merged(draft, merged | entities)
            removed += _isolated(draft, entities.difference(removed))
            for entity in removed:
                draft.drop(ElementKind.ENTITY, entity)
            reworded = rename_entities(draft)
            sign_folded_again(draft, now)
            return _counted(
                draft,
                memories=len(forgotten),
                relations=changed(draft, folded),
                relations_retracted=len(lost),
                entities_removed=len(removed),
                references_removed=_drop_references(draft),
                reworded=reworded,
            )

    async def delete(self, *, entities: Sequence[UUID] = (), relations: Sequence[UUID] = ()) -> WriteReport:
        now = self._clock.now()
        with self._draft() as draft:
            state = draft.before
            requested = {key for key in entities if key in state.entities.items}
            for key in sorted(requested):
                if key in draft.merging.into and draft.merging.root(key) not in requested:
                    release(draft, key)
            gone = {each for key in requested for each in draft.merging.tree(key)}
            dropped = {key for key in relations if key in state.relations.items}
            behind = {claim for key in dropped for claim in claims_behind(state, state.relations.items[key])}
            if gone:
                dropped |= {each.id for each in state.relations.items.values() if not gone.isdisjoint(ends_of(each))}
                every = (claim for claims in state.claims.values() for claim in claims)
                behind |= {claim for claim in every if not gone.isdisjoint(ends_of(claim))}
            _drop_from_memories(draft, gone, behind)
            folded, lost = refold(draft, {group_of(claim, draft.types) for claim in behind}, now)
            _drop_relations(draft, dropped | lost)
            for entity in sorted(gone):
                drop_record_of(draft, entity)
                draft.drop(ElementKind.ENTITY, entity)
            reworded = rename_entities(draft)
            sign_folded_again(draft, now)
            return _counted(
                draft,
                relations=changed(draft, folded),
                relations_retracted=len(dropped | lost),
                entities_removed=len(gone),
                reworded=reworded,
            )

    async def remove_scope(self) -> None:
        with self._cell.lock:
            self._cell.state = None

    async def settle(self) -> int:
        """Return 0: indexes are built on first use, and nothing is deferred."""
        with self._draft():
            return 0

    async def asserted(self, ids: Sequence[UUID]) -> Sequence[AssertedEntity]:
        state = self._state
        naming = state.naming
        return [
            AssertedEntity(
                entity=attrs.evolve(
                    entity, type=naming.named.get(entity.id, entity.type), aliases=naming.given.get(entity.id, ())
                ),
                named=entity.id in naming.named,
            )
            for entity in state.entities.those(ids)
        ]

    async def unembedded_facts(self, *, after: UUID | None = None, limit: int = 100) -> Sequence[Relation]:
        state = self._state
        validation.refuse("page", validation.number("limit", limit, 0))
        waiting = state.derive(_waiting, state.relations.items, state.relations.vectors)
        start = 0 if after is None else bisect_right(waiting, after)
        return state.relations.those(islice(waiting, start, start + limit))


def _waiting(items: Mapping[UUID, Relation], vectors: Mapping[UUID, Any]) -> list[UUID]:
    """The ids of unretracted relations with a fact and without a vector, in order."""
    without = items.keys() - vectors.keys()  # found quickly: if any fact has a vector, most have
    return sorted(key for key in without if items[key].fact and items[key].retracted_at is None)


def _prove(draft: Draft, batch: Batch) -> set[Group]:
    """Write the mentions and claims of the batch's memories; return the groups to fold again."""
    mentions: dict[str, list[Mention]] = {memory.id: [] for memory in batch.memories}
    claims: dict[str, list[Claim]] = {memory.id: [] for memory in batch.memories}
    for mention in batch.mentions:
        mentions[mention.memory_id].append(mention)
    for claim in batch.claims:
        claims[claim.memory_id].append(claim)
    before, merging, touched = draft.before, draft.merging, set[Group]()
    for key, given in claims.items():
        had, old = draft.original(key), before.memories.items.get(key)
        stated = merging.stated(had, mentions[key], given)
        other_claims = set(stated.claims) != set(had.claims)
        moved = old is not None and old.occurred_at != draft.memories.items[key].occurred_at
        signed = before.memories.codes.get(key) != draft.memories.codes.get(key)
        if moved or signed:
            draft.naming.touched |= {mention.entity_id for mention in stated.mentions}
        if other_claims or moved or signed:
            touched |= {group_of(merging.shown(claim), draft.types) for claim in (*had.claims, *stated.claims)}
        if other_claims or set(stated.mentions) != set(had.mentions):
            replace_proof(draft, key, stated.mentions, stated.claims)
            if merging.count:
                merging.proved.set(key, merging.count)
    return touched


def _unproved(draft: Draft, relations: Iterable[UUID], forgotten: Iterable[str], now: datetime) -> set[UUID]:
    """Relations without claims to delete with forgotten evidence.

    A retracted one goes with any of its evidence, since it may quote it; an asserted one only with the last.
    """
    gone = set[UUID]()
    for key in sorted(relations):
        relation = draft.relations.items[key]
        left = set(relation.evidence).difference(forgotten)
        if len(left) == len(relation.evidence):
            continue
        if relation.retracted_at is not None or not left:
            gone.add(key)
        else:
            put_relation(draft, attrs.evolve(relation, evidence=left), now)
    return gone


def _drop_relations(draft: Draft, keys: Iterable[UUID]) -> set[UUID]:
    """Remove relations; return the entities that they joined."""
    ends = set[UUID]()
    for key in sorted(keys):
        relation = draft.relations.items[key]
        ends |= {relation.source_id, relation.target_id}
        for memory in relation.evidence:
            draft.proved.discard(memory, key)
        draft.drop(ElementKind.RELATION, key)
    return ends


def _isolated(draft: Draft, entities: Iterable[UUID]) -> list[UUID]:
    """The entities without mentions and relations that are part of no merge."""
    unmentioned = {
        key
        for key in entities
        if key in draft.entities.items and not draft.mentioned.get(key) and not draft.merging.involves(key)
    }
    if unmentioned:
        for relation in draft.relations.items.result.values():
            unmentioned -= {relation.source_id, relation.target_id}
    return sorted(unmentioned)


def _drop_from_memories(draft: Draft, entities: set[UUID], claims: set[Claim]) -> None:
    """Remove mentions of some entities, and some claims as they are shown, from the memories that have them."""
    state = draft.before
    memories = {claim.memory_id for claim in claims}.union(*(state.mentioned.get(key, ()) for key in entities))
    for memory in sorted(memories):
        original = draft.original(memory)
        mentions = zip(state.mentions.get(memory, ()), original.mentions, strict=True)
        kept = zip(state.claims.get(memory, ()), original.claims, strict=True)
        replace_proof(
            draft,
            memory,
            [then for now, then in mentions if now.entity_id not in entities],
            [then for now, then in kept if now not in claims],
        )


def _drop_references(draft: Draft) -> int:
    """Remove what the draft dropped from the log of injections; return the number of log entries removed.

    The id of a memory is a text like any other.
    """
    kinds = {kind: elements.items for kind, elements in draft.of_kind.items()}
    gone = {ElementRef(kind, str(key)) for kind, key in draft.dropped if key not in kinds[kind]}
    removed = 0
    for key, injection in draft.before.injections.items():
        if not gone.isdisjoint(injection.elements):
            kept = tuple(element for element in injection.elements if element not in gone)
            removed += len(injection.elements) - len(kept)
            draft.injections.set(key, attrs.evolve(injection, elements=kept))
    return removed


def _counted(draft: Draft, **counts: Any) -> WriteReport:
    """A report with the numbers of removed mentions, claims and links."""
    before = draft.before
    return WriteReport(
        mentions_removed=_total(before.mentions) - _total(draft.mentions.result),
        claims_removed=_total(before.claims) - _total(draft.claims.result),
        links_removed=(  # each is stored at both of its ends
            _total(before.links) + _total(before.distinct) - _total(draft.links.result) - _total(draft.distinct.result)
        )
        // 2,
        **counts,
    )


def _total(parts: Mapping[Any, Collection[object]]) -> int:
    return sum(map(len, parts.values()))
