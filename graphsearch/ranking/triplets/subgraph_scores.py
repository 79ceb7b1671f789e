"""Score the triplets of a subgraph: by distance, importance and feedback, and how reliable their paths are."""

from __future__ import annotations

from itertools import pairwise

import attrs
import numpy as np
from numpy.typing import ArrayLike

from graphsearch.columns import Floats, Rows, Subgraph
from graphsearch.model import RelationType
from graphsearch.model import validation as check
from graphsearch.ranking.triplets.triplet_score import (
    ScoreColumns,
    ScoringOptions,
    proximity_by_distance,
    proximity_by_hops,
    proximity_by_rank,
    score,
)


@attrs.frozen(eq=False, kw_only=True)
class Reliability:
    """The reliability of each relation of a subgraph: the least along the path to it and its own."""

    confidence: Floats
    freshness: Floats
    prior: Floats
    nearer: Rows
    """The row of the endpoint that the path leads to."""

    @classmethod
    def of(cls, subgraph: Subgraph, options: ScoringOptions) -> Reliability:
        """The minimum over the path of the nearer endpoint (ties: the stronger path) and the relation itself."""
        own = np.array((subgraph.confidence, subgraph.freshness, subgraph.prior))
        along = subgraph.along_paths(own, np.minimum)
        if options.path_confidence == "product":
            along[0] = subgraph.along_paths(own[0], np.multiply)
        nearer = _nearer(subgraph, along[0] * along[1] * along[2])
        path = along.take(nearer, axis=1)
        confidence, freshness, prior = np.minimum(path, own)
        if options.path_confidence == "product":
            confidence = path[0] * own[0]
        return cls(confidence=confidence, freshness=freshness, prior=prior, nearer=nearer)


def _nearer(subgraph: Subgraph, strength: Floats) -> Rows:
    """The endpoint of each relation with fewer hops, then the stronger path, then the source."""
    remote = subgraph.hops - 0.5 * strength  # strength, in [0, 1], only breaks ties between equal hops
    nearer = remote.take(subgraph.source) <= remote.take(subgraph.target)
    return np.where(nearer, subgraph.source, subgraph.target)


@attrs.frozen(eq=False, kw_only=True)
class ScoredTriplets:
    """The scores of the relations of a subgraph, one row each, and what they are made of."""

    scores: ScoreColumns
    proximity: Floats
    importance: Floats
    reliability: Reliability


def score_triplets(
    subgraph: Subgraph,
    *,
    distance: ArrayLike | None = None,
    proximity: Floats | None = None,
    reliability: Reliability | None = None,
    options: ScoringOptions | None = None,
) -> ScoredTriplets:
    """Score every relation of a subgraph by the distance of its entities, their importance, and feedback.

    * ``distance``: the cosine distance to the question, in [0, 2], of each entity that was found by its embedding, NaN
      for one that was reached by traversal alone: see `node_distances`. Without it, proximity is that of PageRank where
      there is one, else of hops, by the hop scores of relation types that state none.
    * ``proximity`` in [0, 1] of each relation in place of these: that of the engine's modes is their relevance to the
      question. ``reliability``: that of the paths, if it is known already.

    Raises `InvalidInputError` for distances of another shape or range.
    """
    options = options or ScoringOptions()
    if proximity is None:
        proximity = _proximity(subgraph, distance, options)
    reliability = reliability or Reliability.of(subgraph, options)
    importance = (subgraph.importance.take(subgraph.source) + subgraph.importance.take(subgraph.target)) / 2.0
    scores = score(
        proximity=proximity,
        importance=importance,
        feedback=subgraph.feedback,
        confidence=reliability.confidence,
        freshness=reliability.freshness,
        prior=reliability.prior,
        options=options,
    )
    return ScoredTriplets(scores=scores, proximity=proximity, importance=importance, reliability=reliability)


def _proximity(subgraph: Subgraph, distance: ArrayLike | None, options: ScoringOptions) -> Floats:
    source, target = subgraph.source, subgraph.target
    if distance is not None:
        nodes = node_distances(subgraph, distance, options.traversal_penalty)
        return proximity_by_distance(nodes[source], nodes[target])
    if (rank := subgraph.rank) is not None:
        return proximity_by_rank(rank[source], rank[target], rank.max(initial=0.0))
    return proximity_by_hops(
        np.maximum(subgraph.hops[source], subgraph.hops[target]), RelationType(name="any").hop_scores
    )


def node_distances(subgraph: Subgraph, found: ArrayLike, penalty: float) -> Floats:
    """The distance of each entity from the question: as ``found`` by its embedding, or by a ``penalty`` a hop.

    An entity of which none was found (NaN) is as far as the one before it on its path, and the penalty, at most 2; a
    seed without one was named, and is at 0.
    """
    distance = np.array(found, np.float64)
    check.refuse(
        "distances",
        None
        if distance.shape == subgraph.hops.shape
        else f"must have one number for each of {len(subgraph.hops)} entities",
        None if not ((distance < 0) | (distance > 2)).any() else "must be in [0, 2], or NaN",  # noqa: PLR2004
    )
    unknown = np.isnan(distance)
    distance[unknown & (subgraph.hops == 0)] = 0.0
    for start, end in pairwise(np.bincount(subgraph.hops).cumsum().tolist()):  # earlier hops are already known
        walked = distance[subgraph.previous[start:end]] + penalty
        distance[start:end] = np.where(unknown[start:end], np.minimum(walked, 2.0), distance[start:end])
    return distance
