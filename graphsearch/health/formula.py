"""The formula of health: one number from three factors, with warnings. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import attrs

GOOD: Final = 0.85
"""Above it, health is good."""
POOR: Final = 0.70
"""Below it, health is poor, and recall weights the graph less."""
JUDGED: Final = 10
"""Fewest entities of a graph that is judged: with n, one mistaken pair takes 1/n off its health, and a clean graph must
not fall from 1 below 0.90 by one."""
SPARSE: Final = 500
"""A graph with fewer memories is sparse; one with more should have relations."""
RELIABLE: Final = 2_000
"""A graph with at least this many memories is reliable."""
CONNECTED: Final = 10
"""A graph with more than `SPARSE` memories should have more relations than this."""


class Condition(StrEnum):
    """How good a health is."""

    GOOD = "good"
    FAIR = "fair"
    POOR = "poor"
    TOO_SMALL = "too small to judge"
    """Fewer than `JUDGED` entities: whatever its value, the graph counts in full."""


class Maturity(StrEnum):
    """The stage of growth of a graph, by its memories."""

    SPARSE = "sparse"
    GROWING = "growing"
    RELIABLE = "reliable"


@attrs.frozen(kw_only=True)
class Growth:
    """The number of memories and entities that a scope had at an earlier time."""

    memories: int = 0
    entities: int = 0


@attrs.frozen(kw_only=True)
class HealthCounts:
    """The input of `graph_health`.

    * ``entities``: those whose names are compared, so without code, dates and the like.
    * ``duplicate_pairs``: pairs of entities with a similarity > 0.85 that are not marked as distinct.
    * ``mentions_resolved``, ``mentions_disputed``: the number of resolved mentions, and how many of these something
      speaks against: a merge that was undone, a duplicate that was found later, a name that fits several entities.
    * ``relations``: a graph with more than `SPARSE` memories should have more than `CONNECTED`; None if not counted.
    * ``earlier``: what the graph had at an earlier time, with which its growth is compared; None if it is not known.
    """

    memories: int
    entities: int
    relations: int | None = None
    duplicate_pairs: int = 0
    mentions_resolved: int = 0
    mentions_disputed: int = 0
    earlier: Growth | None = None


class StepKind(StrEnum):
    """What would improve the health of a graph."""

    SETTLE_DUPLICATES = "settle_duplicates"
    """Merge pairs of entities that may be one, or mark them as distinct."""
    SETTLE_MENTIONS = "settle_mentions"
    """Say whom disputed mentions mean: by merging, or marking as distinct."""
    ADD_RELATIONS = "add_relations"
    """State facts: there are fewer relations than so many memories should have."""


@attrs.frozen(kw_only=True)
class Step:
    """Something that would improve the health: how often it is to be done, and by how much ``value`` then rises."""

    kind: StepKind
    count: int
    adds: float


@attrs.frozen(kw_only=True)
class Health:
    """The health of a graph and its factors, each in [0, 1]; higher is better except for the ``fragment_rate``.

    ``value`` is (1 − fragment_rate) × resolution_precision × edge_coverage. ``graph_weight_factor``, in [0, 1],
    multiplies the weight of the graph channel in recall; it is 1 for a graph that is too small to judge.
    ``entity_growth`` is the number of new entities per new memory since the earlier count, None if there is none, or
    no new memory. ``counts`` are what it is computed from, and ``steps`` would improve it, by what they add.
    """

    value: float
    fragment_rate: float
    resolution_precision: float
    edge_coverage: float
    condition: Condition
    graph_weight_factor: float
    maturity: Maturity
    entity_growth: float | None
    message: str
    warnings: tuple[str, ...]
    counts: HealthCounts
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        rates = ("fragment_rate", "resolution_precision", "edge_coverage")
        terms = (f"  {name.replace('_', ' ')} {getattr(self, name):.4f}" for name in rates)
        return "\n".join([self.message, *terms, *self.warnings])


def graph_health(counts: HealthCounts) -> Health:
    """Compute the health of a graph; see `docs/project/design.md`, heading Duplicates, health and forgetting.

    Each of the three factors is in [0, 1]: a graph without entities has no duplicates, one without mentions no failed
    resolutions, and a small one lacks no relations.
    """
    fragment_rate = _ratio(counts.duplicate_pairs, counts.entities)
    precision = 1.0 - _ratio(counts.mentions_disputed, counts.mentions_resolved)
    coverage = float(counts.memories <= SPARSE or counts.relations is None or counts.relations > CONNECTED)
    value = (1.0 - fragment_rate) * precision * coverage
    condition = _condition(value, counts)
    maturity = _maturity(counts.memories)
    growth = _entity_growth(counts)
    return Health(
        value=value,
        fragment_rate=fragment_rate,
        resolution_precision=precision,
        edge_coverage=coverage,
        condition=condition,
        graph_weight_factor=1.0 if condition is Condition.TOO_SMALL else min(1.0, value / POOR),
        maturity=maturity,
        entity_growth=growth,
        message=f"{_MATURITY[maturity].format(memories=counts.memories)}; {_verdict(condition, value, counts)}",
        warnings=tuple(_warnings(condition, value, growth)),
        counts=counts,
        steps=_steps(counts, 1.0 - fragment_rate, precision, coverage),
    )


def _steps(counts: HealthCounts, whole: float, precision: float, coverage: float) -> tuple[Step, ...]:
    """What would take each of the three factors to 1, the others as they are; first what adds the most."""
    found = (
        Step(kind=StepKind.SETTLE_DUPLICATES, count=counts.duplicate_pairs, adds=(1.0 - whole) * precision * coverage),
        Step(kind=StepKind.SETTLE_MENTIONS, count=counts.mentions_disputed, adds=whole * (1.0 - precision) * coverage),
        Step(
            kind=StepKind.ADD_RELATIONS,
            count=CONNECTED + 1 - (counts.relations or 0),
            adds=whole * precision * (1.0 - coverage),
        ),
    )
    return tuple(sorted((each for each in found if each.adds), key=lambda each: -each.adds))


_MATURITY: Final = {
    Maturity.SPARSE: f"sparse: {{memories}} memories, fewer than {SPARSE}",
    Maturity.GROWING: f"growing: {{memories}} memories, reliable from {RELIABLE}",
    Maturity.RELIABLE: "reliable: {memories} memories",
}


def _ratio(part: float, whole: float) -> float:
    """The part of the whole, at most 1; 0 of nothing."""
    return min(1.0, part / whole) if whole else 0.0


def _condition(value: float, counts: HealthCounts) -> Condition:
    if counts.entities < JUDGED:
        return Condition.TOO_SMALL
    if value > GOOD:
        return Condition.GOOD
    return Condition.POOR if value < POOR else Condition.FAIR


def _verdict(condition: Condition, value: float, counts: HealthCounts) -> str:
    if condition is Condition.TOO_SMALL:
        return f"{condition}: {counts.entities} entities, fewer than {JUDGED}"
    return f"health {value:.2f} is {condition}"


def _maturity(memories: int) -> Maturity:
    if memories < SPARSE:
        return Maturity.SPARSE
    return Maturity.GROWING if memories < RELIABLE else Maturity.RELIABLE


def _entity_growth(counts: HealthCounts) -> float | None:
    if counts.earlier is None or counts.memories <= counts.earlier.memories:
        return None
    return (counts.entities - counts.earlier.entities) / (counts.memories - counts.earlier.memories)


def _warnings(condition: Condition, value: float, growth: float | None) -> list[str]:
    found = []
    if condition is Condition.POOR:
        found.append(f"health {value:.2f} is below {POOR:.2f}: the graph counts less in recall")
    if growth is not None and growth >= 1.0:
        found.append(
            f"entities grow as fast as memories ({growth:.2f} for each): names are not resolved to the entities known"
        )
    return found
