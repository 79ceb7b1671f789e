"""Merges, links, duplicates and communities in memory."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from datetime import datetime
from uuid import UUID

import attrs

from graphsearch._support.concurrency import in_slices
from graphsearch.claims.folding import group_of
from graphsearch.model import (
    Community,
    CommunitySummary,
    ElementKind,
    Group,
    MemoryLink,
    Merge,
    Relation,
    UndoReport,
    validation,
)
from graphsearch.model.reports import refuse_merge
from graphsearch.protocols import Curating
from graphsearch.stores.in_memory.base import InMemoryScope, version_of
from graphsearch.stores.in_memory.folding import (
    put_relation,
    refold,
    rename_entities,
    replace_proof,
    retract,
    sign_folded_again,
)
from graphsearch.stores.in_memory.merging import ends_of
from graphsearch.stores.in_memory.removing import drop_references, drop_unnamed
from graphsearch.stores.in_memory.state import Draft, State
from graphsearch.stores.shared.answers import (
    Pair,
    ordered,
    refuse_absent,
    refuse_communities,
    refuse_pairs,
)
from graphsearch.stores.shared.merging import Record, merge_id, redirected, refuse_undo


class InMemoryCurating(InMemoryScope, Curating):
    """Curation decisions kept in the state; links and marks are stored at both of their ends."""

    async def merge(self, source_id: UUID, target_id: UUID, *, dry_run: bool = False, retype: bool = False) -> Merge:
        now = self._clock.now()
        async with self._draft(keep=not dry_run) as draft:
            state, entities = draft.before, draft.before.entities.items
            refuse_merge(source_id, target_id, entities.get(source_id), entities.get(target_id), retype=retype)
            mentioning = state.mentioned.get(source_id, frozenset())
            moved = sum(each.entity_id == source_id for key in mentioning for each in state.mentions[key])
            speaking = [
                key for key, claims in state.claims.items() if any(source_id in ends_of(each) for each in claims)
            ]
            claims = sum(source_id in ends_of(each) for key in speaking for each in state.claims[key])
            live = sum(
                each.retracted_at is None and source_id in ends_of(each) for each in state.relations.items.values()
            )
            draft.merging.join(source_id, target_id)
            draft.entities.put(attrs.evolve(entities[source_id], merged_into=target_id))
            groups = _show_again(draft, {*speaking, *mentioning})
            kept, lost = await in_slices(refold(draft, groups, now))
            for key in kept:
                old = state.relations.items.get(key)
                if old is not None and old.retracted_at is not None:
                    draft.merging.revived.set(key, old.retracted_at)
            for key in sorted(lost):
                retract(draft, key, now)
            for relation in list(draft.relations.items.result.values()):
                if relation.retracted_at is None and source_id in ends_of(relation):
                    _move(draft, relation, now)
            draft.naming.touched.add(source_id)
            await in_slices(rename_entities(draft))
            await in_slices(sign_folded_again(draft, now))
            draft.merging.count += 1
            number = draft.merging.count
            made = Merge(
                id=merge_id(source_id, target_id, (each.merge for each in state.merging.records.values())),
                source_id=source_id,
                target_id=target_id,
                created_at=now,
                mentions=moved,
                claims=claims,
                relations=live,
            )
            _count_held(draft, target_id, moved + claims)
            draft.merging.records.set(made.id, Record(made, number, moved + claims))
            return made

    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        now = self._clock.now()
        async with self._draft() as draft:
            state = draft.before
            record = refuse_undo(merge_id, state.merging.records.get(merge_id))
            made = record.merge
            source, tree = made.source_id, set(draft.merging.tree(made.source_id))
            target = draft.merging.into[source]
            draft.merging.part(source)
            draft.entities.put(attrs.evolve(state.entities.items[source], merged_into=None))
            moved_memories = [
                memory for memory, original in state.merging.originals.items() if not tree.isdisjoint(original.entities)
            ]
            groups = _show_again(draft, moved_memories)
            kept, lost = await in_slices(refold(draft, groups, now))
            for relation in kept:
                draft.merging.revived.pop(relation)
            for relation in sorted(lost):
                _unmake(draft, relation, now)
            for relation, ends in list(draft.merging.ends.result.items()):
                if not tree.isdisjoint(ends):
                    _move(draft, draft.relations.items[relation], now)
            draft.naming.touched |= {source, target}
            _lose_names(draft, tree, target)
            drop_unnamed(draft, target)
            drop_references(draft)
            reworded = await in_slices(rename_entities(draft))
            await in_slices(sign_folded_again(draft, now))
            mentions = sum(
                each.entity_id == source for memory in draft.mentioned.get(source) for each in draft.mentions[memory]
            )
            claims = sum(
                source in ends_of(each) for memory in moved_memories for each in draft.claims.get(memory) or ()
            )
            _count_held(draft, target, -record.held)
            undone = attrs.evolve(record, merge=attrs.evolve(made, undone_at=now))
            draft.merging.records.set(merge_id, undone)
            relations = draft.relations.items.result.values()
            return UndoReport(
                mentions=mentions,
                claims=claims,
                relations=sum(each.retracted_at is None and source in ends_of(each) for each in relations),
                stayed=_written_since(draft, draft.merging.root(target), source, record.number),
                forgotten=max(0, record.held - mentions - claims),
                reworded=reworded,
            )

    async def merges(self, entity_ids: Sequence[UUID] = ()) -> Sequence[Merge]:
        wanted = set(entity_ids)
        records = sorted(self._state.merging.records.values(), key=lambda record: record.number)
        return [
            record.merge
            for record in records
            if not wanted or not wanted.isdisjoint((record.merge.source_id, record.merge.target_id))
        ]

    async def link_memories(self, links: Sequence[MemoryLink]) -> int:
        now, given = self._clock.now(), list(dict.fromkeys(links))
        async with self._draft() as draft:
            state = draft.before
            refuse_absent({end for link in given for end in (link.from_id, link.to_id)} - state.memories.items.keys())
            fresh = [link for link in given if link not in state.links.get(link.from_id, ())]
            for link in fresh:
                dated = link if link.created_at else attrs.evolve(link, created_at=now)
                draft.links.add(link.from_id, dated)
                draft.links.add(link.to_id, dated)
            return len(fresh)

    async def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        links = self._state.links
        found = {link for key in memory_ids for link in links.get(key, ())}
        return sorted(found, key=lambda link: (link.from_id, link.to_id, link.type))

    async def mark_distinct(self, pairs: Sequence[tuple[UUID, UUID]], *, distinct: bool = True) -> int:
        async with self._draft() as draft:
            state = draft.before
            refuse_pairs(pairs, {end for pair in pairs for end in pair} - state.entities.items.keys())
            news = [pair for pair in ordered(pairs) if (pair[1] in state.distinct.get(pair[0], ())) is not distinct]
            change = draft.distinct.add if distinct else draft.distinct.discard
            for one, other in news:
                change(one, other)
                change(other, one)
            return len(news)

    async def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[Pair]:
        distinct = self._state.distinct
        return ordered((key, other) for key in entity_ids for other in distinct.get(key, ()))

    async def write_communities(
        self, communities: Sequence[Community], *, replacing: Sequence[UUID] | None = None
    ) -> None:
        async with self._draft() as draft:
            state = draft.before
            summaries = {each.id: _kept_summary(state, each) for each in communities}
            own = {each.id for each in communities} | _lapsed(state, communities)
            for key in sorted(state.communities.keys() if replacing is None else {*replacing, *own}):
                draft.drop_community(key)
            refuse_communities(communities, draft.community_of.result.keys())
            for each in communities:
                gone = {member for member in each.members if member not in state.entities.items}
                if kept := each.without(gone):
                    draft.put_community(attrs.evolve(kept, label="", summary=summaries[each.id]))

    async def write_summary(self, community: Community, *, version: Hashable) -> bool:
        async with self._draft() as draft:
            state, stored = draft.before, draft.communities.get(community.id)
            now = stored and _shown(state, stored)
            if stored is None or now is None or now.members != community.members or version != version_of(state):
                return False
            draft.communities.set(stored.id, attrs.evolve(stored, summary=community.summary))
            return True

    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> Sequence[Community]:
        state = self._state
        validation.refuse("page", None if limit is None else validation.number("limit", limit, 0))
        shown = (_shown(state, state.communities[key]) for key in _communities_of(state, entity_ids))
        found = sorted((each for each in shown if each), key=lambda community: (-community.size, community.id))
        return found[:limit]


def _show_again(draft: Draft, memories: Iterable[str]) -> set[Group]:
    """Project mentions and claims of memories onto the merged entities; return the groups to fold again."""
    groups = set[Group]()
    for memory in sorted(memories):
        original, before = draft.original(memory), draft.claims.get(memory) or ()
        replace_proof(draft, memory, original.mentions, original.claims)
        for old, new in zip(before, draft.claims.get(memory) or (), strict=True):
            if old != new:
                groups |= {group_of(old, draft.types), group_of(new, draft.types)}
    return groups


def _move(draft: Draft, relation: Relation, now: datetime) -> None:
    """Redirect an asserted relation to the entities that its ends were merged into."""
    merging = draft.merging
    given = merging.ends.get(relation.id) or ends_of(relation)
    moved = redirected(relation, given, merging.root, now)
    put_relation(draft, moved, now)
    if ends_of(moved) == given:
        merging.ends.pop(relation.id)
    else:
        merging.ends.set(relation.id, given)


def _unmake(draft: Draft, key: UUID, now: datetime) -> None:
    """Remove a relation that only a merge made, or retract again one that a merge revived."""
    relation, retracted_at = draft.relations.items[key], draft.merging.revived.get(key)
    if retracted_at is not None:
        draft.merging.revived.pop(key)
        put_relation(draft, attrs.evolve(relation, retracted_at=retracted_at), now)
        return
    for memory in relation.evidence:
        draft.proved.discard(memory, key)
    draft.drop(ElementKind.RELATION, key)


def _count_held(draft: Draft, key: UUID, number: int) -> None:
    """Add to the counts of mentions and claims of an entity's merge, and of the merges above it."""
    above = {
        record.merge.source_id: record
        for record in draft.merging.records.result.values()
        if record.merge.undone_at is None
    }
    at: UUID | None = key
    while at is not None and (record := above.get(at)):
        draft.merging.records.set(record.merge.id, attrs.evolve(record, held=record.held + number))
        at = draft.merging.into.get(at)


def _lose_names(draft: Draft, tree: Iterable[UUID], target: UUID) -> None:
    """Let a target that took its name from the separated entities, and what it was merged into, take another."""
    surfaces = {surface for each in tree for surface, _ in draft.naming.forms.get(each) or {}}
    shown = {draft.entities.items[key].name for key in draft.merging.above([target])}
    draft.naming.lost_surfaces.setdefault(target, set()).update(surfaces & shown)


def _written_since(draft: Draft, key: UUID, source: UUID, number: int) -> int:
    """Count the mentions and claims of an entity, not of a source, in memories written since a merge."""
    since = [memory for memory, seen in draft.merging.proved.result.items() if seen >= number]
    mentions = sum(each.entity_id == key for memory in since for each in draft.mentions.get(memory) or ())
    claims = [ends_of(each) for memory in since for each in draft.claims.get(memory) or ()]
    return mentions + sum(key in ends and source not in ends for ends in claims)


def _communities_of(state: State, entity_ids: Collection[UUID] | None) -> Collection[UUID]:
    """The ids of the communities that contain any of the entities."""
    if entity_ids is None:
        return state.communities.keys()
    entities = (entity for key in entity_ids if (entity := state.entities.items.get(key)))
    found = (state.community_of.get(entity.id) for entity in entities if entity.merged_into is None)
    return {key for key in found if key}


def _lapsed(state: State, communities: Iterable[Community]) -> set[UUID]:
    """The stored communities that have members of these, but fewer than two that are not merged."""
    found = {state.community_of.get(member) for each in communities for member in each.members}
    return {key for key in found if key is not None and _shown(state, state.communities[key]) is None}


def _kept_summary(state: State, community: Community) -> CommunitySummary | None:
    """The stored summary of a community, if every member that it has stays."""
    stored = state.communities.get(community.id)
    now = stored and _shown(state, stored)
    return now.summary if now and set(now.members) <= set(community.members) else None


def _shown(state: State, community: Community) -> Community | None:
    """A community without merged members, labelled by the current names of entities."""
    entities = state.entities.items
    kept = community.without({key for key in community.members if entities[key].merged_into is not None})
    return kept and kept.labelled({key: entities[key].name for key in kept.named})
