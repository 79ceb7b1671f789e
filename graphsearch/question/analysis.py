"""The analysis of a question: everything that can be read from it without a model, in one value.

Its retrieval plan is chosen from a few features, by a few rules that are tried in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.model import validation as check
from graphsearch.question.asked_time import AskedPeriod, periods
from graphsearch.question.question_names import Anchor, NameKind, WrittenName, named
from graphsearch.question.question_type import Intent, QuestionType, intent_of, question_type
from graphsearch.text.analyser import terms
from graphsearch.text.word_lists import word_lists

CERTAIN: Final = 0.80
"""The confidence from which on a name counts as linked to its entity."""
FEW_TERMS: Final = 2
"""A question with fewer terms that names nothing is too short to be specific."""


class Plan(StrEnum):
    """Retrieval plans."""

    ENTITY_CENTRIC = "entity_centric"
    """Every name in the question is linked to an entity, and there is at least one: retrieve around these."""
    TEMPORAL = "temporal"
    """The question names a time, or asks for one."""
    PRECISION = "precision"
    """The question looks for one thing, by its exact words."""
    EXPLORATORY = "exploratory"
    """Broad: an overview, a reason, a procedure."""
    BALANCED = "balanced"
    """None of these."""


_POINTED: Final = frozenset(QuestionType) - {
    *(QuestionType.WHY, QuestionType.HOW, QuestionType.WHAT, QuestionType.OTHER),
}
_HERE: Final = "graphsearch.question"
_OPEN: Final = frozenset({QuestionType.WHY, QuestionType.HOW})


@attrs.frozen(kw_only=True)
class Features:
    """The features that the choice of a plan is based on.

    * ``linked``: number of entities that the question names; ``least_confidence`` of these links, 0 without any.
    * ``unlinked``: written names without a linked entity.
    * ``exact``: names in quotes or shaped like code.
    * ``dated``: a period is named. ``temporal``: a time is requested, or implied by a word such as "latest".
    * ``broad``: a word such as "overview" asks for more than one thing.
    * ``terms``: number of distinct terms of the question.
    """

    question_type: QuestionType
    linked: int
    least_confidence: float
    unlinked: tuple[str, ...]
    exact: int
    dated: bool
    temporal: bool
    broad: bool
    terms: int


def linked(name: WrittenName, anchors: Sequence[Anchor]) -> bool:
    """Whether every significant word of a name is part of the span of some anchor."""
    spans = [span for anchor in anchors for span in anchor.spans]
    left = "".join(
        " " if any(start <= at < end for start, end in spans) else character
        for at, character in enumerate(name.text, name.start)
    )
    return left != name.text and not terms(left)


def plan_of(known: Features) -> Plan:
    """The first plan whose rule holds."""
    if known.linked and not known.unlinked and known.least_confidence >= CERTAIN:
        return Plan.ENTITY_CENTRIC
    if known.dated or known.temporal:
        return Plan.TEMPORAL
    if known.broad:
        return Plan.EXPLORATORY
    named = known.linked or known.unlinked
    if known.exact or (named and known.question_type in _POINTED):
        return Plan.PRECISION
    if not named and (known.question_type in _OPEN or known.terms <= FEW_TERMS):
        return Plan.EXPLORATORY
    return Plan.BALANCED


MAX_READ: Final = 4_000
"""Characters of a question that are searched for times; its terms come from the whole text."""


@attrs.frozen(kw_only=True)
class Analysis:
    """The analysis of a question.

    * ``terms``: its distinct terms in order. ``names``: its written names, linked or not.
    * ``periods``: the times it names, each with its span and its two ends.
    * ``anchors``: the entities that it names, as passed in.
    * ``plan``: the retrieval plan, and ``features``, from which it was chosen.
    """

    question: str
    terms: tuple[str, ...]
    names: tuple[WrittenName, ...]
    periods: tuple[AskedPeriod, ...]
    question_type: QuestionType
    intent: Intent
    anchors: tuple[Anchor, ...]
    features: Features
    plan: Plan

    @property
    def proper_nouns(self) -> tuple[str, ...]:
        """The capitalised names, in order; the first word of a sentence only if it is not a common word."""
        return tuple(name.text for name in self.names if name.kind is NameKind.PROPER_NOUN)

    @property
    def years(self) -> tuple[int, ...]:
        """The first and last years of the periods, distinct, in order."""
        return tuple(sorted({year for period in self.periods for year in period.years if year is not None}))


def analyse(question: str, *, as_of: datetime, anchors: Iterable[Anchor] = ()) -> Analysis:
    """Analyse a question, relative to a moment: "last week" counts from there.

    ``anchors`` are the entities that it names, such as those of `SearchResult.anchors`; without them no plan is
    entity-centric. Accepts any text. Raises `InvalidInputError` for a question that is not text, or a time
    without a time zone.
    """
    check.refuse(
        "question",
        check.text("question", question, empty=True, longest=check.LONGEST_QUESTION),
        check.instant("as_of", as_of),
    )
    kind, names, anchors = question_type(question), named(question), tuple(anchors)
    found = periods(question[:MAX_READ], as_of)
    question_terms = tuple(dict.fromkeys(terms(question)))
    known = Features(
        question_type=kind,
        linked=len(anchors),
        least_confidence=min((anchor.confidence for anchor in anchors), default=0.0),
        unlinked=tuple(name.text for name in names if not (name.tentative or linked(name, anchors))),
        exact=sum(name.kind is not NameKind.PROPER_NOUN for name in names),
        dated=bool(found),
        temporal=kind is QuestionType.WHEN or not word_lists(_HERE)["temporal"].isdisjoint(question_terms),
        broad=not word_lists(_HERE)["broad"].isdisjoint(question_terms),
        terms=len(question_terms),
    )
    return Analysis(
        question=question,
        terms=question_terms,
        names=names,
        periods=found,
        question_type=kind,
        intent=intent_of(kind),
        anchors=anchors,
        features=known,
        plan=plan_of(known),
    )
