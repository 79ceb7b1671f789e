"""What a mode finds: a subgraph with every relation scored, and the few best of them read as whole triplets."""

from __future__ import annotations

from itertools import islice
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Floats, Rows, Subgraph
from graphsearch.model import Triplet, TripletScore
from graphsearch.reading import Reader
from graphsearch.scoring.triplets import (
    ScoreColumns,
    ScoringOptions,
    distance_by_hops,
    proximity_by_confidence,
    proximity_by_distance,
    proximity_by_hops,
    score,
)


@attrs.frozen(eq=False, kw_only=True)
class Reliability:
    """How much each relation of a subgraph can be relied on: the least along the path to it and in itself."""

    confidence: Floats
    freshness: Floats
    prior: Floats
    nearer: Rows
    """Row of the endpoint that the path leads to."""

    @classmethod
    def of(cls, subgraph: Subgraph, options: ScoringOptions) -> Reliability:
        """Over the path of the nearer endpoint (tie: the stronger path) and the relation itself (design 5.1)."""
        product = options.path_confidence == "product"
        path_confidence = subgraph.path_confidence_product if product else subgraph.path_confidence
        strength = path_confidence * subgraph.path_freshness * subgraph.path_prior
        source, target = subgraph.source, subgraph.target
        source_hops, target_hops = subgraph.hops[source], subgraph.hops[target]
        to_source = (source_hops < target_hops) | (
            (source_hops == target_hops) & (strength[source] >= strength[target])
        )
        nearer = np.where(to_source, source, target)
        along = path_confidence[nearer]
        return cls(
            confidence=along * subgraph.confidence if product else np.minimum(along, subgraph.confidence),
            freshness=np.minimum(subgraph.path_freshness[nearer], subgraph.freshness),
            prior=np.minimum(subgraph.path_prior[nearer], subgraph.prior),
            nearer=nearer,
        )


@attrs.frozen(eq=False, kw_only=True)
class Findings:
    """The relations of a subgraph, scored."""

    subgraph: Subgraph
    reliability: Reliability
    proximity: Floats
    importance: Floats
    scores: ScoreColumns


def proximity_of_seeds(subgraph: Subgraph, options: ScoringOptions) -> Floats:
    """Proximity of each relation by the embedding distances of its endpoints."""
    distance = distance_by_hops(subgraph.seed_distance, subgraph.hops, options.traversal_penalty)
    return proximity_by_distance(distance[subgraph.source], distance[subgraph.target])


async def proximity_of_hops(
    subgraph: Subgraph, reliability: Reliability, options: ScoringOptions, reader: Reader
) -> Floats:
    """Proximity of each relation by the hop score of its farther endpoint, from the table of the relation's type."""
    hops = np.maximum(subgraph.hops[subgraph.source], subgraph.hops[subgraph.target])
    if options.hop_table == "by_confidence":
        return proximity_by_confidence(hops, reliability.confidence)
    types, row = await reader.types_of(subgraph.signatures)
    by_type = np.array([proximity_by_hops(np.arange(hops.max(initial=0) + 1), known.hop_scores) for known in types])
    proximity: Floats = by_type[row, hops] if len(hops) else np.empty(0)
    return proximity


def findings(subgraph: Subgraph, reliability: Reliability, proximity: Floats, options: ScoringOptions) -> Findings:
    """Score every relation of a subgraph."""
    importance = (subgraph.importance[subgraph.source] + subgraph.importance[subgraph.target]) / 2.0
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


async def best_triplets(found: Findings, limit: int, reader: Reader) -> list[Triplet]:
    """The ``limit`` best, in order of score, then structural > semantic > lifecycle, then names and id."""
    rows = _contenders(found, limit)
    triplets = await _read(found, rows, reader)
    ranked = sorted(zip(triplets, found.subgraph.kind_rank[rows].tolist(), strict=True), key=_place)
    return [triplet for triplet, _ in ranked[:limit]]


def _contenders(found: Findings, limit: int) -> Rows:
    """Rows that can be among the best: all those that tie with the last one by score and kind."""
    values = found.scores.value
    if len(values) <= limit:
        return np.arange(len(values))
    likely = np.flatnonzero(values >= np.partition(values, -limit)[-limit])
    order = likely[np.lexsort((found.subgraph.kind_rank[likely], -values[likely]))]
    last = order[limit - 1]
    tied = (values[order] == values[last]) & (found.subgraph.kind_rank[order] == found.subgraph.kind_rank[last])
    return order[: max(limit, int(np.flatnonzero(tied)[-1]) + 1)]


def _place(ranked: tuple[Triplet, int]) -> tuple[float, int, str, str, str, str]:
    triplet, kind_rank = ranked
    relation = triplet.relation
    return (-triplet.score.value, kind_rank, triplet.source.name, relation.type, triplet.target.name, str(relation.id))


async def _read(found: Findings, rows: Rows, reader: Reader) -> list[Triplet]:
    graph = found.subgraph
    relations = await reader.relations(graph.relations[rows])
    entities = await reader.entities(graph.entities[np.unique((graph.source[rows], graph.target[rows]))])
    return [
        Triplet(
            source=entities[relation.source_id],
            relation=relation,
            target=entities[relation.target_id],
            score=score,
            path=path,
        )
        for relation, score, path in zip(relations, _scores(found, rows), _paths(found, rows, reader), strict=True)
    ]


def _paths(found: Findings, rows: Rows, reader: Reader) -> list[tuple[UUID, ...]]:
    paths = found.subgraph.paths_to(found.reliability.nearer[rows])
    ids = iter(reader.store.relation_ids(np.concatenate(paths)) if paths else ())
    return [tuple(islice(ids, len(path))) for path in paths]


def _scores(found: Findings, rows: Rows) -> list[TripletScore]:
    scores, reliability, graph = found.scores, found.reliability, found.subgraph
    columns = {
        "value": scores.value,
        "strength": scores.strength,
        "confidence": reliability.confidence,
        "freshness": reliability.freshness,
        "prior": reliability.prior,
        "proximity": found.proximity,
        "importance": found.importance,
        "feedback": graph.feedback,
        "proximity_part": scores.proximity_part,
        "importance_part": scores.importance_part,
        "feedback_part": scores.feedback_part,
        "hops": graph.hops[reliability.nearer],
    }
    listed = zip(*(column[rows].tolist() for column in columns.values()), strict=True)
    return [TripletScore(**dict(zip(columns, row, strict=True))) for row in listed]
