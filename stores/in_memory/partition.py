"""Communities in memory, and the edges that they are found in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Edges
from graphsearch.model import Community, ElementKind, View, validation
from graphsearch.stores.curation import NAMED, refuse_communities
from graphsearch.stores.in_memory.draft import Draft
from graphsearch.stores.in_memory.index import Rows
from graphsearch.stores.in_memory.reading import adjacency, table, visibility
from graphsearch.stores.in_memory.state import State
from graphsearch.stores.in_memory.walk import Adjacency


def edges(state: State, after: UUID | None, limit: int, view: View) -> Edges:
    """The next relations in order of id that are in view."""
    validation.refuse("page", validation.number("limit", limit, 0))
    relations = table(state, ElementKind.RELATION)
    start = 0 if after is None else bisect_right(relations.ids, after)
    rows = np.arange(start, len(relations.ids))
    seen = visibility(state, ElementKind.RELATION)
    passed = seen.filter(view)
    rows = (rows if passed is None else rows[passed(rows)])[:limit]
    sources, targets = state.derive(_ends, adjacency(state))
    return Edges(relations=rows, sources=sources[rows], targets=targets[rows], weights=seen.confidence[rows])


def _ends(edges: Adjacency) -> tuple[Rows, Rows]:
    """The entities at either end of each relation, by its row."""
    slots = np.repeat(np.arange(len(edges.pointers) - 1), np.diff(edges.pointers))
    leaving = slots % 2 == 0
    relations = edges.relations[leaving]
    sources, targets = np.empty(len(relations), np.int64), np.empty(len(relations), np.int64)
    sources[relations] = slots[leaving] // 2
    targets[relations] = edges.far[leaving]
    return sources, targets


def write_communities(state: State, communities: Sequence[Community], replacing: Collection[UUID] | None) -> State:
    """With these communities in the place of others."""
    draft = Draft(state)
    replaced = state.communities.keys() if replacing is None else {*replacing, *(each.id for each in communities)}
    for key in sorted(replaced):
        draft.drop_community(key)
    refuse_communities(communities, draft.community_of.result.keys())
    for each in communities:
        gone = {member for member in each.members if member not in state.entities.items}
        if kept := each.without(gone):
            draft.put_community(attrs.evolve(kept, label=""))
    return draft.result


def communities(state: State, entity_ids: Collection[UUID] | None, limit: int | None) -> list[Community]:
    """Communities as they are by now, the largest first."""
    validation.refuse("page", None if limit is None else validation.number("limit", limit, 0))
    shown = (_shown(state, state.communities[key]) for key in _keys(state, entity_ids))
    found = sorted((each for each in shown if each), key=lambda community: (-community.size, community.id))
    return found[:limit]


def _keys(state: State, entity_ids: Collection[UUID] | None) -> Collection[UUID]:
    """Those that any of the entities is in."""
    if entity_ids is None:
        return state.communities.keys()
    entities = (entity for key in entity_ids if (entity := state.entities.items.get(key)))
    found = (state.community_of.get(entity.id) for entity in entities if entity.merged_into is None)
    return {key for key in found if key}


def _shown(state: State, community: Community) -> Community | None:
    """A community without the members that were merged away, labelled by the names of today."""
    entities = state.entities.items
    kept = community.without({key for key in community.members if entities[key].merged_into is not None})
    return kept and attrs.evolve(kept, label=", ".join(entities[key].name for key in kept.top[:NAMED]))
