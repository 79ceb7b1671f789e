"""Proposals: the entities that a question may mean, scored by relations, words, meaning and importance.

The relations are those that answer the question: it asks for their other ends, as in who manages whom it names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Keys
from graphsearch.columns.key_index import KeyIndex
from graphsearch.question.understanding import Understanding
from graphsearch.ranking.entities.options import Ranking, RankRequest
from graphsearch.ranking.entities.result import FoundEntity
from graphsearch.ranking.fusion import RRF_K, Part
from graphsearch.ranking.triplets.entity_relevance import IMPORTANCE, NAMED, described
from graphsearch.ranking.triplets.findings import Findings
from graphsearch.ranking.triplets.parts import Parts
from graphsearch.ranking.triplets.retrieval import find_around
from graphsearch.ranking.triplets.scoring import Clues, names_alone
from graphsearch.ranking.triplets.triplet_score import NEARER

SEARCHED: Final = 100
"""Least number of hits of each search."""
SEEDS: Final = 10
"""The nearest entities from which relations that answer are searched for."""
HOPS: Final = 2
HOPS_OF_NAMES: Final = 3
"""From names alone, without an embedding."""
SHOWN: Final = 10
"""Relations of which the scores are exact."""
SEARCHES: Final = ("relations", "lexical", "semantic")
ANSWER: Final = 3.0
"""The weight of the entity at the other end of the best answering relation: above that of any description."""


async def propose(
    request: RankRequest, meaning: Understanding | None, parts: Parts, reader: Reader
) -> list[FoundEntity]:
    """Visible entities by relevance, or by reciprocal ranks alone, best first, ties by id; none for a blank question.

    Each search returns at least as many as the request has candidates.
    """
    if meaning is None:
        return []
    limit = max(SEARCHED, request.candidates)
    answers = await answering(meaning, limit, parts, reader)
    found = await described(meaning, limit, parts.caches.lexicon, reader, list(answers))
    answer = np.array([answers.get(id_, 0.0) for id_ in found.ids])
    channels = {
        "relations": _parts(answer, ANSWER),
        "lexical": _parts(found.share, 1.0),
        "semantic": _parts(found.cosine, found.weight),
        "importance": _parts(found.hits.importance, IMPORTANCE),
        "named": _parts(found.named.astype(float), NAMED),
    }
    entities, originals = await reader.entities(found.hits.keys), (found.relevance + ANSWER * answer).tolist()
    proposed = [
        FoundEntity(
            entity=entity,
            original=original,
            channels={name: parts_of[row] for name, parts_of in channels.items() if row in parts_of},
        )
        for row, (entity, original) in enumerate(zip(entities, originals, strict=True))
    ]
    if request.ranking == Ranking.RRF and request.weights is None:
        proposed = [ranked for each in proposed if (ranked := _by_reciprocal_rank(each)).channels]
    return sorted(proposed, key=lambda each: (-each.original, each.entity.id))


def _by_reciprocal_rank(found: FoundEntity) -> FoundEntity:
    """The same by the sum of 1 / (60 + rank) over the channels that searched it; importance is none."""
    channels = {
        name: attrs.evolve(part, weight=1.0, contribution=1.0 / (RRF_K + part.rank))
        for name, part in found.channels.items()
        if name in SEARCHES
    }
    return attrs.evolve(found, original=math.fsum(each.contribution for each in channels.values()), channels=channels)


def _parts(scores: Floats, weight: float) -> Mapping[int, Part]:
    """The contribution of one channel by row, with its rank there, ties in the overall order; none for 0."""
    order = np.argsort(-scores, kind="stable").tolist()
    return {
        row: Part(rank=rank, score=score, weight=weight, contribution=weight * score)
        for rank, (row, score) in enumerate(zip(order, scores[order].tolist(), strict=True), 1)
        if weight * score > 0
    }


async def answering(meaning: Understanding, limit: int, parts: Parts, reader: Reader) -> Mapping[UUID, float]:
    """The weight of the best ``limit`` answering entities relative to the best, in (0, 1].

    Empty if the question names nothing for certain, or consists of names only. The reader is at the time that it asks
    about.
    """
    if names_alone(meaning):
        return {}
    named = Clues.of(meaning, reader).certain
    if not len(named):
        return {}
    depth = HOPS_OF_NAMES if meaning.vector is None else HOPS
    found = (await find_around(meaning, parts, reader, limit=SHOWN, seeds=SEEDS, depth=depth)).findings
    worth = _worth(found, named)
    best = np.argsort(-worth, kind="stable")[:limit]
    best = best[worth[best] > 0]
    ids = reader.entity_ids(found.subgraph.entities[best])
    return dict(zip(ids, (worth[best] / worth.max(initial=0.0)).tolist(), strict=True))


def _worth(found: Findings, named: Keys) -> Floats:
    """The score of each entity of a subgraph as an answer: the greatest of the relations that end there.

    Of a relation at a name only the other end answers.
    """
    graph, rows = found.subgraph, found.rows()
    names = np.zeros(len(graph.entities), np.bool_)
    places = KeyIndex(graph.entities).of(named)
    names[places[places >= 0]] = True
    value = (found.scores.strength * found.proximity)[rows]
    worth = np.zeros(len(graph.entities))
    one, other = graph.source[rows], graph.target[rows]
    for end, far in ((one, other), (other, one)):
        nearer = ~names[end] & ~names[far] & (graph.hops[end] < graph.hops[far])
        counted = np.where(names[end] & ~names[far], 0.0, np.where(nearer, NEARER, 1.0))
        np.maximum.at(worth, end, counted * value)
    return worth
