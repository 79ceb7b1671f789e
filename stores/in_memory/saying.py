"""What mentions call entities, in memory, and which memories do."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from uuid import UUID

from graphsearch.claims.naming import folded_name, refuse_limit
from graphsearch.model import Saying
from graphsearch.stores.in_memory.state import State


def sayings(state: State, entity_ids: Sequence[UUID], names: Sequence[str] | None, limit: int) -> list[Saying]:
    """Each surface of some entities with the first of the memories that have it, by (entity, surface)."""
    refuse_limit(limit)
    wanted = None if names is None else set(map(folded_name, names))
    found: dict[tuple[UUID, str], set[str]] = {}
    for entity in set(entity_ids):
        for memory in state.mentioned.get(entity, ()):
            for mention in state.mentions[memory]:
                if mention.entity_id == entity:
                    found.setdefault((entity, mention.surface), set()).add(memory)
    return [
        Saying(entity_id=entity, surface=surface, memory_ids=nsmallest(limit, memories))
        for (entity, surface), memories in sorted(found.items())
        if wanted is None or folded_name(surface) in wanted
    ]
