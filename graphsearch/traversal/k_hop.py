"""Bounded breadth-first traversal: a hub costs no more than any other entity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graphsearch import validation as check
from graphsearch.columns import NONE, Hits, Keys, Rows, Steps, Subgraph
from graphsearch.errors import MissingDependencyError
from graphsearch.places import Places, best_rows, distinct, first_rows
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


class _Growth:
    """The subgraph while it grows: one part for the seeds, and one for the entities first reached at each hop."""

    def __init__(self, seeds: Hits) -> None:
        ones = np.ones(len(seeds))
        none = np.full(len(seeds), NONE, dtype=np.intp)
        self._reached: dict[str, NDArray[Any]] = {
            "entities": seeds.keys,
            "hops": np.zeros(len(seeds), dtype=np.int64),
            "seed_distance": seeds.values,
            "importance": seeds.importance,
            "path_confidence": ones,
            "path_confidence_product": ones,
            "path_freshness": ones,
            "path_prior": ones,
            "previous": none,
        }
        self._places = Places(seeds.keys)
        self._via = [seeds.keys[:0]]
        self._steps: list[Steps] = []

    def take(self, steps: Steps, max_entities: int) -> Keys:
        """Add a hop; the entities reached first by it are the next frontier."""
        self._steps.append(steps)
        fresh = np.flatnonzero(self._places.of(steps.rows.far) == NONE)
        keys, group = distinct(steps.rows.far[fresh])
        reliability = steps.reliability[fresh]
        chosen = best_rows(group, len(keys), reliability, steps.rows.relations[fresh])
        self._extend(steps, fresh[chosen])
        if len(keys) <= max_entities:
            return keys
        strongest: Keys = keys[np.lexsort((keys, -reliability[chosen]))[:max_entities]]
        return strongest

    def _extend(self, steps: Steps, rows: Rows) -> None:
        """Add the entities at the far end of some rows, by the path that each row prolongs."""
        reached, step = self._reached, steps.rows
        near = self._places.of(step.near[rows])
        confidence = step.confidence[rows]
        further = {
            "entities": step.far[rows],
            "hops": np.full(len(rows), len(self._steps), dtype=np.int64),
            "seed_distance": reached["seed_distance"][near],
            "importance": step.far_importance[rows],
            "path_confidence": np.minimum(reached["path_confidence"][near], confidence),
            "path_confidence_product": reached["path_confidence_product"][near] * confidence,
            "path_freshness": np.minimum(reached["path_freshness"][near], steps.freshness[rows]),
            "path_prior": np.minimum(reached["path_prior"][near], steps.prior[rows]),
            "previous": near,
        }
        self._reached = {name: np.concatenate((column, further[name])) for name, column in reached.items()}
        self._places = Places(self._reached["entities"])
        self._via.append(step.relations[rows])

    def subgraph(self) -> Subgraph:
        """What was reached; a relation found from both of its ends counts once."""
        if not self._steps:
            self._steps.append(Steps.none(self._reached["entities"]))
        relations = self._column(lambda steps: steps.rows.relations)
        once = first_rows(relations)
        relations = relations[once]
        near = self._places.of(self._column(lambda steps: steps.rows.near)[once])
        far = self._places.of(self._column(lambda steps: steps.rows.far)[once])
        outgoing = self._column(lambda steps: steps.rows.outgoing)[once]
        via = np.full(len(self._reached["entities"]), NONE, dtype=np.intp)
        walked = np.concatenate(self._via)
        via[len(via) - len(walked) :] = Places(relations).of(walked)
        return Subgraph(
            **self._reached,
            via=via,
            relations=relations,
            source=np.where(outgoing, near, far),
            target=np.where(outgoing, far, near),
            confidence=self._column(lambda steps: steps.rows.confidence)[once],
            freshness=self._column(lambda steps: steps.freshness)[once],
            prior=self._column(lambda steps: steps.prior)[once],
            feedback=self._column(lambda steps: steps.rows.feedback)[once],
            signatures=self._column(lambda steps: steps.rows.signatures)[once],
            kind_rank=self._column(lambda steps: steps.kind_rank)[once],
        )

    def _column(self, of: Callable[[Steps], NDArray[Any]]) -> NDArray[Any]:
        """One column of all hops."""
        return np.concatenate([of(steps) for steps in self._steps])
