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
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.in_memory.columns import (
    Rows,
    Visibility,
    column,
    feedback,
    hits,
    listing,
    signature_numbers,
    signatures,
    visibility,
)
from graphsearch.stores.in_memory.reading import once
from graphsearch.stores.in_memory.steps import Adjacency, Support, adjacency, mentions, sessions, support
from graphsearch.stores.in_memory.versions import Version, made_of

COUNTED: Final = 1_000
"""Relations per entity and direction that `left_out` counts at most."""
_ENTITY: Final = ElementKind.ENTITY
_RELATION: Final = ElementKind.RELATION


@attrs.frozen(eq=False)
class Ground:
    """The arrays behind steps over relations."""

    codes: Codes
    entities_seen: Visibility
    relations_seen: Visibility
    edges: Adjacency
    support: Support
    ends: FarEnds
    """All entities."""
    feedback: Floats

    def steps(
        self,
        version: Version,
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
            since=self.support.since(version, relations, view.as_of.timestamp()),
            feedback=self.feedback.take(relations),
            signatures=self.codes.take(relations),
            far_holds=None if holds is None else holds.take(far),
            located=located,
        )


@made_of("entity", "relation", "memory", "scope", "relation_weight", lasts=False)
def ground(version: Version) -> Ground:
    """All of it, for one version."""
    return Ground(
        codes=version.made(signature_numbers, _RELATION).values,
        entities_seen=version.made(visibility, _ENTITY),
        relations_seen=version.made(visibility, _RELATION),
        edges=version.made(adjacency),
        support=version.made(support),
        ends=FarEnds(
            keys=np.arange(len(version.made(listing, _ENTITY).ids)),
            signatures=version.made(signature_numbers, _ENTITY).values,
            importance=version.made(column, _ENTITY, "importance_weight", 0.0).values,
        ),
        feedback=version.made(feedback, _RELATION).values,
    )


class InMemoryWalking(InMemoryScope):
    """Steps over arrays that are made once a version."""

    async def expand(self, keys: Keys, *, fan_out: int, view: View, ahead: int = 0) -> Expansion:  # noqa: ARG002
        version = self._version
        flat = await once(version, ground)
        places, side = flat.edges.strongest(keys, fan_out, flat.relations_seen.seen(view))
        found, far = flat.edges.relations.take(places), flat.edges.far.take(places)
        return flat.steps(version, found, far, view, starts=keys, start=side >> 1, outgoing=(side & 1) == 0)

    async def related(self, keys: Keys, *, view: View) -> Expansion:
        version, found = self._version, np.asarray(keys, np.int64)
        flat = await once(version, ground)
        source, target = flat.edges.source.take(found), flat.edges.target.take(found)
        return flat.steps(
            version,
            found,
            target,
            view,
            starts=flat.ends.keys,
            start=source,
            outgoing=np.ones(len(found), np.bool_),
            located=hits(version, ElementKind.ENTITY, flat.entities_seen.among(view, distinct(source)[0])),
        )

    async def edges(self, *, after: UUID | None = None, limit: int = 100_000, view: View) -> Edges:
        version = self._version
        validation.refuse("page", validation.number("limit", limit, 0))
        both = await once(version, adjacency)
        ids = version.made(listing, _RELATION).ids
        rows = np.arange(0 if after is None else bisect_right(ids, after), len(ids))
        seen = version.made(visibility, _RELATION)
        rows = seen.among(view, rows)[:limit]
        return Edges(
            relations=rows, sources=both.source[rows], targets=both.target[rows], weights=seen.confidence[rows]
        )

    async def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        version, near = self._version, np.asarray(keys, np.int64)
        side = (await once(version, mentions))[kind]
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
            far_signatures=version.made(signature_numbers, other).values.take(far),
        )
        seen = version.made(visibility, other).seen(view)
        return found if seen is None else found.keep(seen.take(far))

    async def turns(self, keys: Keys, *, view: View) -> Turns:
        version, near = self._version, np.asarray(keys, np.int64)
        before, after = await once(version, sessions)
        far = np.stack((before.take(near), after.take(near)), axis=1).ravel()
        there, signed = far >= 0, version.made(signature_numbers, ElementKind.MEMORY).values
        far, later = far[there], np.tile([False, True], len(near))[there]
        found = Turns(near=np.repeat(near, 2)[there], far=far, later=later, far_signatures=signed[far])
        seen = version.made(visibility, ElementKind.MEMORY).seen(view)
        return found if seen is None else found.keep(seen.take(far))

    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        version = self._version
        flat = await once(version, ground)
        if flat.relations_seen.seen(view) is None:
            return {}
        places, _ = flat.edges.strongest(keys, COUNTED, None)
        return flat.relations_seen.left_out(view, np.unique(flat.edges.relations[places]))

    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        """The content of codes as rows have them, and of the numbers that stand for them in columns."""
        table, stored = self.signature_table(), {row.key: row.content for row in self._version.some("signature", codes)}
        numbered = {number: table.contents[number] for number in codes if 0 < number < len(table)}
        return {code: content for code, content in (numbered | stored).items() if content is not None}

    async def signature_codes(self, *, shared: bool) -> Codes:
        table = self.signature_table()
        return np.flatnonzero(table.shared if shared else [each is not None for each in table.contents])

    async def signed(self, codes: Sequence[int], *, limit: int) -> Keys:
        validation.refuse("page", validation.number("limit", limit, 0))
        version = self._version
        live = version.made(column, _RELATION, "retracted_at", np.inf).values == np.inf
        return np.flatnonzero(np.isin(version.made(signature_numbers, _RELATION).values, codes) & live)[:limit]

    def signature_table(self) -> SignatureTable:
        return self._version.made(signatures)
