"""Bounded breadth-first walks: what lies around entities, and the best path between two of them.

A hub costs no more than any other entity. Of paths the one of the fewest hops is the best, then the strongest.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, reading
from graphsearch.columns import NONE, Hits, Keys, Rows, Steps, Subgraph
from graphsearch.columns.key_index import KeyIndex, best_rows, first_rows
from graphsearch.display.printing import Displayed
from graphsearch.errors import MissingDependencyError
from graphsearch.model import Entity, Relation
from graphsearch.model import validation as check
from graphsearch.protocols import Frontier
from graphsearch.stores.graph import GraphStore
from graphsearch.text.rendering import entity_name, safe_text

FAN_OUT: Final = 25
MAX_ENTITIES: Final = 500


@attrs.frozen(eq=False)
@check.checked("k-hop traversal", fan_out=check.within(1), max_entities=check.within(1))
class KHopTraversal:
    """Breadth-first traversal from the seeds, in both directions.

    At most ``fan_out`` relations per entity and direction, strongest first, and ``max_entities`` entities per frontier,
    those with the most reliable last relation. An entity's path has the fewest hops, then the greatest confidence ×
    freshness × prior of its last relation, then the lowest relation id.
    """

    store: GraphStore | None = None
    fan_out: int = attrs.field(default=FAN_OUT, kw_only=True)
    max_entities: int = attrs.field(default=MAX_ENTITIES, kw_only=True)

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


@attrs.frozen(kw_only=True)
class GraphPath(Displayed):
    """A path from one entity to another.

    ``relations[i]`` joins ``entities[i]`` and ``entities[i + 1]``, in either direction. ``strength`` is least
    confidence × least freshness × least prior along it.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    strength: float

    @property
    def hops(self) -> int:
        """Number of relations."""
        return len(self.relations)

    def __str__(self) -> str:
        return " ".join(path_steps(self))


def path_steps(path: GraphPath) -> list[str]:
    """``Ada``, ``--works_at--> Globex``, ``<--works_at-- Bob``: where a path starts, and each step from there."""
    steps = [entity_name(path.entities[0])]
    for relation, before, after in zip(path.relations, path.entities[:-1], path.entities[1:], strict=True):
        type_ = safe_text(relation.type)
        arrow = f"--{type_}-->" if relation.source_id == before.id else f"<--{type_}--"
        steps.append(f"{arrow} {entity_name(after)}")
    return steps


PATH_FAN_OUT: Final = 100


@attrs.frozen
class Trail:
    """A path so far, with the least confidence, freshness and prior along it."""

    entities: tuple[Any, ...]
    relations: tuple[Any, ...]
    confidence: float = 1.0
    freshness: float = 1.0
    prior: float = 1.0

    @property
    def strength(self) -> float:
        """Confidence × freshness × prior."""
        return self.confidence * self.freshness * self.prior

    def beats(self, other: Trail) -> bool:
        """Whether it is at least as good in every part, so that no continuation of ``other`` can be stronger."""
        return self.confidence >= other.confidence and self.freshness >= other.freshness and self.prior >= other.prior


async def best_path(start: Keys, goal: Keys, *, max_hops: int, reader: Reader) -> Trail | None:
    """The strongest of the shortest paths from one key to another (columns of one key each), or None.

    Breadth-first by layers, at most 100 relations per entity and direction and `MAX_ENTITIES` entities per layer.
    Because strength is a product of three least values, each entity keeps every trail that no other dominates.
    """
    (first,), (last,) = start.tolist(), goal.tolist()
    layer: dict[Any, list[Trail]] = {first: [Trail((first,), ())]}
    seen = {first}
    for _ in range(max_hops):
        if last in layer:
            break
        steps = await reader.expand(np.sort(np.array(list(layer), dtype=start.dtype)), PATH_FAN_OUT)
        layer = _advance(layer, steps, seen)
        if last not in layer and len(layer) > MAX_ENTITIES:
            strongest = sorted(layer, key=lambda key: (-layer[key][0].strength, key))[:MAX_ENTITIES]
            layer = {key: layer[key] for key in strongest}
        seen.update(layer)
    return layer[last][0] if last in layer else None


def _advance(layer: dict[Any, list[Trail]], steps: Steps, seen: set[Any]) -> dict[Any, list[Trail]]:
    """The trails of a layer, each longer by every relation that leads on: by new entity, the best ones first."""
    rows = steps.rows
    columns = (rows.near, rows.far, rows.relations, rows.confidence, steps.freshness, steps.prior)
    reached: dict[Any, list[Trail]] = {}
    for near, far, relation, confidence, freshness, prior in zip(*(each.tolist() for each in columns), strict=True):
        for trail in layer[near] if far not in seen else ():
            longer = Trail(
                (*trail.entities, far),
                (*trail.relations, relation),
                min(trail.confidence, confidence),
                min(trail.freshness, freshness),
                min(trail.prior, prior),
            )
            reached[far] = _unbeaten([*reached.get(far, ()), longer])
    return reached


def _unbeaten(trails: list[Trail]) -> list[Trail]:
    best: list[Trail] = []
    for trail in sorted(trails, key=lambda each: (-each.strength, each.relations)):
        if not any(other.beats(trail) for other in best):
            best.append(trail)
    return best
