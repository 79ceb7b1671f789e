"""Writing, forgetting and deleting in memory: each change is made on a draft of the state."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from operator import attrgetter
from typing import Any, cast
from uuid import UUID

import attrs

from graphsearch._support.concurrency import in_slices
from graphsearch.claims.folding import group_of, type_named
from graphsearch.errors import InvalidInputError
from graphsearch.model import (
    AssertedEntity,
    Batch,
    Claim,
    ElementKind,
    Entity,
    Group,
    Memory,
    Mention,
    Relation,
    RelationType,
    WriteReport,
    validation,
)
from graphsearch.model.validation import revised
from graphsearch.protocols import GraphStore, Writing
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
from graphsearch.stores.in_memory.merging import ends_of
from graphsearch.stores.in_memory.removing import (
    counted,
    drop_faded,
    drop_from_memories,
    drop_record_of,
    drop_references,
    drop_relations,
    forget_merged,
    isolated,
    prune,
    release,
    unproved,
)
from graphsearch.stores.in_memory.state import Draft, State
from graphsearch.stores.shared.answers import reference_faults, referred
from graphsearch.stores.shared.merging import join_minted
from graphsearch.stores.shared.reembedding import refuse_model
from graphsearch.stores.shared.vectors import (
    other_embedder,
    read_vectors,
    refuse_other_model,
    with_current_vectors,
)


class InMemoryWriting(InMemoryScope, Writing):
    """Changes to elements, each on a draft that becomes the state at the end."""

    async def bind_embedder(self, name: str, dimensions: int) -> None:
        refuse_model(name, dimensions)
        async with self._draft(create=True) as draft:
            if draft.embedder is None:
                draft.embedder, draft.dimensions = name, dimensions
            elif (draft.embedder, draft.dimensions) != (name, dimensions):
                raise other_embedder(self._scope, (draft.embedder, draft.dimensions), (name, dimensions))

    async def embedder_name(self) -> str | None:
        return self._state.embedder

    async def id_key(self) -> UUID:
        return self._state.id_key

    async def register_types(self, types: Sequence[RelationType]) -> None:
        now, turned = self._clock.now(), set[str]()
        async with self._draft(create=True) as draft:
            for each in types:
                known = type_named(each.name, draft.types)
                turned |= {each.name} if known.functional != each.functional else set()
                if draft.types.get(each.name) != each:
                    draft.types.set(each.name, each)
            _, lost = await in_slices(refold(draft, regrouped(draft, turned), now))
            for key in sorted(lost):
                retract(draft, key, now)

    async def write(self, batch: Batch) -> WriteReport:
        now = self._clock.now()
        async with self._draft(create=True) as draft:
            report = await in_slices(_written(draft, batch, now))
        await join_minted(cast(GraphStore, self), batch.entities)
        return report

    async def forget(self, memory_ids: Sequence[str], *, dry_run: bool = False) -> WriteReport:
        now = self._clock.now()
        async with self._draft(keep=not dry_run) as draft:
            state = draft.before
            forgotten = sorted({key for key in memory_ids if key in state.memories.items})
            groups, entities, relations, merged = set[Group](), set[UUID](), set[UUID](), set[UUID]()
            for key in forgotten:
                claims, mentions = state.claims.get(key, ()), state.mentions.get(key, ())
                if original := state.merging.originals.get(key):
                    merged |= original.entities
                groups |= {group_of(claim, draft.types) for claim in claims}
                entities |= {mention.entity_id for mention in mentions}
                entities |= {end for claim in claims for end in ends_of(claim)}
                relations |= state.proved.get(key, frozenset())
                drop_proof(draft, key)
                draft.drop(ElementKind.MEMORY, key)
            folded, lost = await in_slices(refold(draft, groups, now))
            lost |= unproved(draft, relations - lost, forgotten, now)
            entities |= drop_relations(draft, lost)
            removed, lapsed = forget_merged(draft, merged | entities)
            alone = isolated(draft, entities.difference(removed))
            for entity in alone:
                draft.drop(ElementKind.ENTITY, entity)
            faded, others = drop_faded(draft, entities.difference(removed, alone))
            removed, lost = [*removed, *alone, *faded], lost | lapsed | others
            reworded = await in_slices(rename_entities(draft))
            await in_slices(sign_folded_again(draft, now))
            return counted(
                draft,
                memories=len(forgotten),
                relations=changed(draft, folded),
                relations_retracted=len(lost),
                entities_removed=len(removed),
                references_removed=drop_references(draft),
                reworded=reworded,
            )

    async def delete(self, *, entities: Sequence[UUID] = (), relations: Sequence[UUID] = ()) -> WriteReport:
        now = self._clock.now()
        async with self._draft() as draft:
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
            drop_from_memories(draft, gone, behind)
            folded, lost = await in_slices(refold(draft, {group_of(claim, draft.types) for claim in behind}, now))
            drop_relations(draft, dropped | lost)
            for entity in sorted(gone):
                drop_record_of(draft, entity)
                draft.drop(ElementKind.ENTITY, entity)
            reworded = await in_slices(rename_entities(draft))
            await in_slices(sign_folded_again(draft, now))
            return counted(
                draft,
                relations=changed(draft, folded),
                relations_retracted=len(dropped | lost),
                entities_removed=len(gone),
                reworded=reworded,
            )

    async def remove_scope(self) -> None:
        async with self._writing():
            self._cell.state = None

    async def settle(self) -> int:
        """Return 0: indexes are built on first use, and nothing is deferred."""
        async with self._draft():
            return 0

    async def asserted(self, ids: Sequence[UUID]) -> Sequence[AssertedEntity]:
        state = self._state
        naming = state.naming
        return [
            AssertedEntity(
                entity=revised(
                    entity, type=naming.named.get(entity.id, entity.type), aliases=naming.given.get(entity.id, ())
                ),
                named=entity.id in naming.named,
            )
            for entity in state.entities.those(ids)
        ]

    async def unembedded_facts(self, *, after: UUID | None = None, limit: int = 100) -> Sequence[Relation]:
        state = self._state
        validation.refuse("page", validation.number("limit", limit, 0))
        facts, vectors = state.derive(_with_facts, state.relations.items), state.relations.vectors
        start = 0 if after is None else bisect_right(facts, after)
        waiting = (key for key in islice(facts, start, None) if key not in vectors)
        return state.relations.those(islice(waiting, limit))


def _with_facts(items: Mapping[UUID, Relation]) -> list[UUID]:
    """The ids of unretracted relations with a fact, in order: the same while only vectors are written."""
    facts = (key for key, relation in items.items() if relation.fact and relation.retracted_at is None)
    return sorted(facts, key=attrgetter("int"))  # sorts like UUIDs, five times as fast


def _written(draft: Draft, batch: Batch, now: datetime) -> Generator[None, None, WriteReport]:
    """Write a batch, in steps."""
    batch = with_current_vectors(batch, _stored(draft.before, batch.embedded))
    _check(draft.before, batch)
    yield
    entities = memories = 0
    for entity, named in (*((each, True) for each in batch.named), *((each, False) for each in batch.entities)):
        entities += put_entity(draft, entity, now, named=named)
        yield
    for key, words in batch.words.items():
        draft.entities.put_words(key, words)
        yield
    for memory in batch.memories:
        memories += put_memory(draft, memory, now)
        yield
    groups = yield from _prove(draft, batch)
    yield from sign_entities(draft, draft.merging.above(draft.naming.touched))
    for each in {each.id: each for each in batch.relations}.values():  # the last of equal ids
        relation = _given_relation(draft, each, now)
        put_relation(draft, relation, now)
        if draft.groups.get(group := group_of(relation, draft.types)):
            groups.add(group)  # a claim may state the same relation, and takes precedence
        yield
    folded, lost = yield from refold(draft, groups, now)
    given = {relation.id for relation in batch.relations}
    retracted = sum([retract(draft, key, now) for key in sorted(lost)])
    _forget_merged(draft, batch)
    pruned = prune(draft, batch.prune)
    reworded = yield from rename_entities(draft)
    yield from sign_folded_again(draft, now)
    for name, number in batch.counters.items():
        draft.counters.set(name, (draft.counters.get(name) or 0) + number)
    for key, vector in batch.vectors.items():
        for elements in (draft.entities, draft.relations, draft.memories):
            if key in elements.items:
                elements.put_vector(key, vector)
        yield
    return WriteReport(
        entities=entities,
        relations=changed(draft, given | folded),
        memories=memories,
        relations_retracted=retracted,
        entities_removed=len(pruned),
        reworded=tuple(key for key in reworded if key not in batch.vectors),
    )


def _check(state: State, batch: Batch) -> None:
    """Raise `InvalidInputError` that names every fault of a batch, or `EmbeddingModelError`."""
    # Stored elements are looked up one by one: a set of them would take time with the scope, not with the batch.
    stored = [elements.items for elements in (state.entities, state.relations, state.memories)]
    entities, memories = referred(batch)
    no_entities = {key for key in entities if key not in stored[0]}
    vectors = read_vectors(batch.vectors)
    given: tuple[Entity | Relation | Memory, ...] = (*batch.entities, *batch.named, *batch.relations, *batch.memories)
    written = {each.id for each in given}
    nothing = (key for key in vectors.keys if key not in written and not any(key in items for items in stored))
    faults = [
        *reference_faults(batch, no_entities, {key for key in memories if key not in stored[2]}),
        *vectors.faults,
        *(f"vector: no element {key}" for key in nothing),
    ]
    if faults:
        raise InvalidInputError("batch", sorted(set(faults)))
    refuse_other_model(batch, state.embedder)
    vectors.refuse_others(state.embedder, state.dimensions)


def _stored(state: State, keys: Iterable[Any]) -> Iterable[Entity | Relation | Memory]:
    every = (state.entities.items, state.relations.items, state.memories.items)
    return (items[key] for key in keys for items in every if key in items)


def _forget_merged(draft: Draft, batch: Batch) -> None:
    """Remove only named, merged entities that the memories of a batch alone mentioned, before it."""
    originals = draft.before.merging.originals
    had = {key for memory in batch.memories if (each := originals.get(memory.id)) for key in each.entities}
    forget_merged(draft, had.intersection(draft.naming.named.result))


def _prove(draft: Draft, batch: Batch) -> Generator[None, None, set[Group]]:
    """Write the mentions and claims of the batch's memories, in steps; return the groups to fold again."""
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
        yield
    return touched


def _given_relation(draft: Draft, relation: Relation, now: datetime) -> Relation:
    """An asserted relation, between the entities that its ends were merged into.

    A relation that moved with a merge, and is asserted again unchanged, moves back when the merge is undone; so does
    one that would lead from an entity to itself.
    """
    shown = draft.merging.shown(relation)
    if draft.merging.collapses(relation):
        draft.merging.ends.set(relation.id, ends_of(relation))
        return attrs.evolve(shown, retracted_at=relation.retracted_at or now)
    if draft.merging.ends.get(relation.id) != ends_of(relation):
        draft.merging.ends.pop(relation.id)
    return shown
