"""Rank entities: propose, examine, rank, and select the best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphsearch.access.reader import Reader
from graphsearch.model import Entity
from graphsearch.modes.mode import Question
from graphsearch.query.analysis import Analysis, analyse
from graphsearch.ranking.connecting import Connections, connections
from graphsearch.ranking.options import RankRequest
from graphsearch.ranking.proposing import Proposal, propose
from graphsearch.ranking.result import FoundEntity, RankResult
from graphsearch.ranking.strategies import Candidate, Fields, Ranking, RankingOptions, rank, weights_for
from graphsearch.ranking.temporal import years_of
from graphsearch.relevance.triplet_relevance import CERTAIN
from graphsearch.scoring.similarity import alike_in_terms, maximal_marginal_relevance
from graphsearch.understanding.anchors import find_anchors


async def rank_entities(
    request: RankRequest,
    question: Question,
    feedback_influence: float,
    reader: Reader,
) -> RankResult:
    """The entities that a question asks for; ``question`` is its interpretation."""
    stopwatch = question.stopwatch
    with stopwatch.stage("analysis"):
        analysis = await analysed(request.query, reader)
    with stopwatch.stage("searches"):
        found = await propose(question, request.candidates, reader)
    with stopwatch.stage("ranking"):
        ranked = await scored(found[: request.candidates], analysis, request, question, feedback_influence, reader)
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


async def analysed(query: str, reader: Reader) -> Analysis:
    """The analysis of a question, with the entities that it names."""
    return analyse(query, as_of=reader.view.as_of, anchors=await find_anchors(query, reader))


async def scored(
    proposals: Sequence[Proposal],
    analysis: Analysis,
    request: RankRequest,
    question: Question,
    feedback_influence: float,
    reader: Reader,
) -> list[FoundEntity]:
    """All proposals, by score."""
    by_id = {each.entity.id: each for each in proposals}
    connected = await connections(list(by_id), reader)
    options = RankingOptions(
        ranking=Ranking(request.ranking),
        weights=request.weights or weights_for(Ranking(request.ranking), named=names(question)),
        candidates=max(len(proposals), 1),
        limit=max(len(proposals), 1),
        feedback_influence=feedback_influence,
    )
    candidates = [_candidate(each, connected.get(each.entity.id, Connections())) for each in proposals]
    return [
        FoundEntity(
            entity=by_id[ranked.candidate.id].entity, ranked=ranked, channels=by_id[ranked.candidate.id].channels
        )
        for ranked in rank(candidates, analysis, options)
    ]


def names(question: Question) -> bool:
    """Whether a question names anything for certain."""
    meant = question.understanding
    return meant is not None and any(each > CERTAIN for each in meant.linked.probabilities.values())


def chosen(ranked: Sequence[FoundEntity], request: RankRequest) -> list[FoundEntity]:
    """The entities to show: the best, or picked for diversity."""
    good = [each for each in ranked if each.score >= request.min_score]
    if not request.diversity or not good:
        return good[: request.limit]
    texts = [f"{each.entity.name}\n{each.entity.description}" for each in good]
    picks = maximal_marginal_relevance(
        [each.score for each in good], alike_in_terms(texts), balance=1.0 - request.diversity, limit=request.limit
    )
    return [good[pick.row] for pick in picks]


def _candidate(proposal: Proposal, connected: Connections) -> Candidate:
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
        years=years_of(entity),
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
    return "no entity shares a word or a meaning with the question"
