"""How near triplets are to what a question names: at a named entity, or one asked relation away from one.

A named entity is an anchor, as sure as its link. A relation has the surer anchor of its ends, and a quarter of the
other's. An entity that a relation of an asked type leads to from an anchor lends its own other relations what the
anchor counts, the less, the less that type is asked for: so "who leads the team that owns X" is followed from X.
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Mask, Rows

BOTH: Final = 0.25
"""What the less sure anchor of two adds."""
CERTAIN: Final = 0.3
"""A less sure link lends nothing, and an entity that is surer than this needs nothing lent."""
LENT: Final = 0.85
"""What a hop leaves of an anchor, unless the question names the kind of thing that it leads to: then all of it."""
SHARPNESS: Final = 0.25
"""How fast a hop is worth less with the affinity of its type: exp(SHARPNESS · (affinity − the best))."""


@attrs.frozen(eq=False, kw_only=True)
class Edges:
    """Relations by the rows of their ends and of their types."""

    source: Rows
    target: Rows
    type: Rows

    def __len__(self) -> int:
        return len(self.source)


def direct(anchor: Floats, edges: Edges) -> tuple[Floats, Floats]:
    """What the anchor at each end of a relation counts: at its source, at its target."""
    source, target = anchor[edges.source], anchor[edges.target]
    surer = source >= target
    return np.where(surer, source, BOTH * source), np.where(surer, BOTH * target, target)


def lent(anchor: Floats, edges: Edges, asked: Floats, between: Mask) -> Floats:
    """What each relation counts for an anchor one hop beyond one of its ends; ``asked`` is its type's affinity.

    ``between``: whether each entity is of a kind that the question names besides the one that it asks for.

    The relation that the hop was made by gets nothing, nor do those of the same type and direction beside it: they say
    the same of others.
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
    order = steps[np.lexsort((relation[steps], -given[steps]))][::-1]  # the best comes last, and stays
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
    """What the anchors count for each relation: at its source, at its target, and what they add from a hop away."""
    source, target = direct(anchor, edges)
    return source, target, np.maximum(lent(anchor, edges, asked, between) - source - target, 0.0)
