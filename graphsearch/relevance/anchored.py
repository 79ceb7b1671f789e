"""The anchor part of relevance: triplets at a named entity, or one requested relation away from one.

A named entity is an anchor with the probability of its link. A relation has the more probable anchor of its ends, and
a quarter of the other's. An entity that a relation of a requested type leads to from an anchor passes the weight of
the anchor on to its other relations, the less the less that type is requested: so "who leads the team that owns X" is
followed from X.
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Mask, Rows

BOTH: Final = 0.25
"""The share of the less probable of two anchors."""
CERTAIN: Final = 0.3
"""A less probable link passes nothing on, and a more probable entity receives nothing."""
LENT: Final = 0.85
"""The factor of a hop, unless the question names the kind of entity that it leads to: then 1."""
SHARPNESS: Final = 0.25
"""Decay of a hop with the affinity of its type: exp(SHARPNESS · (affinity − the best))."""


@attrs.frozen(eq=False, kw_only=True)
class Edges:
    """Relations by the rows of their ends and of their types."""

    source: Rows
    target: Rows
    type: Rows

    def __len__(self) -> int:
        return len(self.source)


def direct(anchor: Floats, edges: Edges) -> tuple[Floats, Floats]:
    """The anchor weight at each end of a relation: at its source, at its target."""
    source, target = anchor[edges.source], anchor[edges.target]
    surer = source >= target
    return np.where(surer, source, BOTH * source), np.where(surer, BOTH * target, target)


def lent(anchor: Floats, edges: Edges, asked: Floats, between: Mask) -> Floats:
    """The weight of each relation for an anchor one hop beyond one of its ends; ``asked`` is its type's affinity.

    ``between``: whether each entity is of a kind that the question mentions besides the requested one.

    The relation by which the hop was made gets nothing, and neither do others of the same type and direction: they
    state the same of other entities.
    """
    counted = np.zeros(len(edges))
    if not len(edges) or not (anchor > CERTAIN).any():
        return counted
    worth = np.exp(SHARPNESS * (asked - asked.max()))
    near = np.concatenate((edges.source, edges.target))
    far = np.concatenate((edges.target, edges.source))
    relation = np.tile(np.arange(len(edges)), 2)
    given = anchor[near] * worth[relation] * np.where(between, 1.0, LENT)[far]
    lending: Mask = (anchor[near] > CERTAIN) & (anchor[far] <= CERTAIN)
    steps = np.flatnonzero(lending)
    if not len(steps):
        return counted
    best = np.zeros(len(anchor))
    by = np.full(len(anchor), -1)
    order = steps[np.lexsort((relation[steps], -given[steps]))][::-1]  # the best comes last, and remains
    best[far[order]], by[far[order]] = given[order], order
    for ends, is_source in ((edges.source, True), (edges.target, False)):
        step = by[ends]
        lender = relation[step]
        reached_as_source = far[step] == edges.source[lender]
        sibling = (edges.type[lender] == edges.type) & (reached_as_source == is_source)
        allowed = (step >= 0) & (lender != np.arange(len(edges))) & ~sibling
        counted = np.maximum(counted, np.where(allowed, best[ends], 0.0))
    return counted


def counts(anchor: Floats, edges: Edges, asked: Floats, between: Mask) -> tuple[Floats, Floats, Floats]:
    """The weights of the anchors for each relation: at its source, at its target, and passed on from one hop away."""
    source, target = direct(anchor, edges)
    return source, target, np.maximum(lent(anchor, edges, asked, between) - source - target, 0.0)
