"""Walks over visible relations: the strongest of a frontier, all of some, and pages of the whole view."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.gatekeeper import Decided
from graphsearch.access.lookups import Lookups
from graphsearch.access.window import widest
from graphsearch.columns import Codes, Expansion, Hits, Keys, Mask, Steps
from graphsearch.columns.formulas import age_in_days, freshness
from graphsearch.columns.key_index import among, distinct
from graphsearch.model import Entity


@attrs.frozen(eq=False)
class RelationPage:
    """The visible ones among a page of relations; ``read`` were read in all, and ``last`` is the id of the last."""

    steps: Steps
    read: int
    last: UUID | None


class Walks(Lookups):
    """Steps over relations that pass the view and are visible with both ends."""

    async def expand(self, keys: Keys, fan_out: int, ahead: int = 0) -> Steps:
        """The strongest visible relations of a frontier, at most ``fan_out`` per entity and direction.

        With ``ahead`` the store may read that many further hops with the first one.
        """
        kept: list[Decided] = []
        frontier, limit, last = keys, fan_out, widest(fan_out)
        while True:
            stored = await self._store.expand(frontier, fan_out=limit, view=self.view, ahead=ahead)
            found, ahead = await self._decided(stored), 0
            allowed = found.allowed
            if limit == fan_out and (allowed is None or allowed.all()) and found.partial is None:
                kept.append(found)
                break
            found, certain = await self._strongest(found)
            allowed = found.rows.holding if found.allowed is None else found.allowed
            runs = _Runs(found.rows)
            short = np.unique(runs.start[(runs.sizes == limit) & (runs.count(allowed & certain) < fan_out)])
            again = np.isin(found.rows.start, short) & (limit < last)
            kept.append(found.keep(allowed & ~again & (runs.rank(allowed) < fan_out)))
            if limit == last or not len(short):
                break
            frontier, limit = found.rows.starts[short], limit * 2
        return self._relied_on(Decided.concatenate(kept))

    async def _strongest(self, found: Decided) -> tuple[Decided, Mask]:
        """An expansion in visible order, and the rows whose rank cannot change when more relations are fetched.

        Relations not fetched are no stronger than the last of their run; but a row may be weaker than stored.
        """
        corrected = await self._evidence.correct(found, self.view)
        if corrected is found:
            return found, np.ones(len(found.rows), dtype=np.bool_)
        priors, runs = self.signatures.priors.take(found.signatures), _Runs(found.rows)
        least = np.minimum.reduceat(found.rows.confidence * priors, runs.begins)[runs.run]
        weight = corrected.rows.confidence * priors
        order = np.lexsort((corrected.rows.relations, -weight, runs.run))
        return corrected.keep(order), (weight >= least)[order]

    async def _decided(self, found: Expansion) -> Decided:
        return self._evidence.dated(await self._gatekeeper.steps(found), self.view)

    async def related(self, keys: Keys) -> Steps:
        """Relations that pass the view, as steps from source to target; only those visible with both ends."""
        found = await self._decided(await self._store.related(keys, view=self.view))
        found = await self._evidence.correct(found, self.view)
        allowed = found.allowed
        if allowed is not None:
            found = found.keep(allowed)
        sources = await self._sources(found.rows)
        return self._relied_on(found.keep(among(found.rows.near, sources.keys)))

    async def _sources(self, found: Expansion) -> Hits:
        """The entities that relations start from, if they hold and are visible."""
        near, _ = distinct(found.near)
        if found.located is None:
            return await self.locate(self.entity_ids(near))
        return await self._visible(found.located.keep(among(found.located.keys, near)))

    async def page(self, *, after: UUID | None = None, limit: int) -> RelationPage:
        """The visible ones among the next ``limit`` relations of the view, by id; fewer than that only at the end."""
        edges = await self._store.edges(after=after, limit=limit, view=self.view)
        last = self.relation_ids(edges.relations[-1:])[0] if len(edges) else None
        return RelationPage(await self.related(edges.relations), len(edges), last)

    async def list_entities(
        self, *, after: UUID | None = None, limit: int, type: str
    ) -> tuple[list[Entity], UUID | None]:
        """The visible ones among the next ``limit`` entities of a type, and the id to go on after; None at the end."""
        stored = await self._store.list_entities(after=after, limit=limit, type=type)
        shown = await self._gatekeeper.entities.shown(stored)
        return [each for each in shown if each.type == type], stored[-1].id if len(stored) == limit else None

    async def left_out(self, keys: Keys) -> Mapping[str, int]:
        """The number of relations of some entities that the view leaves out, by reason; empty if any may be hidden.

        Behind a gate the counts would include hidden relations.
        """
        return {} if self.hides else await self._store.left_out(keys, view=self.view)

    def _relied_on(self, found: Decided) -> Steps:
        known, signatures = self.signatures, found.signatures
        if known.decays:
            age = age_in_days(found.rows.since, self.view.as_of.timestamp())
            fresh = freshness(age, known.half_lives.take(signatures))
        else:
            fresh = np.ones(len(signatures))
        return Steps(found.rows, signatures, freshness=fresh, prior=known.priors.take(signatures))


class _Runs:
    """The runs of rows that share (start, direction) in an expansion."""

    def __init__(self, found: Expansion) -> None:
        begins = np.ones(len(found), dtype=np.bool_)
        begins[1:] = (found.start[1:] != found.start[:-1]) | (found.outgoing[1:] != found.outgoing[:-1])
        self.begins = np.flatnonzero(begins)
        self.run = np.cumsum(begins) - 1
        """The run of each row."""
        self.start = found.start[self.begins]
        self.sizes = np.diff(self.begins, append=len(found))

    def count(self, mask: Mask) -> Codes:
        """The number of rows of each run that the mask keeps."""
        return np.add.reduceat(mask, self.begins, dtype=np.int64) if len(self.begins) else np.empty(0, np.int64)

    def rank(self, mask: Mask) -> Codes:
        """For rows that the mask keeps: the number of earlier kept rows of the same run."""
        before: Codes = np.cumsum(mask) - mask
        rank: Codes = before - before[self.begins][self.run]
        return rank
