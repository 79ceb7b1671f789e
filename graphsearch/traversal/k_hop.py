"""Bounded breadth-first traversal: a hub costs no more than any other entity."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch import validation as check
from graphsearch.columns import NONE, Hits, Keys, Rows, Steps, Subgraph
from graphsearch.errors import MissingDependencyError
from graphsearch.places import Places, best_rows, first_rows
from graphsearch.protocols import Frontier, Gate, GraphStore
from graphsearch.reading import reading

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

    async def traverse(self, seeds: Hits, *, depth: int, reader: Frontier) -> Subgraph:
        """Everything within ``depth`` hops of the seeds."""
        growth = _Growth(seeds)
        frontier = seeds.keys
        for _ in range(depth):
            if not len(frontier):
                break
            frontier = growth.take(await reader.expand(frontier, self.fan_out), self.max_entities)
        return growth.subgraph()


@attrs.frozen(eq=False)
class _Hop:
    """One hop: its steps, the rows of the entities at their ends, and what was first reached by it."""

    steps: Steps
    near: Rows
    far: Rows
    last: Rows
    """For each entity first reached, the last step of its path."""
    previous: Rows
    """For each entity first reached, the entity before on its path."""


class _Growth:
    """The subgraph while it grows, hop by hop."""

    def __init__(self, seeds: Hits) -> None:
        none = np.empty(0, dtype=np.intp)
        self._seeds = seeds
        self._places = Places(seeds.keys)
        self._hops = [_Hop(Steps.none(seeds.keys), none, none, none, none)]

    def take(self, steps: Steps, max_entities: int) -> Keys:
        """Add a hop; the entities reached first by it are the next frontier."""
        known = len(self._places)
        near = self._places.of(steps.rows.near)
        far, fresh = self._places.number(steps.rows.far)
        reached = self._places.keys[known:]
        reliability = steps.reliability.take(fresh)
        best = best_rows(far.take(fresh) - known, len(reached), reliability, steps.rows.relations[fresh])
        last = fresh[best]
        self._hops.append(_Hop(steps, near, far, last, near[last]))
        if len(reached) <= max_entities:
            return reached
        strongest: Keys = reached[np.lexsort((reached, -reliability[best]))[:max_entities]]
        return strongest

    def subgraph(self) -> Subgraph:
        """What was reached; a relation found from both of its ends counts once."""
        hops, steps = self._hops, [hop.steps for hop in self._hops]
        once, first = first_rows(np.concatenate([each.rows.relations for each in steps]))

        def column(parts: list[NDArray[Any]]) -> NDArray[Any]:
            return np.concatenate(parts).take(once)

        near, far = column([hop.near for hop in hops]), column([hop.far for hop in hops])
        outgoing = column([each.rows.outgoing for each in steps])
        return Subgraph(
            entities=self._places.keys,
            **self._paths(once, first),
            relations=column([each.rows.relations for each in steps]),
            source=np.where(outgoing, near, far),
            target=np.where(outgoing, far, near),
            confidence=column([each.rows.confidence for each in steps]),
            freshness=column([each.freshness for each in steps]),
            prior=column([each.prior for each in steps]),
            feedback=column([each.rows.feedback for each in steps]),
            signatures=column([each.signatures for each in steps]),
        )

    def _paths(self, once: Rows, first: Rows) -> dict[str, NDArray[Any]]:
        """The columns that tell how entities were reached, given the `first_rows` of the relations of all steps."""
        seeds, hops = self._seeds, self._hops
        relation = np.empty_like(first)
        relation[once] = np.arange(len(once))
        starts = accumulate((len(hop.near) for hop in hops[:-1]), initial=0)
        walked = np.concatenate([start + hop.last for start, hop in zip(starts, hops, strict=True)])
        none = np.full(len(seeds), NONE)
        seed_distance = seeds.values
        for hop in hops:
            seed_distance = np.concatenate((seed_distance, seed_distance[hop.previous]))
        return {
            "hops": np.repeat(np.arange(len(hops)), [len(seeds), *(len(hop.last) for hop in hops[1:])]),
            "seed_distance": seed_distance,
            "importance": np.concatenate(
                [seeds.importance, *(hop.steps.rows.far_importance[hop.last] for hop in hops)]
            ),
            "previous": np.concatenate([none, *(hop.previous for hop in hops)]),
            "via": np.concatenate([none, relation[first[walked]]]),
        }
