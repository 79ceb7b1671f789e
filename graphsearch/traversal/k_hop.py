"""Bounded breadth-first traversal: a hub costs no more than any other entity."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.columns import NONE, Floats, Hits, Keys, Rows, Steps, Subgraph
from graphsearch.columns.key_index import KeyIndex, best_rows, first_rows
from graphsearch.errors import MissingDependencyError
from graphsearch.model import validation as check
from graphsearch.protocols import Frontier, GraphStore

FAN_OUT: Final = 25
MAX_ENTITIES: Final = 500


class KHopTraversal:
    """Breadth-first traversal from the seeds, in both directions.

    At most ``fan_out`` relations per entity and direction, strongest first, and ``max_entities`` entities per frontier,
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
        """The subgraph within ``depth`` hops of some entities of this traversal's own store."""
        if self.store is None:
            raise MissingDependencyError("walk() needs a store: KHopTraversal(store)")
        async with reading(self.store, gate=gate, as_of=as_of) as reader:
            return await self.traverse(await reader.locate(entity_ids), depth=depth, reader=reader)

    async def traverse(self, seeds: Hits, *, depth: int, reader: Frontier) -> Subgraph:
        """The subgraph within ``depth`` hops of the seeds."""
        growth = _Growth(seeds)
        for hop in range(depth):
            frontier = growth.strongest(self.max_entities) if hop else seeds.keys
            if not len(frontier):
                break
            growth.take(await reader.expand(frontier, self.fan_out))
        return growth.subgraph()


@attrs.frozen(eq=False, kw_only=True)
class _Reached:
    """Entities first reached by one hop, each with its path."""

    keys: Keys
    importance: Floats
    previous: Rows
    """The previous entity of the path: a row among all entities, or -1."""
    step: Rows
    """The last step of the path: a row among all steps, or -1."""
    reliability: Floats
    """The reliability of that step."""


@attrs.frozen(eq=False)
class _Hop:
    """The steps of one hop, and the rows of the entities at their ends."""

    steps: Steps
    near: Rows
    far: Rows

    @staticmethod
    def none(like: Keys) -> _Hop:
        """No steps, with keys of the dtype of ``like``."""
        rows = np.empty(0, dtype=np.intp)
        return _Hop(Steps.none(like), rows, rows)


class _Growth:
    """The growing subgraph, hop by hop."""

    def __init__(self, seeds: Hits) -> None:
        none = np.full(len(seeds), NONE)
        self._places = KeyIndex(seeds.keys)
        self._hops: list[_Hop] = []
        self._walked = 0
        self._reached = [
            _Reached(
                keys=seeds.keys,
                importance=seeds.importance,
                previous=none,
                step=none,
                reliability=np.ones(len(seeds)),
            )
        ]

    def take(self, steps: Steps) -> None:
        """Add one hop away from the entities that the last hop reached."""
        known = len(self._places)
        near = self._places.of(steps.rows.starts).take(steps.rows.start)
        far = self._places.enter(steps.rows.ends.keys, steps.rows.end)
        reliability = steps.reliability
        last = best_rows(far, len(self._places), reliability, steps.rows.relations, first=known)
        previous = near.take(last)
        self._reached.append(
            _Reached(
                keys=self._places.keys[known:],
                importance=steps.rows.ends.importance.take(steps.rows.end.take(last)),
                previous=previous,
                step=last + self._walked,
                reliability=reliability.take(last),
            )
        )
        self._hops.append(_Hop(steps, near, far))
        self._walked += len(near)

    def strongest(self, count: int) -> Keys:
        """The most reliably reached entities of the last hop, at most ``max_entities``, ties by key."""
        last = self._reached[-1]
        if len(last.keys) <= count:
            return last.keys
        strongest: Keys = last.keys[np.lexsort((last.keys, -last.reliability))[:count]]
        return strongest

    def subgraph(self) -> Subgraph:
        """The subgraph reached; a relation found from both of its ends counts once."""
        hops = self._hops or [_Hop.none(self._places.keys)]
        steps = [hop.steps for hop in hops]
        relations = np.concatenate([each.rows.relations for each in steps])
        once, first = first_rows(relations)

        def column(parts: list[NDArray[Any]]) -> NDArray[Any]:
            return np.concatenate(parts).take(once)

        near, far = column([hop.near for hop in hops]), column([hop.far for hop in hops])
        outgoing = column([each.rows.outgoing for each in steps])
        return Subgraph(
            entities=self._places.keys,
            **self._paths(once, first),
            relations=relations.take(once),
            source=np.where(outgoing, near, far),
            target=np.where(outgoing, far, near),
            confidence=column([each.rows.confidence for each in steps]),
            freshness=column([each.freshness for each in steps]),
            prior=column([each.prior for each in steps]),
            feedback=column([each.rows.feedback for each in steps]),
            signatures=column([each.signatures for each in steps]),
        )

    def _paths(self, once: Rows, first: Rows) -> dict[str, NDArray[Any]]:
        """The columns of how entities were reached, given the `first_rows` of the relations of all steps."""
        reached = self._reached
        row = np.empty_like(first)
        row[once] = np.arange(len(once))
        via = np.concatenate([each.step for each in reached])
        walked = via[len(reached[0].keys) :]
        walked[:] = row.take(first.take(walked))
        return {
            "hops": np.repeat(np.arange(len(reached)), [len(each.keys) for each in reached]),
            "importance": np.concatenate([each.importance for each in reached]),
            "previous": np.concatenate([each.previous for each in reached]),
            "via": via,
        }
