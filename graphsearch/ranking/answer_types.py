"""How well a type of entity answers a type of question: data, and its conversion to a factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from graphsearch.query.question_type import QuestionType

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
