"""Rank entities: propose, examine, rank by factors, and select the best.

relevance = Σ value × weight        over the factors of the ranking; the original score has the remaining weight
score     = (1 − φ) · relevance / best + φ · feedback

Three factors are computed here: the match of the type of an entity with the type of answer that the question wants, the
share of the question's terms that the texts of the entity contain, by field, and the fit of its periods to the years
that the question names: 1.0, 0.8, 0.5 or 0.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.model import Entity, ScorePart
from graphsearch.question.analysis import Analysis, QuestionType, analyse
from graphsearch.question.linking import anchors_of
from graphsearch.question.understanding import Understanding, at_time_asked
from graphsearch.ranking.entities.proposing import UNCONNECTED, connections, episodes, propose
from graphsearch.ranking.entities.result import (
    FoundEntity,
    Ranking,
    RankingWeights,
    RankRequest,
    RankResult,
    Years,
    weights_for,
)
from graphsearch.ranking.scores import diverse_rows, with_feedback
from graphsearch.ranking.triplets.parts import Parts
from graphsearch.ranking.triplets.triplet_relevance import CERTAIN
from graphsearch.text.analyser import terms


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


def rank(
    candidates: Sequence[FoundEntity], question: Analysis, weights: RankingWeights, feedback_influence: float
) -> list[FoundEntity]:
    """Entities by their scores for a question, ties by name and id; independent of the order of ``candidates``."""
    best = max((each.original for each in candidates), default=0.0)
    busiest = max((each.connections for each in candidates), default=0)
    factors = [factors_of(each, question, weights, best=best, busiest=busiest) for each in candidates]
    relevance = np.array([sum(factor.contribution for factor in each) for each in factors])
    feedback = np.array([each.entity.feedback_weight for each in candidates])
    parts = with_feedback(relevance, feedback, feedback_influence)
    ranked = [
        attrs.evolve(each, factors=own, relevance=whole, relevance_part=relevant, feedback_part=learnt)
        for each, own, whole, relevant, learnt in zip(
            candidates, factors, relevance.tolist(), *(part.tolist() for part in parts), strict=True
        )
    ]
    return sorted(ranked, key=lambda each: (-each.score, _names(each.entity), each.entity.id))


def factors_of(
    found: FoundEntity, question: Analysis, weights: RankingWeights, *, best: float, busiest: int
) -> tuple[ScorePart, ...]:
    """The factors of one entity, given the greatest original score and the greatest number of connections."""
    periods = [Years(*period.years) for period in question.periods]
    values = {
        "original": found.original / best if best else 0.0,
        "connection": found.connections / busiest if busiest else 0.0,
        "temporal": temporal_match(found.dates, periods),
        "query_match": query_match(found, question),
        "entity_type": answer_match(answer_weight(question.question_type, found.entity.type)),
    }
    return tuple(
        ScorePart(name=name, value=value, weight=weight)
        for name, value in values.items()
        if (weight := getattr(weights, name))
    )


LEAST, MOST = 0.5, 2.0
"""Weights are clamped to this range, and scaled so that its ends become 0 and 1."""
NEUTRAL: Final = 1.0
_TAGS: Final[Mapping[str, str]] = {
    "per": "person",
    "org": "organisation",
    "organization": "organisation",
    "loc": "place",
    "gpe": "place",
    "location": "place",
    "fac": "facility",
}
"""Types as taggers of named entities write them."""
_OTHERS: Final = ""
"""Stands for all types that are not listed."""
_WEIGHTS: Final[Mapping[QuestionType, Mapping[str, float]]] = {
    QuestionType.WHO: {"person": 2.0, "organisation": 0.5, "place": 0.3, "date": 0.8},
    QuestionType.WHERE: {"place": 2.0, "facility": 1.5, "organisation": 0.7, "person": 0.5, "date": 0.5},
    QuestionType.WHEN: {"date": 2.0, "event": 1.5, _OTHERS: 0.8},
    QuestionType.HOW_MANY: {"quantity": 2.0, "date": 1.0, _OTHERS: 0.8},
    QuestionType.WHY: {"event": 1.5, "person": 1.2, "organisation": 1.2, "date": 1.2, "place": 1.0},
    QuestionType.WHAT_ORGANISATION: {"organisation": 2.0, "person": 0.7, _OTHERS: 0.8},
    QuestionType.WHAT_POSITION: {"person": 1.5, "organisation": 1.5, "date": 1.5, "place": 1.2},
    QuestionType.WHAT_EVENT: {"event": 2.0, "date": 1.5, "place": 1.3, "person": 1.2, "organisation": 1.2},
}


def answer_weight(question_type: QuestionType, entity_type: str) -> float:
    """The weight of a type of entity for a type of question; 1.0 if not listed."""
    weights, entity_type = _WEIGHTS.get(question_type, {}), entity_type.casefold()
    return weights.get(_TAGS.get(entity_type, entity_type), weights.get(_OTHERS, NEUTRAL))


def answer_match(weight: float) -> float:
    """A weight, clamped to [0.5, 2], as a factor in [0, 1]: (weight − 0.5) / 1.5."""
    return (min(max(weight, LEAST), MOST) - LEAST) / (MOST - LEAST)


FIELDS: Final = {"name": 3.0, "summary": 1.5, "connected": 1.0, "attributes": 1.0, "labels": 0.5}
"""The weights of the texts of an entity."""
PROPER_NOUN: Final = 2.0
TOTAL: Final = PROPER_NOUN + sum(FIELDS.values())
SHORT: Final = 2
"""Terms with this few letters are no evidence."""


def query_match(found: FoundEntity, question: Analysis) -> float:
    """The share of the question's terms that each field contains, weighted and divided by 9; in [0, 1].

    Terms have more than two letters. Proper nouns count once more if any field contains them whole.
    """
    wanted = {term for term in question.terms if len(term) > SHORT}
    entity, attributes = found.entity, found.entity.attributes
    texts = (
        [_names(entity)],
        [entity.description],
        found.connected_names,
        [each for name in attributes for each in (name, *_words(attributes[name]))],
        entity.labels,
    )
    fields = [frozenset(term for text in field for term in terms(text)) for field in texts]
    shares = (len(wanted & field) / len(wanted) if wanted else 0.0 for field in fields)
    matched = sum(weight * share for weight, share in zip(FIELDS.values(), shares, strict=True))
    everything = frozenset[str]().union(*fields)
    nouns = [noun for each in question.proper_nouns if (noun := frozenset(terms(each)))]
    whole = sum(noun <= everything for noun in nouns) / len(nouns) if nouns else 0.0
    return (matched + PROPER_NOUN * whole) / TOTAL


def _names(entity: Entity) -> str:
    return "\n".join((entity.name, *entity.aliases))


def _words(value: Any) -> Iterator[str]:
    """The texts in the value of an attribute."""
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


INSIDE: Final = 1.0
OPEN_ENDED: Final = 0.8
UNDATED: Final = 0.5
OUTSIDE: Final = 0.3
PAIRS: Final = (
    ("valid_from", "valid_to"),
    ("valid_at", "invalid_at"),
    ("term_start", "term_end"),
    ("start_date", "end_date"),
)
"""Attributes of an entity that are the two ends of one period; each also counts alone."""
SINGLE: Final = ("year", "date")
"""Attributes that name one year."""
_YEAR: Final = re.compile(r"(?<![\d.])([12]\d{3})(?!\d)")
_RANGE: Final = re.compile(r"(?<![\d.])([12]\d{3})\s?(?:-|–|—|to)\s?([12]\d{3})(?![\d-])")

_OPEN: Final = re.compile(
    r"(?<![\d.\-–—])([12]\d{3})\s?(?:(?:[-–—]|to)\s?(?:present|now|today|date|ongoing)|[-–—])(?=\s*(?:$|[,;.)\]]))",
    re.IGNORECASE,
)


def temporal_match(known: Iterable[Years], requested: Iterable[Years]) -> float:
    """The best fit of any of an entity's periods to any of the requested ones.

    1.0 if they overlap, 0.8 if they overlap and the entity's has an open end, 0.5 without known periods, 0.3 if none
    overlaps; 1.0 if no years are requested.
    """
    wanted = tuple(requested)
    if not wanted:
        return INSIDE
    fits = [_fit(period, wanted) for period in known]
    return max(fits, default=UNDATED)


def _fit(period: Years, wanted: Iterable[Years]) -> float:
    if not any(period.meet(requested) for requested in wanted):
        return OUTSIDE
    return OPEN_ENDED if None in period else INSIDE


def years_of(entity: Entity) -> tuple[Years, ...]:
    """The periods of an entity, in years: its own validity, and those in its attributes.

    Reads the pairs of `PAIRS`, the single years of `SINGLE`, and ranges such as "2011-2017", and open ones such as
    "2019-" and "2019-present", in the text of any attribute. Dates are numbers or text with a year of four digits; a
    pair whose end precedes its start is ignored.
    """
    return tuple(dict.fromkeys(_years(entity)))


def _years(entity: Entity) -> Iterator[Years]:
    # A period that ends at New Year does not overlap the new year.
    ended = entity.valid_to - timedelta(microseconds=1) if entity.valid_to else None
    own = {"valid_from": entity.valid_from and entity.valid_from.year, "valid_to": ended and ended.year}
    for source in (own, entity.attributes):
        for start, end in PAIRS:
            yield from _period(_year(source.get(start)), _year(source.get(end)))
    for name in SINGLE:
        value = entity.attributes.get(name)
        year = None if isinstance(value, str) and _OPEN.search(value) else _year(value)
        yield from _period(year, year)
    for text in _texts(entity.attributes):
        for first, last in _RANGE.findall(text):
            yield from _period(int(first), int(last))
        for first in _OPEN.findall(text):
            yield from _period(int(first), None)


def _period(first: int | None, last: int | None) -> Iterator[Years]:
    if (first is not None or last is not None) and not (first is not None and last is not None and first > last):
        yield Years(first, last)


def _year(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _YEAR.search(value) if isinstance(value, str) else None
    return int(match[1]) if match else None


def _texts(attributes: Mapping[str, Any]) -> Iterator[str]:
    for value in attributes.values():
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(text, str):
                yield text
