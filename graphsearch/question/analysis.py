"""The analysis of a question: all that can be read from it without a model: the type of answer, its intent, a plan.

Rules for English, a few microseconds. "In which city …" is WHERE, "what company …" WHAT_ORGANISATION, "what is the date
of birth of …" WHEN. An intent weights the channels of recall; the retrieval plan is chosen from a few features, by
a few rules that are tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache
from itertools import dropwhile, pairwise
from typing import Final

import attrs

from graphsearch.model import validation as check
from graphsearch.question.question_text import Anchor, AskedPeriod, NameKind, WrittenName, named, periods
from graphsearch.text.analyser import terms
from graphsearch.text.word_lists import word_lists

MAX_READ: Final = 2_000
"""Characters of a question that are searched for its question word."""
_HERE: Final = "graphsearch.question"


class QuestionType(StrEnum):
    """Types of answers."""

    WHO = "who"
    WHERE = "where"
    WHEN = "when"
    HOW_MANY = "how_many"
    WHY = "why"
    WHAT_ORGANISATION = "what_organisation"
    WHAT_POSITION = "what_position"
    WHAT_EVENT = "what_event"
    WHAT = "what"
    HOW = "how"
    OTHER = "other"
    """No question word: a statement, a request, or a yes-no question."""


@cache
def _types() -> Mapping[str, QuestionType]:
    """The type of answer that each noun asks for."""
    listed = word_lists(_HERE)
    return {noun: type_ for type_ in QuestionType for noun in listed.get(type_, ())}


_WORD: Final = re.compile(r"[\w'’-]+")
_AUXILIARY: Final = (
    "is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|else|exactly"
)
_WH: Final = "who|whom|whose|which|what|when|where|why|how"
_LEAD: Final = re.compile(
    r"\W*+(?:(?:please|and|so|but|also|then|ok|okay|well|hey|hi|now)\W++){0,6}"
    r"(?:(?:can|could|would) you (?:please )?(?:tell|remind|show) (?:me|us) (?:about )?"
    r"|(?:please )?(?:tell|remind|show) (?:me|us) (?:about )?|do (?:you|we) know |(?:i|we) (?:want|need) to know "
    r"|(?:i )?wonder )?(?:(?:in|on|at|to|from|for|by|of|with|since|until|under|during|about|through|against|near)\s+)?"
    rf"(?P<word>{_WH})(?:['’](?:s|re|d|ll|ve))?\b",
    re.IGNORECASE,
)
_SUBORDINATE: Final = re.compile(rf"(?:when|where|how|who)\s+(?!(?:{_AUXILIARY})\b)", re.IGNORECASE)
# Positions of a question word that asks, and does not only join a clause: best first.
_INNER: Final = (
    re.compile(rf"\b(?P<word>{_WH})\s*+(?:\?++\s*+)?$", re.IGNORECASE),
    re.compile(
        r"\b(?:in|on|at|to|from|for|by|of|with|since|until|under|during|about|as)\s+"
        r"(?P<word>what|which|whom|whose|how many)\b"
    ),
    re.compile(r"\b(?P<word>what|how (?:many|much|long|old|often))\b", re.IGNORECASE),
    re.compile(rf"[,:;.]\s+(?:and\s+)?(?P<word>{_WH})\b", re.IGNORECASE),
)
_CAUSE: Final = re.compile(
    r"(?:what|which)(?:['’]s|\s+(?:is|was|were|are))?\s+(?:the\s+)?(?:(?:main|real|root)\s+)?"
    r"(?:causes?|caused|reasons?|led\s+to|made|motivated|prompted)\b",
    re.IGNORECASE,
)
_HOW_MANY: Final = re.compile(
    r"how\s+(?:many|much|old|tall|high|far|long(?!\s+ago)|large|big|deep|wide|heavy|fast|often|frequently|expensive)\b",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(r"how\s+(?:long\s+ago|soon|recently|late|early)\b", re.IGNORECASE)
_WHY: Final = re.compile(r"how\s+come\b", re.IGNORECASE)
_WHO: Final = frozenset({"who", "whom", "whose"})
_PLAIN: Final = frozenset({"where", "when", "why", "how"})


def question_type(question: str) -> QuestionType:
    """The type of answer that a question wants; `QuestionType.OTHER` without a question word."""
    text = question[:MAX_READ].strip()
    start = _asking(text)
    return QuestionType.OTHER if start is None else _type_at(text, start)


def _asking(text: str) -> int | None:
    """The position of the question word that asks."""
    lead = _LEAD.match(text)
    if lead and not _SUBORDINATE.match(text, lead.start("word")):
        return lead.start("word")
    for pattern in _INNER:
        if match := pattern.search(text, lead.end() if lead else 0):
            return match.start("word")
    return lead.start("word") if lead else None


def _type_at(text: str, start: int) -> QuestionType:
    if _CAUSE.match(text, start) or _WHY.match(text, start):
        return QuestionType.WHY
    if _WHEN.match(text, start):
        return QuestionType.WHEN
    if _HOW_MANY.match(text, start):
        return QuestionType.HOW_MANY
    words = [match[0].casefold() for match in _WORD.finditer(text, start, start + 200)]
    word = re.split(r"['’]", words[0])[0]
    if word in _WHO:
        return QuestionType.WHO
    return QuestionType(word) if word in _PLAIN else _type_of_noun(words[1:])


def _type_of_noun(words: list[str]) -> QuestionType:
    """The type that the noun behind "what" or "which" asks for; behind "what is" only a phrase-final noun."""
    copula = bool(words) and words[0] in word_lists(_HERE)["copulas"]
    rest = list(dropwhile(word_lists(_HERE)["articles"].__contains__, words[copula:]))
    found = QuestionType.WHAT
    for before, word in pairwise(("", *rest)):
        noun = _types().get(word) or _types().get(_singular(word))
        if word == "of" and before in word_lists(_HERE)["hollow"]:
            return _type_of_noun(rest[rest.index(word) + 1 :])
        if word in word_lists(_HERE)["ends"]:
            return found
        if found is not QuestionType.WHAT and noun is None:
            return QuestionType.WHAT if copula else found
        found = noun or found
    return found


def _singular(word: str) -> str:
    return word.removesuffix("ies") + "y" if word.endswith("ies") else word.removesuffix("s")


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


@attrs.frozen
class ChannelWeights:
    """The weights of the recall channels, each ≥ 0; 0 turns a channel off."""

    semantic: float
    lexical: float
    graph: float


_WEIGHTS: Final[Mapping[Intent, ChannelWeights]] = {
    Intent.WHY: ChannelWeights(1.0, 0.8, 1.5),
    Intent.WHEN: ChannelWeights(0.8, 1.2, 0.8),
    Intent.WHO: ChannelWeights(0.8, 0.8, 1.8),
    Intent.HOW: ChannelWeights(1.2, 1.0, 0.8),
    Intent.WHAT: ChannelWeights(1.0, 1.0, 1.0),
}


def intent_of(type_: QuestionType) -> Intent:
    """The intent of a question of some type; "how many" is factual, not procedural."""
    return Intent(type_.value) if type_.value in _WEIGHTS else Intent.WHAT


def channel_weights(intent: Intent, *, deployment: float = 1.0, health: float = 1.0) -> ChannelWeights:
    """The channel weights of an intent; the graph's × ``deployment``, × ``health`` / 0.70 if health is below 0.70.

    ``deployment`` is any number ≥ 0 (relational workloads 2.0, informational ones 0.5, 0 is off), ``health`` that of
    the graph, in [0, 1]. Raises `InvalidInputError`.
    """
    check.refuse("channel weights", check.number("deployment", deployment, 0.0), check.unit("health", health))
    weights = _WEIGHTS[intent]
    return attrs.evolve(weights, graph=weights.graph * deployment * min(1.0, health / HEALTHY))


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


MAX_DATED: Final = 4_000
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
    found = periods(question[:MAX_DATED], as_of)
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
