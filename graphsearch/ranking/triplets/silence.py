"""The decision to stay silent: whether anything found answers, or the question is foreign to the graph.

If a question names something known, its requested relation decides: among the relations around the named entities, and
those one hop further if the question names the kind in between ("the service that X uses"), the best must be requested
nearly as much as the best type that such entities have anywhere. The margin depends on the confidence in the requested
type: the less the question's own words indicate it, the wider the margin. If nothing known is named, the words decide:
the best line, or the best described entity, must cover a share of the question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Mask, Rows
from graphsearch.ranking.triplets.triplet_relevance import Edges

NEAR: Final = 1.0
"""Standard deviations that the best relation around a name may be below the best type of such entities, if all of
the question's words belong to that type.
"""
WORDLESS: Final = 1.5
"""Additional deviations if none of them does, and only meaning indicates it. Values from 1 to 2 lose 1 to 2 of 100
questions of four graphs, and silence as many foreign ones.
"""
FLAT: Final = 0.55
"""Share of sqrt(2 ln n), about the maximum of n random values, by which the best of n types must stand out if no word
of the question belongs to it.
"""
FAR: Final = 5.0
"""The margin below the best of all types: a type that only other kinds of entities have may still be meant."""
SAID: Final = 2.0
"""Deviations less of it if all of the question's words belong to that type: who "started" X is not who leads it."""
MANY: Final = 9
"""Number of types from which on that margin is full: the best of n is at most sqrt(n - 1) above the average."""
PAIR: Final = 2
"""Of two types each is always one deviation off, which says nothing."""
WRONG: Final = 3.0
"""Additional standard deviations for a relation in the wrong direction."""
COVERED: Final = 0.3
"""Share of a question's idf that the best line must cover if the question names nothing known."""
DESCRIBED: Final = 0.45
"""Least probability, by the question's own words, that an entity is described. Of 70 questions about code two
are silenced, and of foreign questions 60 to 99 %, fewer the more words they share with the graph.
"""


@attrs.frozen(eq=False, kw_only=True)
class Standing:
    """The inputs of the decision.

    * ``affinity`` of each relation type, and ``meets``: one row per kind of entities, with the types they have.
    * ``edges`` with ``wrong`` as in `Evidence`; ``named``: the rows of certainly named entities, and their ``kinds``.
    * ``between``: kinds that the question mentions besides the requested one; ``kind`` of each entity by row, -1 if
      unknown.
    * ``worded``: the share of the question that belongs to the type with the greatest affinity, by words alone.
    * ``covered``: the greatest share of the question's idf that a line covers; ``described``: as `Alike.covered`.
    * ``ours``: whether a relation is of a type that is asked of who asks: "which database do we use?".
    """

    affinity: Floats
    meets: Mask
    edges: Edges
    wrong: Mask
    named: Mask
    kinds: Sequence[int]
    between: Sequence[int]
    kind: Rows
    worded: float
    covered: float
    described: float = 0.0
    ours: bool = False


def foreign(standing: Standing) -> bool:
    """Whether a question asks for nothing that the graph contains."""
    if standing.ours:
        return False
    if not standing.named.any() or not len(standing.affinity):
        return standing.covered < COVERED and standing.described < DESCRIBED
    if _nothing_stands_out(standing):
        return True
    gap, overall = _gaps(standing)
    types = len(standing.affinity)
    share = min(1.0, math.sqrt((types - 1) / (MANY - 1))) if types > PAIR else 1.0
    far = (FAR - SAID * standing.worded) * share
    return gap < -NEAR - WORDLESS * (1.0 - standing.worded) or overall < -far


def _nothing_stands_out(standing: Standing) -> bool:
    """Whether only meaning indicates a type, and no type more than others; then silent, unless there is no embedder."""
    if standing.worded > 0.0 or not standing.affinity.any():
        return False
    return float(standing.affinity.max()) < FLAT * math.sqrt(2.0 * math.log(len(standing.affinity)))


def _gaps(standing: Standing) -> tuple[float, float]:
    """How far the best available relation is below the best type of the named kinds, and below the best of all."""
    affinity, edges, named = np.append(standing.affinity, standing.affinity.min()), standing.edges, standing.named
    best, greatest = _best_of(standing, standing.kinds), float(standing.affinity.max())
    (adjacent,) = (named[edges.source] | named[edges.target]).nonzero()
    own, wrong = affinity[edges.type[adjacent]], np.where(standing.wrong[adjacent], WRONG, 0.0)
    gap = (np.minimum(own - best, 0.0) - wrong).max(initial=-np.inf)
    overall = (own - wrong - greatest).max(initial=-np.inf)
    if len(standing.between):
        onward = affinity[edges.type[_onward(standing)]].max(initial=-np.inf)
        gap = max(gap, onward - max(best, _best_of(standing, standing.between)))
        overall = max(overall, onward - greatest)
    return float(gap), float(overall)


def _best_of(standing: Standing, kinds: Sequence[int]) -> float:
    """The greatest affinity among the types that entities of some kinds have; of all types if these have none."""
    types = standing.meets[list(kinds)].any(axis=0) if len(kinds) else np.zeros(len(standing.affinity), np.bool_)
    return float(standing.affinity[types].max() if types.any() else standing.affinity.max())


def _onward(standing: Standing) -> Rows:
    """The relations one hop further, of entities of a kind that the question names in between."""
    edges, named = standing.edges, standing.named
    reached = np.zeros(len(named), np.bool_)
    for one, other in ((edges.source, edges.target), (edges.target, edges.source)):
        reached[other[named[one] & ~named[other]]] = True
    reached &= np.isin(standing.kind, list(standing.between))
    onward = (reached[edges.source] & ~named[edges.target]) | (reached[edges.target] & ~named[edges.source])
    return np.flatnonzero(onward)
