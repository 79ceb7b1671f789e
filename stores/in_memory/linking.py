"""Links that somebody made, in memory: between memories that belong together, and entities that are no duplicates.

Each stands at both of its ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from uuid import UUID

import attrs

from graphsearch.model import Contradiction, MemoryLink, validation
from graphsearch.stores.curation import Pair, contradicting, ordered, refuse_absent, refuse_pairs
from graphsearch.stores.in_memory.draft import Draft
from graphsearch.stores.in_memory.state import State


def link_memories(state: State, links: Iterable[MemoryLink], now: datetime) -> tuple[State, int]:
    """With these links; how many are new."""
    given = list(dict.fromkeys(links))
    refuse_absent({end for link in given for end in (link.from_id, link.to_id)} - state.memories.items.keys())
    draft = Draft(state)
    fresh = [link for link in given if link not in state.links.get(link.from_id, ())]
    for link in fresh:
        dated = link if link.created_at else attrs.evolve(link, created_at=now)
        draft.links.add(link.from_id, dated)
        draft.links.add(link.to_id, dated)
    return draft.result, len(fresh)


def memory_links(state: State, memory_ids: Iterable[str]) -> list[MemoryLink]:
    """Links from and to any of the memories."""
    found = {link for key in memory_ids for link in state.links.get(key, ())}
    return sorted(found, key=lambda link: (link.from_id, link.to_id, link.type))


def mark_distinct(state: State, pairs: Sequence[Pair], *, distinct: bool) -> tuple[State, int]:
    """With pairs of entities marked, or not marked any more; of how many that is news."""
    refuse_pairs(pairs, {end for pair in pairs for end in pair} - state.entities.items.keys())
    draft = Draft(state)
    news = [pair for pair in ordered(pairs) if (pair[1] in state.distinct.get(pair[0], ())) is not distinct]
    change = draft.distinct.add if distinct else draft.distinct.discard
    for one, other in news:
        change(one, other)
        change(other, one)
    return draft.result, len(news)


def distinct_pairs(state: State, entity_ids: Iterable[UUID]) -> list[Pair]:
    """Pairs marked with any of the entities."""
    return ordered((key, other) for key in entity_ids for other in state.distinct.get(key, ()))


def contradictions(state: State, limit: int) -> list[Contradiction]:
    """Pairs of relations that cannot both hold."""
    validation.refuse("page", validation.number("limit", limit, 0))
    functional = {name for name, known in state.types.items() if known.functional}
    told = (
        state.relations.get(key) or relation  # with what was learnt of it
        for key, relation in state.relations.items.items()
        if relation.type in functional
    )
    return list(islice(contradicting(told), limit))
