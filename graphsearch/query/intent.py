"""The intent of a question, and the weight of each recall channel for it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.model import validation as check
from graphsearch.query.question_type import QuestionType

HEALTHY: Final = 0.70
"""The health of a graph below which the graph channel counts for less."""


class Intent(StrEnum):
    """The intent of a question."""

    WHY = "why"
    WHEN = "when"
    WHO = "who"
    HOW = "how"
    WHAT = "what"
    """None of the others."""


@attrs.frozen(kw_only=True)
class ChannelWeights:
    """The weights of the recall channels: any numbers ≥ 0, 0 turns a channel off."""

    semantic: float
    lexical: float
    graph: float

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "channel weights",
            check.number("semantic", self.semantic, 0.0),
            check.number("lexical", self.lexical, 0.0),
            check.number("graph", self.graph, 0.0),
        )


_INTENTS: Final[Mapping[QuestionType, Intent]] = {
    QuestionType.WHY: Intent.WHY,
    QuestionType.WHEN: Intent.WHEN,
    QuestionType.WHO: Intent.WHO,
    QuestionType.HOW: Intent.HOW,
}
_WEIGHTS: Final[Mapping[Intent, ChannelWeights]] = {
    Intent.WHY: ChannelWeights(semantic=1.0, lexical=0.8, graph=1.5),
    Intent.WHEN: ChannelWeights(semantic=0.8, lexical=1.2, graph=0.8),
    Intent.WHO: ChannelWeights(semantic=0.8, lexical=0.8, graph=1.8),
    Intent.HOW: ChannelWeights(semantic=1.2, lexical=1.0, graph=0.8),
    Intent.WHAT: ChannelWeights(semantic=1.0, lexical=1.0, graph=1.0),
}


def intent_of(asked: QuestionType) -> Intent:
    """The intent of a question of some type; "how many" is factual, not procedural."""
    return _INTENTS.get(asked, Intent.WHAT)


def channel_weights(intent: Intent, *, deployment: float = 1.0, health: float = 1.0) -> ChannelWeights:
    """The channel weights of an intent; the graph's × ``deployment``, × ``health`` / 0.70 if health is below 0.70.

    ``deployment`` is any number ≥ 0 (relational workloads 2.0, informational ones 0.5, 0 is off), ``health`` that of
    the graph, in [0, 1]. Raises `InvalidInputError`.
    """
    check.refuse("channel weights", check.number("deployment", deployment, 0.0), check.unit("health", health))
    weights = _WEIGHTS[intent]
    return attrs.evolve(weights, graph=weights.graph * deployment * min(1.0, health / HEALTHY))
