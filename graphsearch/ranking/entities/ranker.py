"""Rank entities: propose, examine, rank, and select the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Rows, Steps
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import Entity
from graphsearch.question.analysis import Analysis, analyse
from graphsearch.question.linking import anchors_of
from graphsearch.question.understanding import Understanding
from graphsearch.ranking.diversity import diverse_rows
from graphsearch.ranking.entities.episodes import episodes
from graphsearch.ranking.entities.options import Ranking, RankRequest, weights_for
from graphsearch.ranking.entities.proposing import Proposal, by_reciprocal_rank, propose
from graphsearch.ranking.entities.result import FoundEntity, RankResult
from graphsearch.ranking.entities.strategies import SHOWN_NAMES, Candidate, Fields, Years, rank, years_of
from graphsearch.ranking.triplets.parts import Parts
from graphsearch.ranking.triplets.triplet_relevance import CERTAIN

COUNTED: Final = 100
"""Most relations of an entity that are counted in each direction: a hub costs no more than other entities."""


async def rank_entities(
    request: RankRequest, meaning: Understanding | None, parts: Parts, reader: Reader
) -> RankResult:
    """The entities that a question asks for, at the time that it names; its meaning is None if it is blank."""
    stopwatch, now = parts.stopwatch, reader.view.as_of
    reader = at_time_asked(meaning, reader)
    with stopwatch.stage("analysis"):
        analysis = analysed(request.query, meaning, now)
    with stopwatch.stage("searches"):
        found = await proposed(request, meaning, parts, reader)
    with stopwatch.stage("ranking"):
        ranked = await scored(found[: request.candidates], analysis, request, meaning, parts, reader)
        entities = chosen(ranked, request)
    return RankResult(
        query=request.query,
        ranking=request.ranking,
        entities=tuple(entities),
        analysis=analysis,
        as_of=reader.view.as_of,
        known_at=reader.view.known_at,
        found=len(found),
        denied=reader.denied,
        reason="" if entities else _why_nothing(request, len(ranked)),
        timings=stopwatch.milliseconds,
    )


def at_time_asked(meaning: Understanding | None, reader: Reader) -> Reader:
    """Move a reader to the time that a question asks about."""
    return reader if meaning is None else reader.viewing(meaning.time.view(reader.view))


async def proposed(request: RankRequest, meaning: Understanding | None, parts: Parts, reader: Reader) -> list[Proposal]:
    """The entities that a question may mean, best first: by relevance, or by ranks alone if that is asked for."""
    found = await propose(meaning, request.candidates, parts, reader)
    return by_reciprocal_rank(found) if request.ranking == Ranking.RRF and request.weights is None else found


def analysed(question: str, meaning: Understanding | None, now: datetime) -> Analysis:
    """The analysis of a question, with the entities that it names."""
    named = () if meaning is None else anchors_of(question, meaning.linked.links)
    return analyse(question, as_of=now, anchors=named)


async def scored(
    proposals: Sequence[Proposal],
    analysis: Analysis,
    request: RankRequest,
    meaning: Understanding | None,
    parts: Parts,
    reader: Reader,
) -> list[FoundEntity]:
    """All proposals, by score."""
    by_id = {each.entity.id: each for each in proposals}
    connected = await connections(list(by_id), reader)
    weights = request.weights or weights_for(
        Ranking(request.ranking), named=names(meaning), dated=bool(analysis.periods)
    )
    undated = [each.entity.id for each in proposals if not years_of(each.entity)] if analysis.periods else []
    occurred = await episodes(undated, reader) if undated else {}
    candidates = [
        _candidate(each, connected.get(each.entity.id, Connections()), occurred.get(each.entity.id, ()))
        for each in proposals
    ]
    return [
        FoundEntity(
            entity=by_id[ranked.candidate.id].entity, ranked=ranked, channels=by_id[ranked.candidate.id].channels
        )
        for ranked in rank(candidates, analysis, weights, parts.scoring.feedback_influence)
    ]


def names(meaning: Understanding | None) -> bool:
    """Whether a question names anything for certain."""
    return meaning is not None and any(each > CERTAIN for each in meaning.linked.probabilities.values())


def chosen(ranked: Sequence[FoundEntity], request: RankRequest) -> list[FoundEntity]:
    """The entities to show: the best, or picked for diversity."""
    good = [each for each in ranked if each.score >= request.min_score]
    if not request.diversity or not good:
        return good[: request.limit]
    texts = [f"{each.entity.name}\n{each.entity.description}" for each in good]
    scores = [each.score for each in good]
    return [good[row] for row in diverse_rows(scores, texts, diversity=request.diversity, limit=request.limit)]


def _candidate(proposal: Proposal, connected: Connections, occurred: tuple[Years, ...]) -> Candidate:
    entity = proposal.entity
    return Candidate(
        id=entity.id,
        type=entity.type,
        fields=Fields(
            name="\n".join((entity.name, *entity.aliases)),
            summary=entity.description,
            connected=connected.names,
            attributes=tuple(_texts(entity)),
            labels=entity.labels,
        ),
        original=proposal.original,
        connections=connected.count,
        years=years_of(entity) or occurred,
        relation_types=connected.types,
        feedback_weight=entity.feedback_weight,
    )


def _texts(entity: Entity) -> Iterator[str]:
    """The texts in the attributes of an entity, with the attribute names."""
    for name, value in entity.attributes.items():
        yield name
        yield from _words(value)


def _words(value: Any) -> Iterator[str]:
    match value:
        case Mapping():
            for name, item in value.items():
                yield name
                yield from _words(item)
        case list() | tuple():
            for item in value:
                yield from _words(item)
        case None:
            return
        case _:
            yield str(value)


def _why_nothing(request: RankRequest, ranked: int) -> str:
    if not request.query.strip():
        return "nothing was asked"
    if ranked:
        return f"none of {ranked} entities scores {request.min_score:g} or more"
    return "no visible entity shares a word or a meaning with the question"


@attrs.frozen(kw_only=True)
class Connections:
    """The relations of one entity.

    * ``count``: in both directions, distinct.
    * ``names``: of at most ten neighbours, by the most reliable relations (confidence × freshness × prior) first.
    * ``types``: of the relations, the most frequent first, then by name.
    """

    count: int = 0
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


async def connections(entity_ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, Connections]:
    """The connections of visible entities, by id; see `COUNTED`.

    Relations count if they pass the view and are visible, with their visible ends.
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
            count=types[row].total(),
            names=tuple(names[other] for other in connected[row]),
            types=tuple(kind for kind, _ in sorted(types[row].items(), key=_by_frequency)),
        )
        for row, id_ in enumerate(reader.entity_ids(near.keys))
    }


def _by_frequency(counted: tuple[str, int]) -> tuple[int, str]:
    kind, number = counted
    return -number, kind


def _each_once(steps: Steps) -> Rows:
    """Rows by entity, the most reliable first, ties by relation; loops only once."""
    rows = steps.rows
    order = np.lexsort((rows.relations, -steps.reliability, rows.near))
    near, relations = rows.near[order], rows.relations[order]
    again = np.zeros(len(order), np.bool_)
    again[1:] = (near[1:] == near[:-1]) & (relations[1:] == relations[:-1])
    kept: Rows = order[~again]
    return kept
