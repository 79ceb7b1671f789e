"""Five rankings of entities, each a sum of named factors.

relevance = Σ value × weight        over the factors of the ranking; the original score has the remaining weight
score     = (1 − φ) · relevance / best + φ · feedback

Two factors are computed here: the match of the type of an entity with the type of answer that the question wants, and
the share of the question's terms that the texts of the entity contain, by field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.model import ScorePart
from graphsearch.model import validation as check
from graphsearch.query.analysis import Analysis
from graphsearch.query.question_type import QuestionType
from graphsearch.ranking.temporal import Years, temporal_match
from graphsearch.scoring.fusion import with_feedback
from graphsearch.text.analyser import terms


class Ranking(StrEnum):
    """The rankings, by the factors they use in addition to the original score."""

    RRF = "rrf"
    """None."""
    CONNECTION = "connection"
    """The number of connections of an entity."""
    TEMPORAL = "temporal"
    """Connections, and whether it fits the requested years."""
    MULTI_FACTOR = "multi_factor"
    """These, and the share of the question in its texts."""
    QUESTION_AWARE = "question_aware"
    """These, and whether its type answers the type of question."""


_SLACK: Final = 1e-9  # 0.1 + 0.2 + 0.7 exceeds 1 in floating point


@attrs.frozen(kw_only=True)
class RankingWeights:
    """The weights of the factors, in [0, 1], together at most 1; the original score has the rest."""

    connection: float = 0.0
    temporal: float = 0.0
    query_match: float = 0.0
    entity_type: float = 0.0

    def __attrs_post_init__(self) -> None:
        each = attrs.asdict(self)
        faults = [fault for name, value in each.items() if (fault := check.unit(name, value))]
        if not faults and (total := sum(each.values())) > 1.0 + _SLACK:
            faults = [f"the weights must add up to at most 1, not {total:g}"]
        check.refuse("ranking weights", *faults)

    @property
    def original(self) -> float:
        """The weight left by the others."""
        return max(0.0, 1.0 - self.connection - self.temporal - self.query_match - self.entity_type)


WEIGHTS: Final[Mapping[Ranking, RankingWeights]] = {
    Ranking.RRF: RankingWeights(),
    Ranking.CONNECTION: RankingWeights(connection=0.3),
    Ranking.TEMPORAL: RankingWeights(connection=0.2, temporal=0.3),
    Ranking.MULTI_FACTOR: RankingWeights(connection=0.15, temporal=0.25, query_match=0.25),
    Ranking.QUESTION_AWARE: RankingWeights(connection=0.15, temporal=0.20, query_match=0.20, entity_type=0.15),
}


def weights_for(ranking: Ranking, *, named: bool) -> RankingWeights:
    """The weights of a ranking for a question, by whether that names anything.

    QUESTION_AWARE uses connections and the words of fields only if something is named: how well known an entity is does
    not indicate that it is the described one, and the original score contains its words already.
    """
    weights = WEIGHTS[ranking]
    if named or ranking is not Ranking.QUESTION_AWARE:
        return weights
    return attrs.evolve(weights, connection=0.0, query_match=0.0)


@attrs.frozen(kw_only=True)
class RankingOptions:
    """The options of a ranking.

    * ``weights``: in place of those of the ranking.
    * ``candidates``: number of entities, by the best original scores, whose factors are computed; ``limit``: number
      returned.
    * ``feedback_influence`` φ: in [0, 1].
    """

    ranking: Ranking
    weights: RankingWeights = attrs.field(default=attrs.Factory(lambda self: WEIGHTS[self.ranking], takes_self=True))
    candidates: int = 20
    limit: int = 5
    feedback_influence: float = 0.3

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "ranking options",
            check.number("candidates", self.candidates, 1),
            check.number("limit", self.limit, 1),
            check.unit("feedback_influence", self.feedback_influence),
        )


@attrs.frozen(kw_only=True)
class Candidate:
    """A proposed entity, and the inputs of its factors.

    * ``original``: its hybrid score, any number ≥ 0; ``connections``: the number of its relations.
    * ``type``, ``years`` (see `graphsearch.ranking.temporal.years_of`), ``fields``, ``feedback_weight``: of the entity.
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


SHOWN_NAMES: Final = 10


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


def rank(candidates: Sequence[Candidate], question: Analysis, options: RankingOptions) -> list[RankedEntity]:
    """The best entities for a question, by score, ties by name and id; independent of the order of ``candidates``."""
    chosen = sorted(candidates, key=lambda each: (-each.original, each.fields.name, each.id))[: options.candidates]
    best = max((each.original for each in chosen), default=0.0)
    busiest = max((each.connections for each in chosen), default=0)
    factors = [factors_of(each, question, options.weights, best=best, busiest=busiest) for each in chosen]
    relevance = np.array([sum(factor.contribution for factor in each) for each in factors])
    feedback = np.array([each.feedback_weight for each in chosen])
    relevance_parts, feedback_parts = with_feedback(relevance, feedback, options.feedback_influence)
    ranked = [
        RankedEntity(
            candidate=candidate,
            factors=factors[row],
            relevance=float(relevance[row]),
            relevance_part=float(relevance_parts[row]),
            feedback_part=float(feedback_parts[row]),
        )
        for row, candidate in enumerate(chosen)
    ]
    return sorted(ranked, key=lambda each: (-each.score, each.candidate.fields.name, each.candidate.id))[
        : options.limit
    ]


def factors_of(
    candidate: Candidate, question: Analysis, weights: RankingWeights, *, best: float, busiest: int
) -> tuple[ScorePart, ...]:
    """The factors of one entity, given the greatest original score and the greatest number of connections."""
    every = (
        ScorePart(name="original", value=candidate.original / best if best else 0.0, weight=weights.original),
        ScorePart(
            name="connection", value=candidate.connections / busiest if busiest else 0.0, weight=weights.connection
        ),
        ScorePart(name="temporal", value=_temporal(candidate, question), weight=weights.temporal),
        ScorePart(name="query_match", value=query_match(candidate.fields, question), weight=weights.query_match),
        ScorePart(
            name="entity_type",
            value=answer_match(answer_weight(question.question_type, candidate.type)),
            weight=weights.entity_type,
        ),
    )
    return tuple(factor for factor in every if factor.weight)


def _temporal(candidate: Candidate, question: Analysis) -> float:
    return temporal_match(candidate.years, [Years(*period.years) for period in question.periods])


LEAST, MOST = 0.5, 2.0
"""Weights are clamped to this range, and scaled so that its ends become 0 and 1."""
NEUTRAL: Final = 1.0

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


def answer_weight(asked: QuestionType, entity_type: str) -> float:
    """The weight of a type of entity for a type of question; 1.0 if not listed."""
    weights = _WEIGHTS.get(asked, {})
    return weights.get(entity_type, weights.get(_OTHERS, NEUTRAL))


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


@attrs.frozen(kw_only=True)
class Fields:
    """The texts of an entity: its name (and aliases), its description, and the names of its connections."""

    name: str
    summary: str = ""
    connected: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


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
