"""Making one entity of two, and two again, in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

import attrs

from graphsearch.claims.folding import group_of
from graphsearch.model import Claim, ElementKind, Group, Merge, Relation, UndoReport
from graphsearch.stores.in_memory.draft import Draft
from graphsearch.stores.in_memory.naming import call_again
from graphsearch.stores.in_memory.proof import put_relation, refold, replace_proof, retract, sign_beside
from graphsearch.stores.in_memory.state import State
from graphsearch.stores.merging import Record, merge_id, refuse_merge, refuse_undo, shown


def merge_entities(state: State, source_id: UUID, target_id: UUID, now: datetime) -> tuple[State, Merge]:
    """With one entity in the place of two."""
    entities = state.entities.items
    refuse_merge(source_id, target_id, entities.get(source_id), entities.get(target_id))
    draft = Draft(state)
    mentioning = state.mentioned.get(source_id, frozenset())
    moved = sum(each.entity_id == source_id for key in mentioning for each in state.mentions[key])
    speaking = [key for key, claims in state.claims.items() if any(source_id in _ends(each) for each in claims)]
    claims = sum(source_id in _ends(each) for key in speaking for each in state.claims[key])
    live = sum(each.retracted_at is None and source_id in _ends(each) for each in state.relations.items.values())
    draft.merging.join(source_id, target_id)
    draft.entities.put(attrs.evolve(entities[source_id], merged_into=target_id))
    groups = _show_again(draft, {*speaking, *mentioning})
    kept, lost = refold(draft, groups, now)
    for key in kept:
        old = state.relations.items.get(key)
        if old is not None and old.retracted_at is not None:
            draft.merging.revived.set(key, old.retracted_at)
    for key in sorted(lost):
        retract(draft, key, now)
    for relation in list(draft.relations.items.result.values()):
        if relation.retracted_at is None and source_id in _ends(relation):
            _move(draft, relation, now)
    draft.naming.touched.add(source_id)
    call_again(draft)
    sign_beside(draft, now)
    draft.merging.count += 1
    number = draft.merging.count
    made = Merge(
        id=merge_id(source_id, target_id, number),
        source_id=source_id,
        target_id=target_id,
        created_at=now,
        mentions=moved,
        claims=claims,
        relations=live,
    )
    _hold(draft, target_id, moved + claims)
    draft.merging.records.set(made.id, Record(made, number, moved + claims))
    return draft.result, made


def undo_merge(state: State, key: UUID, now: datetime) -> tuple[State, UndoReport]:
    """With two entities again in the place of one."""
    record = refuse_undo(key, state.merging.records.get(key))
    made, draft = record.merge, Draft(state)
    source, tree = made.source_id, set(draft.merging.tree(made.source_id))
    target = draft.merging.into[source]
    draft.merging.part(source)
    draft.entities.put(attrs.evolve(state.entities.items[source], merged_into=None))
    said = [memory for memory in state.merging.said if not tree.isdisjoint(_spoken_of(draft, memory))]
    groups = _show_again(draft, said)
    kept, lost = refold(draft, groups, now)
    for relation in kept:
        draft.merging.revived.pop(relation)
    for relation in sorted(lost):
        _unmake(draft, relation, now)
    for relation, ends in list(draft.merging.ends.result.items()):
        if not tree.isdisjoint(ends):
            _move(draft, draft.relations.items[relation], now)
    draft.naming.touched |= {source, target}
    reworded = call_again(draft)
    sign_beside(draft, now)
    mentions = sum(
        each.entity_id == source for memory in draft.mentioned.get(source) for each in draft.mentions[memory]
    )
    claims = sum(source in _ends(each) for memory in said for each in draft.claims.get(memory) or ())
    _hold(draft, target, -record.held)
    undone = attrs.evolve(record, merge=attrs.evolve(made, undone_at=now))
    draft.merging.records.set(key, undone)
    live = sum(each.retracted_at is None and source in _ends(each) for each in draft.relations.items.result.values())
    return draft.result, UndoReport(
        mentions=mentions,
        claims=claims,
        relations=live,
        stayed=_written_since(draft, draft.merging.root(target), source, record.number),
        forgotten=max(0, record.held - mentions - claims),
        reworded=reworded,
    )


def merges(state: State, entity_ids: Collection[UUID]) -> list[Merge]:
    """Merges of any of the entities, or all, in the order they were made."""
    wanted = set(entity_ids)
    records = sorted(state.merging.records.values(), key=lambda record: record.number)
    return [
        record.merge
        for record in records
        if not wanted or not wanted.isdisjoint((record.merge.source_id, record.merge.target_id))
    ]


# -- the steps ----------------------------------------------------------------------------------------------------


def _ends(edge: Relation | Claim) -> tuple[UUID, UUID]:
    return (edge.source_id, edge.target_id)


def _spoken_of(draft: Draft, memory: str) -> set[UUID]:
    mentions, claims = draft.merging.said_mentions(draft, memory), draft.merging.said_claims(draft, memory)
    return {each.entity_id for each in mentions} | {end for each in claims for end in _ends(each)}


def said_of(draft: Draft, memory: str) -> set[UUID]:
    """The entities, merged away since, that a memory speaks of."""
    return _spoken_of(draft, memory) if memory in draft.merging.said else set()


def _show_again(draft: Draft, memories: Iterable[str]) -> set[Group]:
    """Show of memories what they mean by now; the groups that are to be folded again."""
    groups = set[Group]()
    for memory in sorted(memories):
        mentions, claims = draft.merging.said_mentions(draft, memory), draft.merging.said_claims(draft, memory)
        before = draft.claims.get(memory) or ()
        replace_proof(draft, memory, mentions, claims)
        for old, new in zip(before, draft.claims.get(memory) or (), strict=True):
            if old != new:
                groups |= {group_of(old, draft.types), group_of(new, draft.types)}
    return groups


def _move(draft: Draft, relation: Relation, now: datetime) -> None:
    """Let a relation that was given lead between the entities that are meant by now."""
    merging = draft.merging
    given = merging.ends.get(relation.id) or _ends(relation)
    original = attrs.evolve(relation, source_id=given[0], target_id=given[1])
    shown = merging.shown(original)
    turned = relation.source_id == relation.target_id and given[0] != given[1]
    retracted_at = None if turned else relation.retracted_at
    if merging.collapses(original):
        retracted_at = relation.retracted_at or now
    put_relation(draft, attrs.evolve(shown, retracted_at=retracted_at), now)
    if _ends(shown) == given:
        merging.ends.pop(relation.id)
    else:
        merging.ends.set(relation.id, given)


def _unmake(draft: Draft, key: UUID, now: datetime) -> None:
    """Let go of a relation that only a merge gave."""
    relation, retracted_at = draft.relations.items[key], draft.merging.revived.get(key)
    if retracted_at is not None:
        draft.merging.revived.pop(key)
        put_relation(draft, attrs.evolve(relation, retracted_at=retracted_at), now)
        return
    for memory in relation.evidence:
        draft.proved.discard(memory, key)
    draft.drop(ElementKind.RELATION, key)


def _hold(draft: Draft, key: UUID, number: int) -> None:
    """Count mentions and claims to the merges of an entity, and of all that it was merged into."""
    above = {record.merge.source_id: record for record in draft.merging.records.result.values() if _stands(record)}
    at: UUID | None = key
    while at is not None and (record := above.get(at)):
        draft.merging.records.set(record.merge.id, attrs.evolve(record, held=record.held + number))
        at = draft.merging.into.get(at)


def _stands(record: Record) -> bool:
    return record.merge.undone_at is None


def _written_since(draft: Draft, key: UUID, source: UUID, number: int) -> int:
    """How many mentions and claims of an entity, and not of a source, are of memories written since a merge."""
    since = [memory for memory, seen in draft.merging.proved.result.items() if seen >= number]
    mentions = sum(each.entity_id == key for memory in since for each in draft.mentions.get(memory) or ())
    claims = [_ends(each) for memory in since for each in draft.claims.get(memory) or ()]
    return mentions + sum(key in ends and source not in ends for ends in claims)


# -- what is written and deleted meanwhile ------------------------------------------------------------------------


def give_relation(draft: Draft, relation: Relation, now: datetime) -> Relation:
    """A relation that is given, between the entities that are meant by now.

    One that moved with a merge, and is given as it was, moves back when that is undone; so does one that would lead
    from an entity to itself.
    """
    shown = draft.merging.shown(relation)
    if draft.merging.collapses(relation):
        draft.merging.ends.set(relation.id, _ends(relation))
        return attrs.evolve(shown, retracted_at=relation.retracted_at or now)
    if draft.merging.ends.get(relation.id) != _ends(relation):
        draft.merging.ends.pop(relation.id)
    return shown


def give_up(draft: Draft, key: UUID) -> None:
    """Leave to the entity that another was merged into all that was said of the other, for good."""
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
    for memory in list(draft.merging.said.result):
        said = draft.merging.said[memory]
        mentions = [shown(each, instead) for each in said.mentions]
        replace_proof(draft, memory, mentions, [shown(each, instead) for each in said.claims])
    for relation, ends in list(draft.merging.ends.result.items()):
        if key in ends:
            draft.merging.ends.set(relation, (instead(ends[0]), instead(ends[1])))
