"""Bounded breadth-first traversal: a hub costs no more than any other entity."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch import validation as check
from graphsearch.columns import Codes, Expansion, Floats, Hits, Keys
from graphsearch.errors import MissingDependencyError
from graphsearch.protocols import Gate, GraphStore
from graphsearch.reading import Reader, Steps, reading
from graphsearch.traversal.subgraph import NONE, Rows, Subgraph, contains, row_of

FAN_OUT: Final = 25
MAX_ENTITIES: Final = 500


class KHopTraversal:
    """Breadth-first from the seeds, both directions (design 4).

    At most ``fan_out`` relations an entity and direction, strongest first, and ``max_entities`` entities a frontier,
    those with the most reliable last relation. An entity's path has the fewest hops, then the greatest confidence ×
    freshness × prior of its last relation, then the lowest relation id.
    """

    def __init__(
        self, store: GraphStore | None = None, *, fan_out: int = FAN_OUT, max_entities: int = MAX_ENTITIES
    ) -> None:
        check.refuse(
            "k-hop traversal",
            check.number("fan_out", fan_out, 1),
            check.number("max_entities", max_entities, 1),
        )
        self.store = store
        self.fan_out = fan_out
        self.max_entities = max_entities

    async def walk(
        self, entity_ids: Sequence[UUID], *, depth: int = 2, gate: Gate | None = None, as_of: datetime | None = None
    ) -> Subgraph:
        """Everything within ``depth`` hops of some entities of this traversal's own store."""
        if self.store is None:
            raise MissingDependencyError("walk() needs a store: KHopTraversal(store)")
        async with reading(self.store, gate=gate, as_of=as_of) as reader:
            return await self.traverse(await reader.locate(entity_ids), depth=depth, reader=reader)

    async def traverse(self, seeds: Hits, *, depth: int, reader: Reader) -> Subgraph:
        """Everything within ``depth`` hops of the seeds."""
        growth = _Growth(seeds)
        frontier = growth.seeds
        for _ in range(depth):
            if not len(frontier):
                break
            steps = await reader.expand(frontier, self.fan_out)
            frontier = growth.take(steps, self.max_entities)
        return growth.subgraph()


@attrs.frozen(eq=False, kw_only=True)
class _Generation:
    """Entities first reached at one hop. ``previous`` counts over all generations; ``via`` is a relation's key."""

    keys: Keys
    hops: Codes
    seed_distance: Floats
    importance: Floats
    path_confidence: Floats
    path_confidence_product: Floats
    path_freshness: Floats
    path_prior: Floats
    previous: Rows


_COLUMNS: Final = tuple(field.name for field in attrs.fields(_Generation))


class _Growth:
    """The subgraph while it grows, hop by hop."""

    def __init__(self, seeds: Hits) -> None:
        ones = np.ones(len(seeds))
        first = _Generation(
            keys=seeds.keys,
            hops=np.zeros(len(seeds), dtype=np.int64),
            seed_distance=seeds.values,
            importance=seeds.importance,
            path_confidence=ones,
            path_confidence_product=ones,
            path_freshness=ones,
            path_prior=ones,
            previous=np.full(len(seeds), NONE, dtype=np.intp),
        )
        self.seeds = np.sort(seeds.keys)
        self._reached = {name: getattr(first, name) for name in _COLUMNS}
        self._via: list[Keys] = []
        self._steps: list[Steps] = []
        self._hop = 0

    def take(self, steps: Steps, max_entities: int) -> Keys:
        """Add a hop; the entities reached first by it are the next frontier."""
        self._hop += 1
        self._steps.append(steps)
        keys = self._reached["keys"]
        order = np.argsort(keys, kind="stable")
        known = keys[order]
        fresh = np.flatnonzero(~contains(known, steps.rows.far))
        reliability = steps.reliability
        best = fresh[_first_of_each(steps.rows.far[fresh], reliability[fresh], steps.rows.relations[fresh])]
        near = order[row_of(known, steps.rows.near[best])]
        self._extend(steps, best, near)
        strongest = best
        if len(best) > max_entities:
            strongest = best[np.lexsort((steps.rows.far[best], -reliability[best]))[:max_entities]]
        return np.sort(steps.rows.far[strongest])

    def _extend(self, steps: Steps, best: Rows, near: Rows) -> None:
        rows, reached = steps.rows, self._reached
        confidence = rows.confidence[best]
        reached_now = _Generation(
            keys=rows.far[best],
            hops=np.full(len(best), self._hop, dtype=np.int64),
            seed_distance=reached["seed_distance"][near],
            importance=rows.far_importance[best],
            path_confidence=np.minimum(reached["path_confidence"][near], confidence),
            path_confidence_product=reached["path_confidence_product"][near] * confidence,
            path_freshness=np.minimum(reached["path_freshness"][near], steps.freshness[best]),
            path_prior=np.minimum(reached["path_prior"][near], steps.prior[best]),
            previous=near,
        )
        self._via.append(rows.relations[best])
        self._reached = {name: np.concatenate((reached[name], getattr(reached_now, name))) for name in _COLUMNS}

    def subgraph(self) -> Subgraph:
        """What was reached, in order of key."""
        reached = self._reached
        order = np.argsort(reached["keys"], kind="stable")
        entities = reached["keys"][order]
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        rows, freshness, prior = self._relations()
        seeds = len(self.seeds)
        via = np.full(len(order), NONE, dtype=np.intp)
        previous = reached["previous"].copy()
        if self._via:
            via[seeds:] = row_of(rows.relations, np.concatenate(self._via))
            previous[seeds:] = place[previous[seeds:]]
        near, far = row_of(entities, rows.near), row_of(entities, rows.far)
        return Subgraph(
            entities=entities,
            hops=reached["hops"][order],
            seed_distance=reached["seed_distance"][order],
            importance=reached["importance"][order],
            path_confidence=reached["path_confidence"][order],
            path_confidence_product=reached["path_confidence_product"][order],
            path_freshness=reached["path_freshness"][order],
            path_prior=reached["path_prior"][order],
            previous=previous[order],
            via=via[order],
            relations=rows.relations,
            source=np.where(rows.outgoing, near, far),
            target=np.where(rows.outgoing, far, near),
            confidence=rows.confidence,
            freshness=freshness,
            prior=prior,
            feedback=rows.feedback,
            signatures=rows.signatures,
        )

    def _relations(self) -> tuple[Expansion, Floats, Floats]:
        if not self._steps:
            return Expansion.none(self.seeds), np.empty(0), np.empty(0)
        rows = Expansion.concatenate([steps.rows for steps in self._steps])
        _, once = np.unique(rows.relations, return_index=True)
        freshness = np.concatenate([steps.freshness for steps in self._steps])
        prior = np.concatenate([steps.prior for steps in self._steps])
        return rows.keep(once), freshness[once], prior[once]


def _first_of_each(groups: Keys, values: Floats, ties: Keys) -> Rows:
    """For each distinct group the row of the greatest value, ties by the lowest."""
    order = np.lexsort((ties, -values, groups))
    ordered = groups[order]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return order[first]
