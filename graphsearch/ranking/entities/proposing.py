"""Propose the entities that a question may mean, scored by relations, words, meaning and importance; and examine them.

The relations are those that answer the question: it asks for their other ends, as in who manages whom it names. What is
examined are the connections of candidates, and the years in which their memories occurred.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, TypedDict
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Keys, Rows, Steps
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import ElementKind
from graphsearch.question.understanding import Understanding
from graphsearch.ranking.entities.result import FoundEntity, Ranking, RankRequest, Years
from graphsearch.ranking.scores import RRF_K, Part
from graphsearch.ranking.triplets.entity_relevance import IMPORTANCE, NAMED, described
from graphsearch.ranking.triplets.parts import Parts
from graphsearch.ranking.triplets.retrieval import find_around
from graphsearch.ranking.triplets.scoring import Clues, names_alone
from graphsearch.ranking.triplets.triplet_score import NEARER, Findings

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


COUNTED: Final = 100
"""Most relations of an entity that are counted in each direction: a hub costs no more than other entities."""
SHOWN_NAMES: Final = 10
MENTIONED: Final = 500
"""Most mentions of an entity of which the years are read; one with more is of every year."""
RELATIONS: Final = 25
"""Most relations of an entity and direction of which the evidence is read."""


class Connections(TypedDict):
    """The number of relations of one entity, names at the other ends, and their types: see `FoundEntity`."""

    connections: int
    connected_names: tuple[str, ...]
    relation_types: tuple[str, ...]


UNCONNECTED: Final = Connections(connections=0, connected_names=(), relation_types=())


async def connections(entity_ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, Connections]:
    """The connections of visible entities, by id; none of those that do not hold.

    Relations count in both directions, each once, if they pass the view and are visible, with their visible ends.
    """
    near = KeyIndex((await reader.locate(entity_ids)).keys)
    steps = await reader.expand(near.keys, COUNTED)
    rows = steps.rows.keep(kept := _each_once(steps))
    far, others = np.unique(rows.far, return_inverse=True)
    contents = [reader.signatures.contents[row] for row in steps.signatures[kept].tolist()]
    types: list[Counter[str]] = [Counter() for _ in range(len(near))]
    connected: list[dict[int, None]] = [{} for _ in range(len(near))]
    columns = (near.of(rows.near).tolist(), others.tolist(), (rows.near == rows.far).tolist(), contents)
    for owner, other, itself, content in zip(*columns, strict=True):
        types[owner][content.type if content else ""] += 1
        if not itself and len(connected[owner]) < SHOWN_NAMES:
            connected[owner][other] = None
    wanted = sorted({row for rows in connected for row in rows})
    names = {row: entity.name for row, entity in zip(wanted, await reader.entities(far[wanted]), strict=True)}
    return {
        id_: Connections(
            connections=counted.total(),
            connected_names=tuple(names[other] for other in ends),
            relation_types=tuple(kind for kind, _ in sorted(counted.items(), key=lambda each: (-each[1], each[0]))),
        )
        for id_, counted, ends in zip(reader.entity_ids(near.keys), types, connected, strict=True)
    }


def _each_once(steps: Steps) -> Rows:
    """Rows by entity, the most reliable first, ties by relation; loops only once."""
    rows = steps.rows
    order = np.lexsort((rows.relations, -steps.reliability, rows.near))
    near, relations = rows.near[order], rows.relations[order]
    again = np.zeros(len(order), np.bool_)
    again[1:] = (near[1:] == near[:-1]) & (relations[1:] == relations[:-1])
    kept: Rows = order[~again]
    return kept


async def episodes(entity_ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, tuple[Years, ...]]:
    """The years of the visible memories that mention entities or prove their relations, by entity, in order."""
    found = defaultdict[UUID, set[int]](set)
    keys = (await reader.locate(sorted(entity_ids))).keys
    mentioned = await reader.mentioned(ElementKind.ENTITY, keys, MENTIONED)
    memories, places = np.unique(mentioned.far, return_inverse=True)
    occurred = [memory.occurred_at for memory in await reader.memories(memories)]
    for id_, place in zip(reader.entity_ids(mentioned.near), places.tolist(), strict=True):
        if time := occurred[place]:
            found[id_].add(time.year)
    rows = (await reader.expand(keys, RELATIONS)).rows
    relations = await reader.relations(rows.relations)
    cited = sorted({memory for relation in relations for memory in relation.evidence})
    times = {memory.id: memory.occurred_at for memory in await reader.get_memories(cited)}
    for id_, relation in zip(reader.entity_ids(rows.near), relations, strict=True):
        found[id_].update(time.year for memory in relation.evidence if (time := times.get(memory)))
    return {id_: tuple(Years(year, year) for year in sorted(years)) for id_, years in found.items()}
