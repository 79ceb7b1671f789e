"""The best path between two entities: fewest hops, then strongest."""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Keys, Steps
from graphsearch.display.printing import Displayed
from graphsearch.model import Entity, Relation
from graphsearch.text.rendering import entity_name, safe_text


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


async def best_path(start: Keys, goal: Keys, *, max_hops: int, max_entities: int, reader: Reader) -> Trail | None:
    """The strongest of the shortest paths from one key to another (columns of one key each), or None.

    Breadth-first by layers, at most 100 relations per entity and direction and ``max_entities`` entities per layer.
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
        if last not in layer and len(layer) > max_entities:
            strongest = sorted(layer, key=lambda key: (-layer[key][0].strength, key))[:max_entities]
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
