"""Removing elements in memory, with everything that depends on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import attrs

from graphsearch.model import Claim, ElementKind, ElementRef, WriteReport
from graphsearch.stores.in_memory.folding import put_relation, replace_proof
from graphsearch.stores.in_memory.merging import ends_of
from graphsearch.stores.in_memory.state import Draft
from graphsearch.stores.shared.merging import shown


def unproved(draft: Draft, relations: Iterable[UUID], forgotten: Iterable[str], now: datetime) -> set[UUID]:
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


def drop_relations(draft: Draft, keys: Iterable[UUID]) -> set[UUID]:
    """Remove relations; return the entities that they joined."""
    ends = set[UUID]()
    for key in sorted(keys):
        relation = draft.relations.items[key]
        ends.update(ends_of(relation))
        for memory in relation.evidence:
            draft.proved.discard(memory, key)
        draft.drop(ElementKind.RELATION, key)
    return ends


def isolated(draft: Draft, entities: Iterable[UUID]) -> list[UUID]:
    """The entities without mentions and relations that are part of no merge."""
    unmentioned = _unmentioned(draft, entities)
    if unmentioned:
        for relation in draft.relations.items.result.values():
            unmentioned.difference_update(ends_of(relation))
    return sorted(unmentioned)


def drop_faded(draft: Draft, entities: Iterable[UUID]) -> tuple[list[UUID], set[UUID]]:
    """Remove entities that only mentions named, when none does and they have nothing but retracted relations.

    Their names are forgotten words. The relations go with them, and what these joined in turn. Returns both.
    """
    gone, relations = list[UUID](), set[UUID]()
    named = draft.naming.named
    waiting = {key for key in _unmentioned(draft, entities) if key in named}
    while waiting:
        every = draft.relations.items.result.values()
        waiting.difference_update(*(ends_of(each) for each in every if each.retracted_at is None))
        lapsed = {each.id for each in every if not waiting.isdisjoint(ends_of(each))}
        for key in sorted(waiting):
            draft.drop(ElementKind.ENTITY, key)
        gone += waiting
        relations |= lapsed
        waiting = {key for key in _unmentioned(draft, drop_relations(draft, lapsed)) if key in named}
    return sorted(gone), relations


def _unmentioned(draft: Draft, entities: Iterable[UUID]) -> set[UUID]:
    """The entities without mentions that are part of no merge."""
    there = (key for key in entities if key in draft.entities.items)
    return {key for key in there if not draft.mentioned.get(key) and not draft.merging.involves(key)}


def prune(draft: Draft, entities: Iterable[UUID]) -> list[UUID]:
    """Remove those of some entities that nothing names, with their retracted relations; return them (`Batch.prune`)."""
    gone = _unmentioned(draft, entities)
    if gone:
        every = draft.relations.items.result.values()
        gone.difference_update(*(ends_of(each) for each in every if each.retracted_at is None))
        drop_relations(draft, [each.id for each in every if not gone.isdisjoint(ends_of(each))])
    for key in sorted(gone):
        draft.drop(ElementKind.ENTITY, key)
    return sorted(gone)


def drop_from_memories(draft: Draft, entities: set[UUID], claims: set[Claim]) -> None:
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


def drop_references(draft: Draft) -> int:
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


def counted(draft: Draft, **counts: Any) -> WriteReport:
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


# -- merged entities -----------------------------------------------------------------------------------------------


def release(draft: Draft, key: UUID) -> None:
    """Transfer all mentions, claims and relations of a merged entity to its target, permanently."""
    above = draft.merging.into[key]

    def instead(end: UUID) -> UUID:
        return above if end == key else end

    for child in list(draft.merging.absorbed.get(key)):
        draft.merging.part(child)
        draft.merging.join(child, above)
        draft.entities.put(attrs.evolve(draft.entities.items[child], merged_into=above))
        for record in list(draft.merging.records.result.values()):
            if record.merge.source_id == child and record.merge.undone_at is None:
                merge = attrs.evolve(record.merge, target_id=above)
                draft.merging.records.set(merge.id, attrs.evolve(record, merge=merge))
    for memory in list(draft.merging.originals.result):
        original = draft.merging.originals[memory]
        mentions = [shown(each, instead) for each in original.mentions]
        replace_proof(draft, memory, mentions, [shown(each, instead) for each in original.claims])
    for relation, ends in list(draft.merging.ends.result.items()):
        if key in ends:
            draft.merging.ends.set(relation, (instead(ends[0]), instead(ends[1])))


def forget_merged(draft: Draft, entities: Collection[UUID]) -> tuple[list[UUID], set[UUID]]:
    """Remove those merged entities that nothing mentions any more, with the records of their merges.

    Retracted relations do not keep entities that only mentions named, and go with them. Returns both.
    """
    gone, lapsed = list[UUID](), set[UUID]()
    waiting = {key for key in entities if key in draft.merging.into}
    if not waiting:
        return gone, lapsed
    mentioned = set[UUID]().union(*(each.entities for each in draft.merging.originals.result.values()))
    mentioned |= {end for ends in draft.merging.ends.result.values() for end in ends}
    every = draft.relations.items.result.values()
    related = {end for each in every for end in ends_of(each)}
    holding = {end for each in every if each.retracted_at is None for end in ends_of(each)}
    while waiting:
        key = waiting.pop()
        above = draft.merging.into.get(key)
        kept = holding if key in draft.naming.named else related
        if above is None or key in mentioned | kept or draft.merging.absorbed.get(key):
            continue
        lapsed |= {each.id for each in every if key in ends_of(each)}
        drop_record_of(draft, key)
        lost = draft.naming.lost_surfaces  # it may have given one of these to the entity that it was merged into
        lost.setdefault(above, set()).update(lost.get(key, ()))
        gone.append(key)
        waiting.add(above)
    drop_relations(draft, lapsed)
    for key in gone:
        draft.drop(ElementKind.ENTITY, key)
    return sorted(gone), lapsed


def drop_unnamed(draft: Draft, key: UUID) -> None:
    """Remove an entity that only mentions named, when none does any more, with those that this leaves so.

    It had the names of what was merged into it.
    """
    if key in draft.naming.named and not forget_merged(draft, {key})[0]:
        drop_faded(draft, [key])


def drop_record_of(draft: Draft, key: UUID) -> None:
    """Remove an entity from the merges, with all records that name it."""
    if key in draft.merging.into:
        draft.naming.touched.add(draft.merging.into[key])
        draft.merging.part(key)
    for record in list(draft.merging.records.result.values()):
        if key in (record.merge.source_id, record.merge.target_id):
            draft.merging.records.pop(record.merge.id)
