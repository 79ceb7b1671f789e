"""Which relation shows an entity that a question describes: one line each, so that ten lines show ten of them.

A question that names nothing asks for things, not for all that is known of one of them. So each of the entities that it
describes best is introduced by one of its relations, and its others come later. The surer it is that a thing itself is
what is asked for, the less it matters what the line says: then it is one that shows no other thing than such, to an
entity shown already or to another that is described, so that the line says how they belong together; else one from it.
The less sure, the more it is the line that is asked for.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from graphsearch.columns import NONE, Floats, Mask, Rows
from graphsearch.relevance.anchored import Edges

LATER: Final = 0.5
"""What the further relations of a described entity count beside the one that introduces it."""
PREFERRED: Final = 12.0
"""Evidence for which another relation is preferred to introduce an entity that is described for certain: more than any
line has by itself."""
SHOWN: Final = 1.0
BOTH: Final = 0.95
TO_IT: Final = 0.9
FROM_IT: Final = 0.8
TO_FIRST: Final = 0.7
"""The parts of it that a relation has: one with an entity that is shown already; one between two that are described, or
such a one to the first, which a line should begin with; one from the entity."""


def introductions(described: Rows, edges: Edges, own: Floats, sure: float) -> Rows:
    """For each described entity, best first, the row of the relation that introduces it; of equals the first.

    `NONE` where it has none, or the line of one before shows it. ``own`` is the evidence of each relation without the
    described entities, and ``sure`` how surely one of these is meant.
    """
    found = np.full(len(described), NONE)
    shown = np.zeros(_entities(described, edges), np.bool_)
    likely: Mask = np.zeros_like(shown)
    likely[described] = True
    for place, entity in enumerate(described.tolist()):
        rows = np.flatnonzero((edges.source == entity) | (edges.target == entity))
        if shown[entity] or not len(rows):
            continue
        from_it = edges.source[rows] == entity
        other = np.where(from_it, edges.target[rows], edges.source[rows])
        to_it = TO_IT if place else TO_FIRST
        preferred = np.select(
            [shown[other], from_it & likely[other], likely[other], from_it], [SHOWN, BOTH, to_it, FROM_IT], 0.0
        )
        found[place] = row = rows[np.argmax(own[rows] + PREFERRED * sure * preferred)]
        shown[[edges.source[row], edges.target[row]]] = True
    return found


def counted(described: Rows, worth: Floats, edges: Edges, own: Floats, sure: float) -> Floats:
    """What each relation counts for the described entities at its ends; ``worth`` is the evidence that each of them is.

    The one that introduces an entity counts as if it said as much as any relation of that entity; and as far as it is
    ``sure`` that a thing is asked for, as much as any that introduces another. So things stand in the order of their
    worth where it is they that are asked for, and in that of what is said of them where that is.
    """
    if not len(described) or not len(edges):
        return np.zeros(len(edges))
    every = np.zeros(_entities(described, edges))
    every[described] = worth
    counts = LATER * np.maximum(every[edges.source], every[edges.target])
    found = introductions(described, edges, own, sure)
    there = np.flatnonzero(found != NONE)
    if not len(there):
        return counts
    best = np.array([own[(edges.source == entity) | (edges.target == entity)].max() for entity in described[there]])
    said = sure * best.max() + (1.0 - sure) * best
    counts[found[there]] = worth[there] + said - own[found[there]]
    return counts


def _entities(described: Rows, edges: Edges) -> int:
    return 1 + int(max(column.max(initial=0) for column in (described, edges.source, edges.target)))
