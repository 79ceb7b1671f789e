"""The findings of a mode: a subgraph with every relation scored, and the few best of them read as whole triplets."""

from __future__ import annotations

from itertools import chain, islice
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Codes, Floats, Mask, Rows, Subgraph
from graphsearch.columns.key_index import distinct
from graphsearch.model import EdgeKind, Triplet, TripletScore
from graphsearch.ranking.triplets.subgraph_scores import Reliability, score_triplets
from graphsearch.ranking.triplets.triplet_relevance import Relevance
from graphsearch.ranking.triplets.triplet_score import (
    LEAST_SHOWN,
    ScoreColumns,
    ScoringOptions,
    proximity_by_confidence,
    proximity_by_hops,
    proximity_by_rank,
)

_KINDS: Final = tuple(EdgeKind)


@attrs.frozen(eq=False, kw_only=True)
class Findings:
    """The relations of a subgraph, scored; those that answer the question, and those that only lead to them."""

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


def proximity_of_hops(subgraph: Subgraph, reliability: Reliability, options: ScoringOptions, reader: Reader) -> Floats:
    """Proximity of each relation by PageRank if there is one, else by the hop score of its farther endpoint."""
    if (rank := subgraph.rank) is not None:
        return proximity_by_rank(rank[subgraph.source], rank[subgraph.target], rank.max(initial=0.0))
    hops = np.maximum(subgraph.hops[subgraph.source], subgraph.hops[subgraph.target])
    return hop_scores(hops, subgraph.signatures, reliability.confidence, options, reader)


def hop_scores(hops: Codes, relations: Rows, confidence: Floats, options: ScoringOptions, reader: Reader) -> Floats:
    """The hop score of each number of hops, from the table of the type of a relation with a signature."""
    if options.hop_table == "by_confidence":
        return proximity_by_confidence(hops, confidence)
    counted = np.arange(hops.max(initial=0) + 1)
    if not len(hops):
        return np.empty(0)
    signatures, which = distinct(relations)
    types = [reader.signatures.types[row] for row in signatures.tolist()]
    proximity: Floats = np.array([proximity_by_hops(counted, known.hop_scores) for known in types])[which, hops]
    return proximity


def findings(subgraph: Subgraph, reliability: Reliability, proximity: Floats, options: ScoringOptions) -> Findings:
    """Score every relation of a subgraph."""
    scored = score_triplets(subgraph, proximity=proximity, reliability=reliability, options=options)
    return Findings(
        subgraph=subgraph,
        reliability=reliability,
        proximity=scored.proximity,
        importance=scored.importance,
        scores=scored.scores,
    )


async def best_triplets(
    found: Findings, limit: int, reader: Reader, *, min_score: float = LEAST_SHOWN
) -> list[Triplet]:
    """The ``limit`` best, in order of score, then structural > semantic > lifecycle, then names and id.

    Those with a score below ``min_score`` are left out.
    """
    rows = _contenders(found, limit)
    if min_score:
        rows = rows[found.scores.value[rows] >= min_score]
    return sorted(await _read(found, rows, reader), key=_place)[:limit]


def _contenders(found: Findings, limit: int) -> Rows:
    """Rows that can be among the best: including all that tie with the last one by score."""
    values = found.answering
    if len(values) <= limit:
        return found.rows()
    likely: Rows = found.rows()[values >= np.partition(values, -limit)[-limit]]
    return likely


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
    parts = [{} if found.relevance is None else found.relevance.shares(row) for row in rows.tolist()]
    return list(map(TripletScore, *(column.take(rows).tolist() for column in columns), hops, parts))
