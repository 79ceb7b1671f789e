"""Writing in memory: pure functions from one state to the next; `Batch` and `GraphStore` say what they keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

import attrs

from graphsearch.claims.folding import group_of, type_named
from graphsearch.model import Batch, Claim, ElementKind, Group, Mention, RelationType, WriteReport
from graphsearch.stores.in_memory.check import check
from graphsearch.stores.in_memory.draft import Draft
from graphsearch.stores.in_memory.forgetting import counted, forget_references
from graphsearch.stores.in_memory.merges import give_relation, give_up, said_of
from graphsearch.stores.in_memory.merging import drop_record_of, forget_merged
from graphsearch.stores.in_memory.naming import call_again
from graphsearch.stores.in_memory.proof import (
    changed,
    claims_behind,
    drop_proof,
    put_entity,
    put_memory,
    put_relation,
    refold,
    regrouped,
    replace_proof,
    retract,
    sign_beside,
)
from graphsearch.stores.in_memory.state import State


def write(state: State, batch: Batch, now: datetime) -> tuple[State, WriteReport]:
    """With all of a batch. Raises `InvalidInputError` and `EmbeddingModelError`."""
    check(state, batch)
    draft = Draft(state)
    entities = sum([put_entity(draft, entity, now, named=True) for entity in batch.named])
    entities += sum([put_entity(draft, entity, now) for entity in batch.entities])
    for key, words in batch.words.items():
        draft.entities.put_words(key, words)
    memories = sum([put_memory(draft, memory, now) for memory in batch.memories])
    groups = _prove(draft, batch)
    for each in {each.id: each for each in batch.relations}.values():  # of two of one id the last
        relation = give_relation(draft, each, now)
        put_relation(draft, relation, now)
        if draft.groups.get(group := group_of(relation, draft.types)):
            groups.add(group)  # a claim may give the same relation, and wins
    folded, lost = refold(draft, groups, now)
    given = {relation.id for relation in batch.relations}
    retracted = sum([retract(draft, key, now) for key in sorted(lost)])
    reworded = call_again(draft)
    sign_beside(draft, now)
    for name, number in batch.counters.items():
        draft.counters.set(name, (draft.counters.get(name) or 0) + number)
    for key, vector in batch.vectors.items():
        for elements in (draft.entities, draft.relations, draft.memories):
            if key in elements.items:
                elements.put_vector(key, vector)
    return draft.result, WriteReport(
        entities=entities,
        relations=changed(draft, given | folded),
        memories=memories,
        relations_retracted=retracted,
        reworded=tuple(key for key in reworded if key not in batch.vectors),
    )


def forget(state: State, memory_ids: Iterable[str], now: datetime) -> tuple[State, WriteReport]:
    """Without these memories, and without what only they proved."""
    draft = Draft(state)
    forgotten = sorted({key for key in memory_ids if key in state.memories.items})
    groups, entities, relations, merged = set[Group](), set[UUID](), set[UUID](), set[UUID]()
    for key in forgotten:
        claims, mentions = state.claims.get(key, ()), state.mentions.get(key, ())
        merged |= said_of(draft, key)
        groups |= {group_of(claim, draft.types) for claim in claims}
        entities |= {mention.entity_id for mention in mentions}
        entities |= {end for claim in claims for end in (claim.source_id, claim.target_id)}
        relations |= state.proved.get(key, frozenset())
        drop_proof(draft, key)
        draft.drop(ElementKind.MEMORY, key)
    folded, lost = refold(draft, groups, now)
    lost |= _unproved(draft, relations - lost, forgotten, now)
    entities |= _drop_relations(draft, lost)
    removed = forget_merged(draft, merged | entities)
    removed += _lonely(draft, entities.difference(removed))
    for entity in removed:
        draft.drop(ElementKind.ENTITY, entity)
    reworded = call_again(draft)
    sign_beside(draft, now)
    later, references = forget_references(draft.result, draft.dropped)
    report = WriteReport(
        memories=len(forgotten),
        relations=changed(draft, folded),
        relations_retracted=len(lost),
        entities_removed=len(removed),
        references_removed=references,
        reworded=reworded,
    )
    return later, counted(report, state, later)


def delete(
    state: State, entities: Iterable[UUID], relations: Iterable[UUID], now: datetime
) -> tuple[State, WriteReport]:
    """Without these entities and relations, and all that hangs on them."""
    draft = Draft(state)
    asked = {key for key in entities if key in state.entities.items}
    for key in sorted(asked):
        if key in draft.merging.into and draft.merging.root(key) not in asked:
            give_up(draft, key)
    gone = {each for key in asked for each in draft.merging.tree(key)}
    dropped = {key for key in relations if key in state.relations.items}
    behind = {claim for key in dropped for claim in claims_behind(state, state.relations.items[key])}
    if gone:
        every = state.relations.items.values()
        dropped |= {each.id for each in every if not gone.isdisjoint((each.source_id, each.target_id))}
        said = (claim for claims in state.claims.values() for claim in claims)
        behind |= {claim for claim in said if not gone.isdisjoint((claim.source_id, claim.target_id))}
    memories = {claim.memory_id for claim in behind}.union(*(state.mentioned.get(key, ()) for key in gone))
    for memory in sorted(memories):
        mentions = [
            then
            for now_, then in zip(
                state.mentions.get(memory, ()), draft.merging.said_mentions(draft, memory), strict=True
            )
            if now_.entity_id not in gone
        ]
        claims = [
            then
            for now_, then in zip(state.claims.get(memory, ()), draft.merging.said_claims(draft, memory), strict=True)
            if now_ not in behind
        ]
        replace_proof(draft, memory, mentions, claims)
    folded, lost = refold(draft, {group_of(claim, draft.types) for claim in behind}, now)
    _drop_relations(draft, dropped | lost)
    for entity in sorted(gone):
        drop_record_of(draft, entity)
        draft.drop(ElementKind.ENTITY, entity)
    reworded = call_again(draft)
    sign_beside(draft, now)
    later = draft.result
    report = WriteReport(
        relations=changed(draft, folded),
        relations_retracted=len(dropped | lost),
        entities_removed=len(gone),
        reworded=reworded,
    )
    return later, counted(report, state, later)


def register_types(state: State, types: Sequence[RelationType], now: datetime) -> State:
    """With these types; claims of a type that became functional, or ceased to be, are folded again."""
    draft = Draft(state)
    turned = set[str]()
    for each in types:
        known = type_named(each.name, draft.types)
        turned |= {each.name} if known.functional != each.functional else set()
        if draft.types.get(each.name) != each:
            draft.types.set(each.name, each)
    _, lost = refold(draft, regrouped(draft, turned), now)
    for key in sorted(lost):
        retract(draft, key, now)
    return draft.result


def _prove(draft: Draft, batch: Batch) -> set[Group]:
    """Give the batch's memories their mentions and claims; the groups that are to be folded again."""
    mentions: dict[str, list[Mention]] = {memory.id: [] for memory in batch.memories}
    claims: dict[str, list[Claim]] = {memory.id: [] for memory in batch.memories}
    for mention in batch.mentions:
        mentions[mention.memory_id].append(mention)
    for claim in batch.claims:
        claims[claim.memory_id].append(claim)
    before, merging, touched = draft.before, draft.merging, set[Group]()
    for key, told in claims.items():
        said = merging.stated(draft, key, mentions[key], told)
        had, old = set(merging.said_claims(draft, key)), before.memories.items.get(key)
        moved = old is not None and old.occurred_at != draft.memories.items[key].occurred_at
        if moved:
            draft.naming.touched |= {mention.entity_id for mention in said.mentions}
        signed = before.memories.codes.get(key) != draft.memories.codes.get(key)
        if set(said.claims) != had or moved or signed:
            touched |= {group_of(merging.shown(claim), draft.types) for claim in (*had, *said.claims)}
        if set(said.claims) != had or set(said.mentions) != set(merging.said_mentions(draft, key)):
            replace_proof(draft, key, said.mentions, said.claims)
            if merging.count:
                merging.proved.set(key, merging.count)
    return touched


def _unproved(draft: Draft, relations: Iterable[UUID], forgotten: Iterable[str], now: datetime) -> set[UUID]:
    """Of relations that no fold gave, those that go with forgotten evidence.

    A retracted one goes with any of its evidence, since it may quote it; a given one only with the last.
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
    """Remove relations; the entities that they joined."""
    ends = set[UUID]()
    for key in sorted(keys):
        relation = draft.relations.items[key]
        ends |= {relation.source_id, relation.target_id}
        for memory in relation.evidence:
            draft.proved.discard(memory, key)
        draft.drop(ElementKind.RELATION, key)
    return ends


def _lonely(draft: Draft, entities: Iterable[UUID]) -> list[UUID]:
    """Of some entities, those without a mention and without a relation, and that are part of no merge."""
    unmentioned = {
        key
        for key in entities
        if key in draft.entities.items and not draft.mentioned.get(key) and not draft.merging.involves(key)
    }
    if unmentioned:
        for relation in draft.relations.items.result.values():
            unmentioned -= {relation.source_id, relation.target_id}
    return sorted(unmentioned)
