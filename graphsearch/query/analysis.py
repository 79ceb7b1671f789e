"""The analysis of a question: everything that can be read from it without a model, in one value."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import attrs

from graphsearch.model import validation as check
from graphsearch.query.anchor_candidates import Anchor
from graphsearch.query.periods import AskedPeriod, periods
from graphsearch.query.plan import Features, Plan, features, plan_of
from graphsearch.query.question_type import Intent, QuestionType, intent_of, question_type
from graphsearch.query.written_names import Named, NameKind, named
from graphsearch.text.analyser import terms

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
    names: tuple[Named, ...]
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

    ``anchors`` are the entities that it names, from `graphsearch.understanding.anchors.find_anchors`; without them
    no plan is entity-centric. Accepts any text. Raises `InvalidInputError` for a question that is not text, or a time
    without a time zone.
    """
    check.refuse("question", check.text("question", question, empty=True), check.instant("as_of", as_of))
    asked = question_type(question)
    names = named(question)
    found = periods(question[:MAX_READ], as_of)
    question_terms = tuple(dict.fromkeys(terms(question)))
    anchors = tuple(anchors)
    known = features(asked, names=names, anchors=anchors, question_terms=question_terms, dated=bool(found))
    return Analysis(
        question=question,
        terms=question_terms,
        names=names,
        periods=found,
        question_type=asked,
        intent=intent_of(asked),
        anchors=anchors,
        features=known,
        plan=plan_of(known),
    )
