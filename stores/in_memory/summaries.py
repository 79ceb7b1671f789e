"""Summaries of communities in memory: dropped with the change of anything that they may be made of."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import attrs

from graphsearch.model import Memory, Relation
from graphsearch.stores.in_memory.merging import ends_of
from graphsearch.stores.in_memory.state import Draft


def drop_outdated(draft: Draft) -> None:
    """Drop the summaries of communities a member of which, or what was known of it, the draft removes or rewrites."""
    if not draft.communities.result:
        return
    changed = {*_entities(draft), *_ends(draft), *_mentioned(draft)}
    for key in {key for member in changed if (key := draft.community_of.get(member))}:
        if (community := draft.communities[key]).summary is not None:
            draft.communities.set(key, attrs.evolve(community, summary=None))


def _entities(draft: Draft) -> Iterator[UUID]:
    """The entities that are gone or have another name, or are merged or separated, and those they were merged into."""
    for key, old in draft.entities.earlier.items():
        new = draft.entities.items.get(key)
        if new is None or (old.name, old.merged_into) != (new.name, new.merged_into):
            into = None if new is None else new.merged_into
            yield from (each for each in (key, old.merged_into, into) if each is not None)


def _ends(draft: Draft) -> Iterator[UUID]:
    """The ends of relations that are gone, retracted or reworded, or have lost evidence."""
    for key, old in draft.relations.earlier.items():
        new = draft.relations.items.get(key)
        if new is None or (old.retracted_at is None and _is_reworded(old, new)):
            yield from ends_of(old)


def _is_reworded(old: Relation, new: Relation) -> bool:
    lost = new.retracted_at is not None or not set(old.evidence) <= set(new.evidence)
    return lost or _stated(old) != _stated(new)


def _stated(relation: Relation) -> tuple[object, ...]:
    return ends_of(relation), relation.type, relation.valid_from, relation.valid_to, relation.fact


def _mentioned(draft: Draft) -> Iterator[UUID]:
    """The entities about which memories that are gone or rewritten stated anything."""
    state = draft.before
    for key, old in draft.memories.earlier.items():
        new = draft.memories.items.get(key)
        if new is None or _worded(old) != _worded(new):
            yield from (each.entity_id for each in state.mentions.get(key, ()))
            for claim in state.claims.get(key, ()):
                yield from ends_of(claim)
            for relation in state.proved.get(key, ()):
                yield from ends_of(state.relations.items[relation])


def _worded(memory: Memory) -> tuple[object, ...]:
    return memory.text, memory.subject, memory.speaker, memory.occurred_at
