"""Rank entities: propose, examine, rank, and select the best."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs

from graphsearch.access.reader import Reader
from graphsearch.question.analysis import Analysis, analyse
from graphsearch.question.linking import anchors_of
from graphsearch.question.understanding import Understanding, at_time_asked
from graphsearch.ranking.diversity import diverse_rows
from graphsearch.ranking.entities.examining import UNCONNECTED, connections, episodes
from graphsearch.ranking.entities.factors import rank, years_of
from graphsearch.ranking.entities.options import Ranking, RankRequest, weights_for
from graphsearch.ranking.entities.proposing import propose
from graphsearch.ranking.entities.result import FoundEntity, RankResult
from graphsearch.ranking.triplets.parts import Parts
from graphsearch.ranking.triplets.triplet_relevance import CERTAIN


async def rank_entities(
    request: RankRequest, meaning: Understanding | None, parts: Parts, reader: Reader
) -> RankResult:
    """The entities that a question asks for, at the time that it names; its meaning is None if it is blank."""
    stopwatch, now = parts.stopwatch, reader.view.as_of
    reader = at_time_asked(meaning, reader)
    with stopwatch.stage("analysis"):
        analysis = analysed(request.query, meaning, now)
    with stopwatch.stage("searches"):
        found = await propose(request, meaning, parts, reader)
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


def analysed(question: str, meaning: Understanding | None, now: datetime) -> Analysis:
    """The analysis of a question, with the entities that it names."""
    named = () if meaning is None else anchors_of(question, meaning.linked.links)
    return analyse(question, as_of=now, anchors=named)


async def scored(
    found: Sequence[FoundEntity],
    analysis: Analysis,
    request: RankRequest,
    meaning: Understanding | None,
    parts: Parts,
    reader: Reader,
) -> list[FoundEntity]:
    """All that was found, by score; the years of what is not dated are those of its memories."""
    connected = await connections([each.entity.id for each in found], reader)
    dates = {each.entity.id: years_of(each.entity) for each in found}
    if analysis.periods and (undated := [id_ for id_, years in dates.items() if not years]):
        dates |= await episodes(undated, reader)
    named = meaning is not None and any(each > CERTAIN for each in meaning.linked.probabilities.values())
    weights = request.weights or weights_for(Ranking(request.ranking), named=named, dated=bool(analysis.periods))
    examined = [
        attrs.evolve(each, dates=dates[each.entity.id], **connected.get(each.entity.id, UNCONNECTED)) for each in found
    ]
    return rank(examined, analysis, weights, parts.scoring.feedback_influence)


def chosen(ranked: Sequence[FoundEntity], request: RankRequest) -> list[FoundEntity]:
    """The entities to show: the best, or picked for diversity."""
    good = [each for each in ranked if each.score >= request.min_score]
    if not request.diversity or not good:
        return good[: request.limit]
    texts = [f"{each.entity.name}\n{each.entity.description}" for each in good]
    scores = [each.score for each in good]
    return [good[row] for row in diverse_rows(scores, texts, diversity=request.diversity, limit=request.limit)]


def _why_nothing(request: RankRequest, ranked: int) -> str:
    if not request.query.strip():
        return "nothing was asked"
    if ranked:
        return f"none of {ranked} entities scores {request.min_score:g} or more"
    return "no visible entity shares a word or a meaning with the question"
