"""Rank entities by a sum of named factors.

relevance = Σ value × weight        over the factors of the ranking; the original score has the remaining weight
score     = (1 − φ) · relevance / best + φ · feedback

Three factors are computed here: the match of the type of an entity with the type of answer that the question wants, the
share of the question's terms that the texts of the entity contain, by field, and the fit of its periods to the years
that the question names: 1.0, 0.8, 0.5 or 0.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import attrs
import numpy as np

from graphsearch.model import Entity, ScorePart
from graphsearch.model import validation as check
from graphsearch.question.analysis import Analysis
from graphsearch.question.question_type import QuestionType
from graphsearch.ranking.entities.options import RankingWeights
from graphsearch.ranking.fusion import with_feedback
from graphsearch.text.analyser import terms

SHOWN_NAMES: Final = 10


class Years(NamedTuple):
    """Years from the first to the last, both included; an open end is None."""

    first: int | None
    last: int | None

    def meet(self, other: Years) -> bool:
        """Whether the two have a year in common."""
        starts_late = self.first is not None and other.last is not None and self.first > other.last
        ends_early = self.last is not None and other.first is not None and self.last < other.first
        return not (starts_late or ends_early)


@attrs.frozen(kw_only=True)
class Fields:
    """The texts of an entity: its name (and aliases), its description, and the names of its connections."""

    name: str
    summary: str = ""
    connected: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Candidate:
    """A proposed entity, and the inputs of its factors.

    * ``original``: its hybrid score, any number ≥ 0; ``connections``: the number of its relations.
    * ``type``, ``years`` (see `years_of`), ``fields``, ``feedback_weight``: of the entity.
    * ``relation_types``: of its relations, for printing a result.
    """

    id: UUID
    type: str
    fields: Fields
    original: float
    connections: int = 0
    years: tuple[Years, ...] = ()
    relation_types: tuple[str, ...] = ()
    feedback_weight: float = 0.5

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "candidate",
            check.number("original", self.original, 0.0),
            check.number("connections", self.connections, 0),
            check.unit("feedback_weight", self.feedback_weight),
        )


@attrs.frozen(kw_only=True)
class RankedEntity:
    """A ranked entity. Its ``factors`` add up to ``relevance``, and both parts to ``score``; all are in [0, 1]."""

    candidate: Candidate
    factors: tuple[ScorePart, ...]
    relevance: float
    relevance_part: float
    feedback_part: float

    @property
    def score(self) -> float:
        """(1 − φ) · relevance / best + φ · feedback."""
        return self.relevance_part + self.feedback_part

    @property
    def parts(self) -> tuple[ScorePart, ...]:
        """The factors, scaled to add up to ``relevance_part``, and feedback."""
        scale = self.relevance_part / self.relevance if self.relevance else 0.0
        own = (ScorePart(name=each.name, value=each.value, weight=each.weight * scale) for each in self.factors)
        feedback = self.candidate.feedback_weight
        weight = self.feedback_part / feedback if feedback else 0.0
        return (*own, ScorePart(name="feedback", value=feedback, weight=weight))

    @property
    def connected_names(self) -> tuple[str, ...]:
        """At most ten names that it is connected with."""
        return self.candidate.fields.connected[:SHOWN_NAMES]


def rank(
    candidates: Sequence[Candidate], question: Analysis, weights: RankingWeights, feedback_influence: float
) -> list[RankedEntity]:
    """Entities by their scores for a question, ties by name and id; independent of the order of ``candidates``."""
    best = max((each.original for each in candidates), default=0.0)
    busiest = max((each.connections for each in candidates), default=0)
    factors = [factors_of(each, question, weights, best=best, busiest=busiest) for each in candidates]
    relevance = np.array([sum(factor.contribution for factor in each) for each in factors])
    feedback = np.array([each.feedback_weight for each in candidates])
    relevance_parts, feedback_parts = with_feedback(relevance, feedback, feedback_influence)
    ranked = [
        RankedEntity(
            candidate=candidate,
            factors=factors[row],
            relevance=float(relevance[row]),
            relevance_part=float(relevance_parts[row]),
            feedback_part=float(feedback_parts[row]),
        )
        for row, candidate in enumerate(candidates)
    ]
    return sorted(ranked, key=lambda each: (-each.score, each.candidate.fields.name, each.candidate.id))


def factors_of(
    candidate: Candidate, question: Analysis, weights: RankingWeights, *, best: float, busiest: int
) -> tuple[ScorePart, ...]:
    """The factors of one entity, given the greatest original score and the greatest number of connections."""
    periods = [Years(*period.years) for period in question.periods]
    every = (
        ScorePart(name="original", value=candidate.original / best if best else 0.0, weight=weights.original),
        ScorePart(
            name="connection", value=candidate.connections / busiest if busiest else 0.0, weight=weights.connection
        ),
        ScorePart(name="temporal", value=temporal_match(candidate.years, periods), weight=weights.temporal),
        ScorePart(name="query_match", value=query_match(candidate.fields, question), weight=weights.query_match),
        ScorePart(
            name="entity_type",
            value=answer_match(answer_weight(question.question_type, candidate.type)),
            weight=weights.entity_type,
        ),
    )
    return tuple(factor for factor in every if factor.weight)


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


NAME: Final = 3.0
PROPER_NOUN: Final = 2.0
SUMMARY: Final = 1.5
CONNECTED: Final = 1.0
ATTRIBUTES: Final = 1.0
LABELS: Final = 0.5
TOTAL: Final = NAME + PROPER_NOUN + SUMMARY + CONNECTED + ATTRIBUTES + LABELS
SHORT: Final = 2
"""Terms with this few letters are no evidence."""


def query_match(fields: Fields, question: Analysis) -> float:
    """The share of the question's terms that each field contains, weighted and divided by 9; in [0, 1].

    Terms have more than two letters. Proper nouns count once more if any field contains them whole.
    """
    wanted = {term for term in question.terms if len(term) > SHORT}
    by_field = (
        (NAME, _terms([fields.name])),
        (SUMMARY, _terms([fields.summary])),
        (CONNECTED, _terms(fields.connected)),
        (ATTRIBUTES, _terms(fields.attributes)),
        (LABELS, _terms(fields.labels)),
    )
    matched = sum(weight * _share(wanted, found) for weight, found in by_field)
    everything = frozenset[str]().union(*(found for _, found in by_field))
    nouns = [frozenset(terms(noun)) for noun in question.proper_nouns]
    known = [noun for noun in nouns if noun]
    whole = sum(noun <= everything for noun in known) / len(known) if known else 0.0
    return (matched + PROPER_NOUN * whole) / TOTAL


def _terms(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(term for text in texts for term in terms(text))


def _share(wanted: set[str], found: frozenset[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0


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
