"""Observations and triplets under one budget: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import attrs

from graphsearch.context.token_budget import compose, pack
from graphsearch.protocols import TokenCounter
from graphsearch.query.plan import Plan
from graphsearch.query.question_type import HEALTHY

OBSERVATIONS: Final = "## Relevant Past Observations"
TRIPLETS: Final = "## Knowledge Graph Triplets"

SHARES: Final[Mapping[Plan, float]] = MappingProxyType(
    {
        Plan.ENTITY_CENTRIC: 0.90,
        Plan.BALANCED: 0.90,
        Plan.PRECISION: 0.90,
        Plan.TEMPORAL: 0.95,  # when something was said stands on memories alone
        Plan.EXPLORATORY: 0.85,  # for an overview, what is related to what
    }
)
"""The observations' share of the budget, by plan; either section can use what the other leaves.

For the reasons see `docs/measurements/context-blocks.md`."""
ANSWERS: Final = 0.3
"""The part of the budget that triplets which answer may have before any observation."""


def share_of_observations(plan: Plan, health: float | None = None) -> float:
    """The part of a budget that observations get first; more in a graph whose health, in [0, 1], is below 0.70."""
    trust = 1.0 if health is None else min(1.0, health / HEALTHY)
    return 1.0 - (1.0 - SHARES[plan]) * trust


@attrs.frozen
class TripletText:
    """The ``line`` of a triplet, the ``short`` one without its fact, and that ``fact``, perhaps empty.

    ``answers``: whether it is an answer to the question, rather than something about what is asked.
    """

    line: str
    short: str
    fact: str
    answers: bool = False

    def beside(self, told: str) -> str:
        """The line that says nothing twice: without a fact that observations tell, unless it answers."""
        return self.short if self.fact and self.fact in told and not self.answers else self.line


@attrs.frozen
class Page:
    """What of two sections fits: the places of the ``memories`` and ``triplets`` shown, as printed, and the text."""

    memories: tuple[int, ...]
    triplets: tuple[int, ...]
    text: str


def lay_out(
    memories: Sequence[str],
    triplets: Sequence[TripletText],
    *,
    budget: int,
    share: float,
    counter: TokenCounter,
    order: Sequence[int] | None = None,
) -> Page:
    """Both sections, best first or triplets in an ``order``; the whole text never counts for more than the budget.

    Triplets that answer come first, each with the sentence that says it, as far as they fit into `ANSWERS` of the
    budget, the best of them in any case. Observations take what fits into their ``share`` of the rest, in [0, 1], or
    all of it where not one fits there; triplets take what fits beside these, and what is left goes to more
    observations. A section of no lines has no heading.
    """
    answers = _answers(triplets, budget, counter, alone=not memories)
    answered = compose(TRIPLETS, [triplets[index].line for index in answers])
    left = budget - _cost(answered, counter)
    within = int(left * share) if len(triplets) > len(answers) else left
    told = pack(memories, within, counter, heading=OBSERVATIONS, beside=answered)
    told = told or pack(memories, left, counter, heading=OBSERVATIONS, beside=answered)
    observations = compose(OBSERVATIONS, [memories[index] for index in told])
    lines = [triplet.beside(observations) for triplet in triplets]
    room = budget - _cost(observations, counter)
    shown = pack(lines, room, counter, heading=TRIPLETS, order=order, kept=answers)
    graph = compose(TRIPLETS, [lines[index] for index in shown])
    told = pack(memories, budget - _cost(graph, counter), counter, heading=OBSERVATIONS, kept=told, beside=answered)
    return _fitting(_page(told, shown, memories, triplets), memories, triplets, budget, counter)


def _answers(triplets: Sequence[TripletText], budget: int, counter: TokenCounter, *, alone: bool) -> tuple[int, ...]:
    """The places of the triplets that answer and have their room first; of triplets ``alone`` all have.

    However small the budget, the best has its room.
    """
    places = [place for place, triplet in enumerate(triplets) if triplet.answers]
    if alone or not places:
        return ()
    lines = [triplets[place].line for place in places]
    best = counter.count(compose(TRIPLETS, lines[:1]))
    packed = pack(lines, min(max(int(budget * ANSWERS), best), budget), counter, heading=TRIPLETS)
    return tuple(places[index] for index in packed)


def _cost(section: str, counter: TokenCounter) -> int:
    return counter.count(section + "\n") if section else 0


def _page(
    told: tuple[int, ...], shown: tuple[int, ...], memories: Sequence[str], triplets: Sequence[TripletText]
) -> Page:
    observations = compose(OBSERVATIONS, [memories[index] for index in told])
    graph = compose(TRIPLETS, [triplets[index].beside(observations) for index in shown])
    answered = any(triplets[index].answers for index in shown)
    sections = (graph, observations) if answered else (observations, graph)
    return Page(told, shown, "\n".join(filter(None, sections)))


def _fitting(
    page: Page, memories: Sequence[str], triplets: Sequence[TripletText], budget: int, counter: TokenCounter
) -> Page:
    """The page without its worst triplets, until it fits: sections, which fit, need not add up to the whole."""
    while page.triplets and counter.count(page.text) > budget:
        kept = tuple(index for index in page.triplets if index != max(page.triplets))
        page = _page(page.memories, kept, memories, triplets)
    return page
