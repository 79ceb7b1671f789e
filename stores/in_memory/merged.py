"""Operations on merged entities: move, give back and forget their mentions, claims and relations."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

import attrs

from graphsearch.claims.folding import group_of
from graphsearch.model import Claim, ElementKind, Group, Relation
from graphsearch.stores.in_memory.folding import put_relation, replace_proof
from graphsearch.stores.in_memory.state import Draft
from graphsearch.stores.shared.merging import Record, shown


def ends_of(edge: Relation | Claim) -> tuple[UUID, UUID]:
    """Source and target."""
    return (edge.source_id, edge.target_id)


def entities_in(draft: Draft, memory: str) -> set[UUID]:
    """The entities of a memory's mentions and claims as they were written."""
    original = draft.original(memory)
    return {each.entity_id for each in original.mentions} | {end for each in original.claims for end in ends_of(each)}


def merged_entities_in(draft: Draft, memory: str) -> set[UUID]:
    """The entities of a memory as written, if some of them have been merged since."""
    return entities_in(draft, memory) if memory in draft.merging.originals else set()


def show_again(draft: Draft, memories: Iterable[str]) -> set[Group]:
    """Project mentions and claims of memories onto the merged entities; return the groups to fold again."""
    groups = set[Group]()
    for memory in sorted(memories):
        original, before = draft.original(memory), draft.claims.get(memory) or ()
        replace_proof(draft, memory, original.mentions, original.claims)
        for old, new in zip(before, draft.claims.get(memory) or (), strict=True):
            if old != new:
                groups |= {group_of(old, draft.types), group_of(new, draft.types)}
    return groups


def move(draft: Draft, relation: Relation, now: datetime) -> None:
    """Redirect an asserted relation to the entities that its ends were merged into."""
    merging = draft.merging
    given = merging.ends.get(relation.id) or ends_of(relation)
    original = attrs.evolve(relation, source_id=given[0], target_id=given[1])
    shown = merging.shown(original)
    turned = relation.source_id == relation.target_id and given[0] != given[1]
    retracted_at = None if turned else relation.retracted_at
    if merging.collapses(original):
        retracted_at = relation.retracted_at or now
    put_relation(draft, attrs.evolve(shown, retracted_at=retracted_at), now)
    if ends_of(shown) == given:
        merging.ends.pop(relation.id)
    else:
        merging.ends.set(relation.id, given)


def unmake(draft: Draft, key: UUID, now: datetime) -> None:
    """Remove a relation that only a merge made, or retract again one that a merge revived."""
    relation, retracted_at = draft.relations.items[key], draft.merging.revived.get(key)
    if retracted_at is not None:
        draft.merging.revived.pop(key)
        put_relation(draft, attrs.evolve(relation, retracted_at=retracted_at), now)
        return
    for memory in relation.evidence:
        draft.proved.discard(memory, key)
    draft.drop(ElementKind.RELATION, key)


def count_held(draft: Draft, key: UUID, number: int) -> None:
    """Add to the counts of mentions and claims of an entity's merge, and of the merges above it."""
    above = {record.merge.source_id: record for record in draft.merging.records.result.values() if _stands(record)}
    at: UUID | None = key
    while at is not None and (record := above.get(at)):
        draft.merging.records.set(record.merge.id, attrs.evolve(record, held=record.held + number))
        at = draft.merging.into.get(at)


def _stands(record: Record) -> bool:
    return record.merge.undone_at is None


def written_since(draft: Draft, key: UUID, source: UUID, number: int) -> int:
    """Count the mentions and claims of an entity, not of a source, in memories written since a merge."""
    since = [memory for memory, seen in draft.merging.proved.result.items() if seen >= number]
    mentions = sum(each.entity_id == key for memory in since for each in draft.mentions.get(memory) or ())
    claims = [ends_of(each) for memory in since for each in draft.claims.get(memory) or ()]
    return mentions + sum(key in ends and source not in ends for ends in claims)


def given_relation(draft: Draft, relation: Relation, now: datetime) -> Relation:
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
            if record.merge.source_id == child and _stands(record):
                merge = attrs.evolve(record.merge, target_id=above)
                draft.merging.records.set(merge.id, attrs.evolve(record, merge=merge))
    for memory in list(draft.merging.originals.result):
        original = draft.merging.originals[memory]
        mentions = [shown(each, instead) for each in original.mentions]
        replace_proof(draft, memory, mentions, [shown(each, instead) for each in original.claims])
    for relation, ends in list(draft.merging.ends.result.items()):
        if key in ends:
            draft.merging.ends.set(relation, (instead(ends[0]), instead(ends[1])))


def forget_merged(draft: Draft, entities: Collection[UUID]) -> list[UUID]:
    """Drop the records of those merged entities that nothing mentions any more; return these entities."""
    gone: list[UUID] = []
    waiting = {key for key in entities if key in draft.merging.into}
    if not waiting:
        return gone
    mentioned = {
        end
        for each in draft.merging.originals.result.values()
        for end in (
            *(mention.entity_id for mention in each.mentions),
            *(end for claim in each.claims for end in (claim.source_id, claim.target_id)),
        )
    }
    related = {end for each in draft.relations.items.result.values() for end in (each.source_id, each.target_id)} | {
        end for ends in draft.merging.ends.result.values() for end in ends
    }
    while waiting:
        key = waiting.pop()
        above = draft.merging.into.get(key)
        if above is None or key in mentioned | related or draft.merging.absorbed.get(key):
            continue
        drop_record_of(draft, key)
        gone.append(key)
        waiting.add(above)
    return sorted(gone)


def drop_record_of(draft: Draft, key: UUID) -> None:
    """Remove an entity from the merges, with all records that name it."""
    if key in draft.merging.into:
        draft.naming.touched.add(draft.merging.into[key])
        draft.merging.part(key)
    for record in list(draft.merging.records.result.values()):
        if key in (record.merge.source_id, record.merge.target_id):
            draft.merging.records.pop(record.merge.id)
