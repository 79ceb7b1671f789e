"""The relations of a subgraph scored, by distance, importance, feedback and the reliability of their paths.

The few best of them are read as whole triplets.
"""

from __future__ import annotations

from itertools import chain, islice, pairwise
from typing import Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import ArrayLike

from graphsearch.access.reader import Reader
from graphsearch.columns import Codes, Floats, Mask, Rows, Subgraph
from graphsearch.columns.key_index import distinct
from graphsearch.model import EdgeKind, RelationType, Triplet, TripletScore
from graphsearch.model import validation as check
from graphsearch.ranking.triplets.triplet_relevance import Relevance
from graphsearch.ranking.triplets.triplet_score import (
    LEAST_SHOWN,
    ScoreColumns,
    ScoringOptions,
    proximity_by_confidence,
    proximity_by_distance,
    proximity_by_hops,
    proximity_by_rank,
    score,
)

_KINDS: Final = tuple(EdgeKind)


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
        """The minimum over the path of the nearer endpoint and the relation itself.

        The nearer endpoint is the one of fewer hops, then of the stronger path, then the source.
        """
        own = np.array((subgraph.confidence, subgraph.freshness, subgraph.prior))
        along = subgraph.along_paths(own, np.minimum)
        product = options.path_confidence == "product"
        if product:
            along[0] = subgraph.along_paths(own[0], np.multiply)
        remote = subgraph.hops - 0.5 * along.prod(axis=0)  # strength, in [0, 1], only breaks ties between equal hops
        is_source = remote.take(subgraph.source) <= remote.take(subgraph.target)
        nearer = np.where(is_source, subgraph.source, subgraph.target)
        path = along.take(nearer, axis=1)
        confidence, freshness, prior = np.minimum(path, own)
        if product:
            confidence = path[0] * own[0]
        return cls(confidence=confidence, freshness=freshness, prior=prior, nearer=nearer)


@attrs.frozen(eq=False, kw_only=True)
class Findings:
    """The relations of a subgraph, scored, one row each: what answers a question, and what only leads to it."""

    subgraph: Subgraph
    reliability: Reliability
    proximity: Floats
    importance: Floats
    scores: ScoreColumns
    answers: Mask | None = None
    """None if all relations answer."""
    relevance: Relevance | None = None
    """The parts of the proximity, if it has more than one."""

    @property
    def answering(self) -> Floats:
        """The scores of the relations that answer."""
        return self.scores.value if self.answers is None else self.scores.value[self.answers]

    def rows(self) -> Rows:
        """The relations that answer."""
        return np.arange(len(self.scores.value)) if self.answers is None else np.flatnonzero(self.answers)


def score_triplets(
    subgraph: Subgraph,
    *,
    distance: ArrayLike | None = None,
    proximity: Floats | None = None,
    reliability: Reliability | None = None,
    options: ScoringOptions | None = None,
) -> Findings:
    """Score every relation of a subgraph by the distance of its entities, their importance, and feedback.

    * ``distance``: the cosine distance to the question, in [0, 2], of each entity that was found by its embedding, NaN
      for one that was reached by traversal alone: see `node_distances`. Without it, proximity is that of PageRank where
      there is one, else of hops, by the hop scores of relation types that state none.
    * ``proximity`` in [0, 1] of each relation in place of these: that of the engine's modes is their relevance to the
      question. ``reliability``: that of the paths, if it is known already.

    Raises `InvalidInputError` for distances of another shape or range.
    """
    options = options or ScoringOptions()
    reliability = reliability or Reliability.of(subgraph, options)
    if distance is not None:
        nodes = node_distances(subgraph, distance, options.traversal_penalty)
        proximity = proximity_by_distance(nodes[subgraph.source], nodes[subgraph.target])
    elif proximity is None:
        proximity = proximity_of_hops(subgraph, reliability, options)
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
    return Findings(
        subgraph=subgraph, reliability=reliability, proximity=proximity, importance=importance, scores=scores
    )


# -- proximity ---------------------------------------------------------------------------------------------------------


def proximity_of_hops(
    subgraph: Subgraph, reliability: Reliability, options: ScoringOptions, reader: Reader | None = None
) -> Floats:
    """Proximity of each relation by PageRank if there is one, else by the hop score of its farther endpoint.

    Hop scores are those of relation types as a reader knows them; without one those of types that state none.
    """
    source, target = subgraph.source, subgraph.target
    if (rank := subgraph.rank) is not None:
        return proximity_by_rank(rank[source], rank[target], rank.max(initial=0.0))
    hops = np.maximum(subgraph.hops[source], subgraph.hops[target])
    if reader is None:
        return proximity_by_hops(hops, RelationType(name="any").hop_scores)
    return hop_scores(hops, subgraph.signatures, reliability.confidence, options, reader)


def hop_scores(hops: Codes, relations: Rows, confidence: Floats, options: ScoringOptions, reader: Reader) -> Floats:
    """The hop score of each number of hops, from the table of the type of a relation with a signature."""
    if options.hop_table == "by_confidence":
        return proximity_by_confidence(hops, confidence)
    if not len(hops):
        return np.empty(0)
    counted = np.arange(hops.max() + 1)
    signatures, which = distinct(relations)
    types = [reader.signatures.types[row] for row in signatures.tolist()]
    proximity: Floats = np.array([proximity_by_hops(counted, known.hop_scores) for known in types])[which, hops]
    return proximity


def node_distances(subgraph: Subgraph, found: ArrayLike, penalty: float) -> Floats:
    """The distance of each entity from the question: as ``found`` by its embedding, or by a ``penalty`` a hop.

    An entity of which none was found (NaN) is as far as the one before it on its path, and the penalty, at most 2; a
    seed without one was named, and is at 0.
    """
    distance = np.array(found, np.float64)
    fits, of = distance.shape == subgraph.hops.shape, len(subgraph.hops)
    check.refuse(
        "distances",
        None if fits else f"must have one number for each of {of} entities",
        None if not ((distance < 0) | (distance > 2)).any() else "must be in [0, 2], or NaN",  # noqa: PLR2004
    )
    unknown = np.isnan(distance)
    distance[unknown & (subgraph.hops == 0)] = 0.0
    for start, end in pairwise(np.bincount(subgraph.hops).cumsum().tolist()):  # earlier hops are already known
        walked = distance[subgraph.previous[start:end]] + penalty
        distance[start:end] = np.where(unknown[start:end], np.minimum(walked, 2.0), distance[start:end])
    return distance


# -- the best, read whole ----------------------------------------------------------------------------------------------


async def best_triplets(
    found: Findings, limit: int, reader: Reader, *, min_score: float = LEAST_SHOWN
) -> list[Triplet]:
    """The ``limit`` best, in order of score, then structural > semantic > lifecycle, then names and id.

    Those with a score below ``min_score`` are left out.
    """
    rows, values = found.rows(), found.answering
    if len(values) > limit:  # all that tie with the last one may be among the best
        rows = rows[values >= np.partition(values, -limit)[-limit]]
    if min_score:
        rows = rows[found.scores.value[rows] >= min_score]
    return sorted(await _read(found, rows, reader), key=_place)[:limit]


def _place(triplet: Triplet) -> tuple[float, int, str, str, str, UUID]:
    relation = triplet.relation
    # the kind as shown: that of a stored signature says whether something hidden ended the relation
    kind = _KINDS.index(relation.kind)
    return (-triplet.score, kind, triplet.source.name, relation.type, triplet.target.name, relation.id)


async def _read(found: Findings, rows: Rows, reader: Reader) -> list[Triplet]:
    graph = found.subgraph
    relations = await reader.relations(graph.relations.take(rows))
    sources, targets = graph.source.take(rows).tolist(), graph.target.take(rows).tolist()
    ends = sorted({*sources, *targets})
    entities = dict(zip(ends, await reader.entities(graph.entities.take(ends)), strict=True))
    columns = (relations, sources, targets, _scores(found, rows), _paths(found, rows, reader))
    return [
        Triplet(source=entities[source], relation=relation, target=entities[target], breakdown=score, path=path)
        for relation, source, target, score, path in zip(*columns, strict=True)
    ]


def _paths(found: Findings, rows: Rows, reader: Reader) -> list[tuple[UUID, ...]]:
    graph = found.subgraph
    paths = [graph.path_to(entity) for entity in found.reliability.nearer[rows].tolist()]
    ids = iter(reader.relation_ids(graph.relations[list(chain.from_iterable(paths))]))
    return [tuple(islice(ids, len(path))) for path in paths]


def _scores(found: Findings, rows: Rows) -> list[TripletScore]:
    scores, reliability, graph = found.scores, found.reliability, found.subgraph
    columns = (  # in the order of the fields, except for the last
        scores.value,
        scores.strength,
        reliability.confidence,
        reliability.freshness,
        reliability.prior,
        found.proximity,
        found.importance,
        graph.feedback,
        scores.proximity_part,
        scores.importance_part,
        scores.feedback_part,
    )
    hops = graph.hops.take(reliability.nearer.take(rows)).tolist()
    parts = [{} for _ in hops] if found.relevance is None else found.relevance.shares(rows)
    return list(map(TripletScore, *(column.take(rows).tolist() for column in columns), hops, parts))
