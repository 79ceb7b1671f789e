"""Steps in memory from elements to their neighbours, gathered from flat arrays without a loop over entities."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Codes, Edges, Expansion, FarEnds, Floats, Hits, Keys, Mask, Mentioned, Turns
from graphsearch.columns.key_index import distinct
from graphsearch.model import ElementKind, View, validation
from graphsearch.model.signatures import Signature, SignatureTable
from graphsearch.protocols import Walking
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.in_memory.state import State
from graphsearch.stores.in_memory.steps import Adjacency, Mentions, Sessions, Support, adjacency, degrees
from graphsearch.stores.in_memory.tables import (
    Rows,
    Table,
    Visibility,
    feedback_column,
    hits,
    importances,
    table,
    visibility,
)

COUNTED: Final = 1_000
"""Relations per entity and direction that `left_out` counts at most."""


@attrs.frozen(eq=False)
class Ground:
    """The arrays behind steps over relations."""

    relations: Table
    entities_seen: Visibility
    relations_seen: Visibility
    edges: Adjacency
    support: Support
    ends: FarEnds
    """All entities."""
    feedback: Floats

    @classmethod
    def of(cls, state: State) -> Ground:
        """All of it, for one state."""
        entities, relations = table(state, ElementKind.ENTITY), table(state, ElementKind.RELATION)
        return cls(
            relations=relations,
            entities_seen=visibility(state, ElementKind.ENTITY),
            relations_seen=visibility(state, ElementKind.RELATION),
            edges=adjacency(state),
            support=state.derive(Support.build, relations, state.memories.items),
            ends=FarEnds(
                keys=np.arange(len(entities.ids)),
                signatures=entities.codes,
                importance=state.derive(importances, entities),
            ),
            feedback=state.derive(feedback_column, relations, state.relations.weights),
        )

    def steps(
        self,
        relations: Rows,
        far: Rows,
        view: View,
        *,
        starts: Keys,
        start: Rows,
        outgoing: Mask,
        located: Hits | None = None,
    ) -> Expansion:
        """Relations as steps to the entities at their far ends."""
        holds = self.entities_seen.seen(view)
        return Expansion(
            starts=starts,
            start=start,
            ends=self.ends,
            end=far,
            outgoing=outgoing,
            relations=relations,
            confidence=self.relations_seen.confidence.take(relations),
            since=self.support.since(relations, view.as_of.timestamp()),
            feedback=self.feedback.take(relations),
            signatures=self.relations.codes.take(relations),
            far_holds=None if holds is None else holds.take(far),
            located=located,
        )


def _mentions(state: State) -> Mentions:
    memories, entities = table(state, ElementKind.MEMORY), table(state, ElementKind.ENTITY)
    return state.derive(Mentions.build, memories, entities, state.mentions)


class InMemoryWalking(InMemoryScope, Walking):
    """Steps over arrays that the state caches while their inputs are unchanged."""

    async def expand(self, keys: Keys, *, fan_out: int, view: View, ahead: int = 0) -> Expansion:  # noqa: ARG002
        ground = await self._once(Ground.of)
        places, side = ground.edges.strongest(keys, fan_out, ground.relations_seen.seen(view))
        found, far = ground.edges.relations.take(places), ground.edges.far.take(places)
        return ground.steps(found, far, view, starts=keys, start=side >> 1, outgoing=(side & 1) == 0)

    async def related(self, keys: Keys, *, view: View) -> Expansion:
        ground, found = await self._once(Ground.of), np.asarray(keys, np.int64)
        source, target = ground.edges.source.take(found), ground.edges.target.take(found)
        return ground.steps(
            found,
            target,
            view,
            starts=ground.ends.keys,
            start=source,
            outgoing=np.ones(len(found), np.bool_),
            located=hits(self._state, ElementKind.ENTITY, ground.entities_seen.among(view, distinct(source)[0])),
        )

    async def edges(self, *, after: UUID | None = None, limit: int = 100_000, view: View) -> Edges:
        state = self._state
        validation.refuse("page", validation.number("limit", limit, 0))
        both = await self._once(adjacency)
        ids = table(state, ElementKind.RELATION).ids
        rows = np.arange(0 if after is None else bisect_right(ids, after), len(ids))
        seen = visibility(state, ElementKind.RELATION)
        rows = seen.among(view, rows)[:limit]
        return Edges(
            relations=rows, sources=both.source[rows], targets=both.target[rows], weights=seen.confidence[rows]
        )

    async def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        state, near = self._state, np.asarray(keys, np.int64)
        side = (await self._once(_mentions)).sides[kind]
        other = ElementKind.ENTITY if kind is ElementKind.MEMORY else ElementKind.MEMORY
        begin = side.pointers.take(near)
        counts = side.pointers.take(near + 1) - begin
        counts[counts > limit] = 0
        places = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        far = side.far.take(places)
        found = Mentioned(
            near=np.repeat(near, counts),
            far=far,
            times=side.times.take(places),
            about=side.about.take(places),
            far_signatures=table(state, other).codes.take(far),
        )
        seen = visibility(state, other).seen(view)
        return found if seen is None else found.keep(seen.take(far))

    async def turns(self, keys: Keys, *, view: View) -> Turns:
        state, near = self._state, np.asarray(keys, np.int64)
        memories = table(state, ElementKind.MEMORY)
        sessions = state.derive(Sessions.build, memories, state.memories.items)
        far = np.stack((sessions.before.take(near), sessions.after.take(near)), axis=1).ravel()
        there = far >= 0
        far, later = far[there], np.tile([False, True], len(near))[there]
        found = Turns(near=np.repeat(near, 2)[there], far=far, later=later, far_signatures=memories.codes[far])
        seen = visibility(state, ElementKind.MEMORY).seen(view)
        return found if seen is None else found.keep(seen.take(far))

    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        ground = await self._once(Ground.of)
        if ground.relations_seen.seen(view) is None:
            return {}
        places, _ = ground.edges.strongest(keys, COUNTED, None)
        return ground.relations_seen.left_out(view, np.unique(ground.edges.relations[places]))

    async def degrees(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        state = self._state
        rows, degree = table(state, ElementKind.ENTITY), degrees(state)
        return {key: int(degree[rows.row_of[key]]) for key in ids if key in rows.row_of}

    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        known = self._state.signatures
        return {code: signature for code in codes if (signature := known.get(code))}

    async def shared_signatures(self) -> Codes:
        return np.flatnonzero(self.signature_table().shared)

    async def signed(self, codes: Sequence[int], *, limit: int) -> Keys:
        validation.refuse("page", validation.number("limit", limit, 0))
        rows = table(self._state, ElementKind.RELATION)
        found = np.flatnonzero(np.isin(rows.codes, codes)).tolist()
        return np.array([row for row in found if rows.items[row].retracted_at is None][:limit], np.int64)

    async def every_signature(self) -> Codes:
        return np.array(sorted(self._state.signatures), np.int64)

    def signature_table(self) -> SignatureTable:
        state = self._state
        return state.derive(SignatureTable.by_code, state.signatures, state.types)
