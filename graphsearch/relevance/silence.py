"""Whether anything that was found answers at all, or a question is foreign to the graph.

Where a question names something known, its asked relation decides: of the relations around the named entities, and of
those one hop on where the question names the kind of thing between ("the service that X uses"), the best must be
asked for nearly as much as the best type that such entities have anywhere. How nearly depends on how surely that type
is asked for: the less the question's own words say so, the more the best may lie behind. Where nothing known is named,
the words decide: the best line, or the entity that is described best, must hold a share of the question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Mask, Rows
from graphsearch.relevance.anchored import Edges

NEAR: Final = 1.0
"""Standard deviations that the best relation around a name may lie below the best type of such entities, where all of
the question's words belong to that type."""
WORDLESS: Final = 1.5
"""How many more where none of them does, and meaning alone asks for it. Anything from 1 to 2 loses 1 to 2 of 100
questions of four graphs, and silences as much."""
FLAT: Final = 0.55
"""Share of sqrt(2 ln n), about what the greatest of n random values stands out by, that the best of n types must stand
out by where no word of the question belongs to it."""
FAR: Final = 5.0
"""And below the best of all types: what only other kinds of entities have may still be meant."""
WRONG: Final = 3.0
"""Standard deviations that a relation in the wrong direction lies further below."""
COVERED: Final = 0.3
"""Share of a question's idf that the best line must hold where the question names nothing known."""
DESCRIBED: Final = 0.45
"""And the least of how surely an entity is described in the question's own words. Of 70 questions about code two
are silenced, and of questions about something else 60 to 99 in a hundred, the fewer, the more words they share."""


@attrs.frozen(eq=False, kw_only=True)
class Standing:
    """What silence is decided from.

    * ``affinity`` of each relation type, and ``meets``: a row a kind of entities, which types such entities have.
    * ``edges`` with ``wrong`` as in `Evidence`; ``named``: the entities named for certain, by row, and their ``kinds``.
    * ``between``: kinds that the question names besides the one that it asks for; ``kind`` of each entity by row, -1
      where it is not known.
    * ``worded``: the share of the question that belongs to the type with the greatest affinity, by words alone.
    * ``covered``: the greatest share of the question's idf that a line holds; ``described``: as `Alike.covered`.
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


def foreign(standing: Standing) -> bool:
    """Whether a question asks for nothing that the graph has to say."""
    if not standing.named.any() or not len(standing.affinity):
        return standing.covered < COVERED and standing.described < DESCRIBED
    if _nothing_stands_out(standing):
        return True
    gap, overall = _gaps(standing)
    return gap < -NEAR - WORDLESS * (1.0 - standing.worded) or overall < -FAR


def _nothing_stands_out(standing: Standing) -> bool:
    """Whether meaning alone speaks, and asks for no type more than for others; silent where there is no embedder."""
    if standing.worded > 0.0 or not standing.affinity.any():
        return False
    return float(standing.affinity.max()) < FLAT * math.sqrt(2.0 * math.log(len(standing.affinity)))


def _gaps(standing: Standing) -> tuple[float, float]:
    """How far the best relation there is lies below the best type of the named kinds, and below the best of all."""
    asked, edges, named = np.append(standing.affinity, standing.affinity.min()), standing.edges, standing.named
    best, greatest = _best_of(standing, standing.kinds), float(standing.affinity.max())
    beside = named[edges.source] | named[edges.target]
    wrong = np.where(standing.wrong, WRONG, 0.0)
    gap = _most(np.minimum(asked[edges.type] - best, 0.0) - wrong, beside)
    overall = _most(asked[edges.type] - wrong - greatest, beside)
    onward = _onward(standing)
    if onward.any():
        best = max(best, _best_of(standing, standing.between))
        gap = max(gap, _most(asked[edges.type] - best, onward))
        overall = max(overall, _most(asked[edges.type] - greatest, onward))
    return gap, overall


def _best_of(standing: Standing, kinds: Sequence[int]) -> float:
    """The greatest affinity among the types that entities of some kinds have; of all types where these have none."""
    types = standing.meets[list(kinds)].any(axis=0) if len(kinds) else np.zeros(len(standing.affinity), np.bool_)
    return float(standing.affinity[types].max() if types.any() else standing.affinity.max())


def _onward(standing: Standing) -> Mask:
    """The relations one hop on, of entities of a kind that the question names between."""
    edges, named = standing.edges, standing.named
    reached = np.zeros(len(named), np.bool_)
    for one, other in ((edges.source, edges.target), (edges.target, edges.source)):
        reached[other[named[one] & ~named[other]]] = True
    reached &= np.isin(standing.kind, list(standing.between))
    onward: Mask = (reached[edges.source] & ~named[edges.target]) | (reached[edges.target] & ~named[edges.source])
    return onward


def _most(values: Floats, among: Mask) -> float:
    return float(values[among].max()) if among.any() else -np.inf
