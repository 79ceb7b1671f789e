"""The entities that the triplets of an answer are about, the most relevant first: pure.

If the question describes a thing, or is only a name, that thing comes first. If it asks for something about what it
names, the answer is at the other end of a relation: for "Priya reports_to Sarah", the asker already knew Priya.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final
from uuid import UUID

from graphsearch.model import Entity, Triplet

NEARER: Final = 0.5
"""The weight of the nearer end of a relation that is one hop away from a name: it is on the way to the answer."""


def ends(triplets: Sequence[Triplet], *, named: Collection[UUID], subjects: Sequence[UUID]) -> tuple[Entity, ...]:
    """The distinct ends of triplets: ``subjects`` in their order, then the others by how far they answer.

    An end has the score of the best triplet that ends there: in full; by half if the other end is farther from what is
    ``named``; not at all if it is named and the other end is not. Equal ends are in reading order.
    """
    entities = {end.id: end for each in triplets for end in (each.source, each.target)}
    hops = _hops(triplets, named)
    worth = dict.fromkeys(entities, 0.0)
    for each in triplets:
        for end, other in ((each.source.id, each.target.id), (each.target.id, each.source.id)):
            counted = _counted(hops[end], hops[other]) * each.score
            worth[end] = max(worth[end], counted)
    first = {id_: place for place, id_ in enumerate(subjects)}
    order = sorted(entities, key=lambda id_: (first.get(id_, len(first)), -worth[id_]))
    return tuple(entities[id_] for id_ in order)


def _counted(hops: int, hops_of_other: int) -> float:
    if hops >= hops_of_other:
        return 1.0
    return NEARER if hops else 0.0


def _hops(triplets: Sequence[Triplet], named: Collection[UUID]) -> dict[UUID, int]:
    """The distance in hops of each end from the nearest named one, over the triplets; unreached ends are farthest."""
    pairs = [(each.source.id, each.target.id) for each in triplets]
    reached = {end: 0 for pair in pairs for end in pair if end in named}
    while fresh := set(_onward(pairs, reached)):
        reached |= dict.fromkeys(fresh, max(reached.values()) + 1)
    return {end: reached.get(end, len(pairs) + 1) for pair in pairs for end in pair}


def _onward(pairs: Iterable[tuple[UUID, UUID]], reached: Collection[UUID]) -> Iterator[UUID]:
    for one, other in pairs:
        if (one in reached) != (other in reached):
            yield other if one in reached else one
