"""Bounded breadth-first traversal: a hub costs no more than any other entity."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.columns import NONE, Hits, Keys, Rows, Steps, Subgraph
from graphsearch.columns.key_index import KeyIndex, best_rows, first_rows
from graphsearch.errors import MissingDependencyError
from graphsearch.model import validation as check
from graphsearch.protocols import Frontier
from graphsearch.stores.graph import GraphStore

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
        places, frontier, walked = KeyIndex(seeds.keys), seeds.keys, 0
        nothing, start = np.empty(0, np.intp), np.full(len(seeds), NONE)
        sizes, reached = [len(seeds)], [(seeds.importance, start, start)]
        hops = [_columns(Steps.none(seeds.keys), nothing, nothing)]
        for hop in range(depth):
            if not len(frontier):
                break
            steps = await reader.expand(frontier, self.fan_out, depth - hop - 1)
            rows, known, reliability = steps.rows, len(places), steps.reliability
            near = places.of(rows.starts).take(rows.start)
            far = places.enter(rows.ends.keys, rows.end)
            last = best_rows(far, len(places), reliability, rows.relations, first=known)
            frontier = places.keys[known:]
            sizes.append(len(frontier))
            reached.append((rows.ends.importance.take(rows.end.take(last)), near.take(last), last + walked))
            hops.append(_columns(steps, near, far))
            walked += len(near)
            if len(frontier) > self.max_entities:
                frontier = frontier[np.lexsort((frontier, -reliability.take(last)))[: self.max_entities]]
        return _subgraph(places.keys, sizes, reached, hops)


_Columns = dict[str, NDArray[Any]]


def _columns(steps: Steps, near: Rows, far: Rows) -> _Columns:
    """The columns of one hop, with the rows of the entities at its ends."""
    return {"near": near, "far": far, "outgoing": steps.rows.outgoing, **steps.columns}


def _subgraph(
    entities: Keys, sizes: Sequence[int], reached: Sequence[tuple[NDArray[Any], ...]], hops: Sequence[_Columns]
) -> Subgraph:
    """The subgraph of some hops; a relation found from both of its ends counts once.

    ``reached`` has the importance of the entities that each hop reached first, of which ``sizes`` are the numbers; the
    entity before each on its path, and the last step of that: a row among all steps.
    """
    importance, previous, last = map(np.concatenate, zip(*reached, strict=True))
    every = dict(zip(hops[0], map(np.concatenate, zip(*map(dict.values, hops), strict=True)), strict=True))
    once, first = first_rows(every["relations"])
    columns = {name: column.take(once) for name, column in every.items()}
    near, far, outgoing = (columns.pop(name) for name in ("near", "far", "outgoing"))
    row = np.empty_like(first)
    row[once] = np.arange(len(once))
    via = last.copy()
    via[sizes[0] :] = row.take(first.take(last[sizes[0] :]))
    return Subgraph(
        entities=entities,
        hops=np.repeat(np.arange(len(sizes)), sizes),
        importance=importance,
        previous=previous,
        via=via,
        source=np.where(outgoing, near, far),
        target=np.where(outgoing, far, near),
        **columns,
    )
