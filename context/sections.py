"""Observations and triplets under one budget: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import attrs

from graphsearch.context.budget import compose, pack
from graphsearch.protocols import TokenCounter
from graphsearch.query.intent import HEALTHY
from graphsearch.query.plan import Plan

OBSERVATIONS: Final = "## Relevant Past Observations"
TRIPLETS: Final = "## Knowledge Graph Triplets"

SHARES: Final[Mapping[Plan, float]] = MappingProxyType(
    {
        Plan.ENTITY_CENTRIC: 0.90,
        Plan.BALANCED: 0.90,
        Plan.PRECISION: 0.90,
        Plan.TEMPORAL: 0.95,  # memories carry their dates, triplets none
        Plan.EXPLORATORY: 0.85,  # for an overview, what is related to what
    }
)
"""The observations' part of the budget, by plan; what one section leaves is the other's. `docs/context.md` has why."""


def share_of_observations(plan: Plan, health: float | None = None) -> float:
    """The part of a budget that observations get first; more in a graph whose health, in [0, 1], is below 0.70."""
    trust = 1.0 if health is None else min(1.0, health / HEALTHY)
    return 1.0 - (1.0 - SHARES[plan]) * trust


@attrs.frozen
class TripletText:
    """The ``line`` of a triplet, the ``short`` one without its fact, and that ``fact``, perhaps empty."""

    line: str
    short: str
    fact: str

    def beside(self, told: str) -> str:
        """The line that says nothing twice: without a fact that observations tell."""
        return self.short if self.fact and self.fact in told else self.line


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

    Observations take what fits into their ``share``, in [0, 1], or all of the budget where not one fits there; triplets
    take what fits beside these, and what is left goes to more observations. A section of no lines has no heading.
    """
    told = pack(memories, int(budget * share) if triplets else budget, counter, heading=OBSERVATIONS)
    told = told or pack(memories, budget, counter, heading=OBSERVATIONS)
    observations = compose(OBSERVATIONS, [memories[index] for index in told])
    lines = [triplet.beside(observations) for triplet in triplets]
    shown = pack(lines, budget - _cost(observations, counter), counter, heading=TRIPLETS, order=order)
    graph = compose(TRIPLETS, [lines[index] for index in shown])
    told = pack(memories, budget - _cost(graph, counter), counter, heading=OBSERVATIONS, kept=told)
    return _fitting(_page(told, shown, memories, triplets), memories, triplets, budget, counter)


def _cost(section: str, counter: TokenCounter) -> int:
    return counter.count(section + "\n") if section else 0


def _page(
    told: tuple[int, ...], shown: tuple[int, ...], memories: Sequence[str], triplets: Sequence[TripletText]
) -> Page:
    observations = compose(OBSERVATIONS, [memories[index] for index in told])
    graph = compose(TRIPLETS, [triplets[index].beside(observations) for index in shown])
    return Page(told, shown, "\n".join(filter(None, (observations, graph))))


def _fitting(
    page: Page, memories: Sequence[str], triplets: Sequence[TripletText], budget: int, counter: TokenCounter
) -> Page:
    """The page without its worst triplets, until it fits: sections, which fit, need not add up to the whole."""
    while page.triplets and counter.count(page.text) > budget:
        kept = tuple(index for index in page.triplets if index != max(page.triplets))
        page = _page(page.memories, kept, memories, triplets)
    return page
