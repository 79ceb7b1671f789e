"""The relation that introduces each described entity: one line each, so that ten lines show ten entities.

A question without names asks for things, not for everything known about one of them. So each of the entities that it
describes best is introduced by one of its relations, and its other relations come later. The more probable it is that
a thing itself is requested, the less the content of the line matters: then the relation is preferably one to an entity
shown already or to another described one, so that the line shows how they are related; otherwise one that starts at
it. The less probable, the more the line itself is the answer.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from graphsearch.columns import NONE, Floats, Mask, Rows
from graphsearch.relevance.anchored import Edges

LATER: Final = 0.5
"""The weight of further relations of a described entity, relative to the one that introduces it."""
PREFERRED: Final = 12.0
"""Evidence that makes a relation preferred for introducing a certain entity: more than any line has by itself."""
SHOWN: Final = 1.0
BOTH: Final = 0.95
TO_IT: Final = 0.9
FROM_IT: Final = 0.8
TO_FIRST: Final = 0.7
"""The parts of it that a relation has: with an entity already shown; between two described ones, or starting at the
first of these; starting at the entity.
"""


def introductions(described: Rows, edges: Edges, own: Floats, sure: float) -> Rows:
    """For each described entity, best first, the row of the relation that introduces it; of equal ones the first.

    `NONE` if it has none, or an earlier line already shows it. ``own`` is the evidence of each relation without the
    described entities, and ``sure`` the probability that one of these is meant.
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
    """The weight of each relation for the described entities at its ends; ``worth`` is the evidence of each of them.

    The relation that introduces an entity counts as the best relation of that entity; and, in proportion to ``sure``,
    as the best that introduces any. So entities are in the order of their worth if things are requested, and in the
    order of their lines otherwise.
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
