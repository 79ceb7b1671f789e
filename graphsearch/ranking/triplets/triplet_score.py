"""The score of a triplet, over numbers or columns of numbers alike; and the entities that triplets are about.

    score = strength × nearness × [ (1 − φ) · ((1 − ι) + ι · importance) + φ · feedback ]
    nearness = proximity ^ (1 + φ / (2 + φ) · (1 − 2 · feedback))

Convex inside the brackets, so it stays in [0, 1] and rises with every input; its three parts add up to it. Importance
and feedback order what is near the question; they cannot lift what is not. Feedback also counts as a little nearer or
farther: so what is loved overtakes what is rejected a hop nearer. Without feedback (0.5) nearness is the proximity; the
exponent is the greatest by which one session, which moves feedback by at most α, moves no score by more than φ · α.

Of the entities of an answer, a thing that the question describes, or that is all it names, comes first. If it asks for
something about what it names, the answer is at the other end of a relation: for "Priya reports_to Sarah", the asker
already knew Priya.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Literal
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Codes, Floats
from graphsearch.model import Entity, Triplet
from graphsearch.model import validation as check

LEAST_SHOWN: Final = 1e-6
"""A relation that scores less is not shown anywhere."""


Numbers = Floats | float
Hops = Codes | int


@attrs.frozen(kw_only=True)
class ScoringOptions:
    """The constants of the score.

    * ``feedback_influence`` φ and ``importance_influence`` ι: in [0, 1].
    * ``traversal_penalty``: what a hop adds to the distance of an entity not found by its embedding, in [0, 2].
    * ``path_confidence``: the confidence of a path is that of its weakest relation ("minimum"), or the product of all
      ("product").
    * ``combine``: strength is confidence × freshness × prior ("product"), or the score is limited by the worst of
      proximity, confidence × freshness, and prior ("worst").
    * ``hop_table``: hop scores "by_type" of the relation (`RelationType.hop_scores`), or "by_confidence": 1.0 up to one
      hop, 0.5 × confidence for two, then 0.
    """

    feedback_influence: float = 0.3
    importance_influence: float = 0.2
    traversal_penalty: float = 0.25
    path_confidence: Literal["minimum", "product"] = "minimum"
    combine: Literal["product", "worst"] = "product"
    hop_table: Literal["by_type", "by_confidence"] = "by_type"

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "scoring options",
            check.unit("feedback_influence", self.feedback_influence),
            check.unit("importance_influence", self.importance_influence),
            check.number("traversal_penalty", self.traversal_penalty, 0.0, 2.0),
            check.one_of("path_confidence", self.path_confidence, ("minimum", "product")),
            check.one_of("combine", self.combine, ("product", "worst")),
            check.one_of("hop_table", self.hop_table, ("by_type", "by_confidence")),
        )


@attrs.frozen(eq=False, kw_only=True)
class ScoreColumns:
    """Scores of many triplets and the parts that add up to them."""

    value: Floats
    strength: Floats
    proximity_part: Floats
    importance_part: Floats
    feedback_part: Floats


def proximity_by_hops(hops: Hops, table: tuple[float, ...]) -> Floats:
    """The hop score of the farther endpoint, n hops from an anchor: ``table[n]``, and 0 beyond the table."""
    scores = np.array((*table, 0.0))
    return np.asarray(scores[np.minimum(np.asarray(hops), len(table))])


def proximity_by_confidence(hops: Hops, confidence: Numbers) -> Floats:
    """1.0 up to one hop, 0.5 × confidence for two, then 0."""
    return np.select([np.asarray(hops) <= 1, np.asarray(hops) == 2], [1.0, 0.5 * confidence], 0.0)  # noqa: PLR2004


def proximity_by_distance(source: Numbers, target: Numbers) -> Floats:
    """1 − (both distances) / 4, for cosine distances in [0, 2]."""
    return np.asarray(1.0 - (np.asarray(source) + target) / 4.0)


def proximity_by_rank(source: Numbers, target: Numbers, greatest: float) -> Floats:
    """The harmonic mean of both entities' PageRank, divided by the greatest of all.

    What a hub is related to like everything else has hardly any rank of its own, so that the hub's does not lift it.
    """
    source, target = np.asarray(source), np.asarray(target)
    both = source + target
    return np.asarray(np.divide(2.0 * source * target, both * greatest, out=np.zeros_like(both), where=both > 0))


def score(
    *,
    proximity: Numbers,
    importance: Numbers,
    feedback: Numbers,
    confidence: Numbers,
    freshness: Numbers,
    prior: Numbers,
    options: ScoringOptions,
) -> ScoreColumns:
    """Scores and their parts, from values in [0, 1] of one shape (or single numbers)."""
    reliable = np.asarray(confidence) * freshness
    phi, iota = options.feedback_influence, options.importance_influence
    near = np.asarray(proximity) ** (1.0 + phi / (2.0 + phi) * (1.0 - 2.0 * np.asarray(feedback)))
    if options.combine == "worst":
        strength = np.minimum(reliable, prior)
        nearness = np.minimum(near, strength)
    else:
        strength = reliable * prior
        nearness = near * strength
    proximity_part = (1.0 - phi) * (1.0 - iota) * nearness
    importance_part = (1.0 - phi) * iota * importance * nearness
    feedback_part = phi * feedback * nearness
    return ScoreColumns(
        value=proximity_part + importance_part + feedback_part,
        strength=strength,
        proximity_part=proximity_part,
        importance_part=importance_part,
        feedback_part=feedback_part,
    )


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
