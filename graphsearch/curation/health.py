"""The health of a graph: one number from three factors, with warnings; and measuring it in stores."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.curation.permissions import Access
from graphsearch.curation.review import ALIKE
from graphsearch.errors import AccessDeniedError
from graphsearch.ingest.resolve.resolution import ResolutionCounts
from graphsearch.model import Action
from graphsearch.model import validation as check
from graphsearch.model.validation import as_tuple
from graphsearch.protocols import GraphStore

GOOD: Final = 0.85
"""Above it, health is good."""
POOR: Final = 0.70
"""Below it, health is poor, and recall weights the graph less."""
SPARSE: Final = 500
"""A graph with fewer memories is sparse; a scope with more should have relations."""
RELIABLE: Final = 2_000
"""A graph with at least this many memories is reliable."""
CONNECTED: Final = 10
"""A scope with more than `SPARSE` memories should have more relations than this."""


class Condition(StrEnum):
    """How good a health is."""

    GOOD = "good"
    FAIR = "fair"
    POOR = "poor"


class Maturity(StrEnum):
    """The stage of growth of a graph, by its memories."""

    SPARSE = "sparse"
    GROWING = "growing"
    RELIABLE = "reliable"


@attrs.frozen(kw_only=True)
class ScopeSize:
    """The size of one scope."""

    memories: int
    relations: int

    def __attrs_post_init__(self) -> None:
        check.refuse("scope size", *(_count(field, getattr(self, field)) for field in ("memories", "relations")))


@attrs.frozen(kw_only=True)
class Growth:
    """The number of memories and entities that a scope had at an earlier time."""

    memories: int = 0
    entities: int = 0

    def __attrs_post_init__(self) -> None:
        check.refuse("growth", *(_count(field, getattr(self, field)) for field in ("memories", "entities")))


@attrs.frozen(kw_only=True)
class HealthCounts:
    """The input of `graph_health`.

    * ``duplicate_pairs``: pairs of entities with a similarity > 0.85 that are not marked as distinct.
    * ``mentions_resolved``, ``entities_created``: the number of resolved mentions, and how many of them matched no
      entity and created one.
    * ``baseline_fail_rate``: ``entities_created / mentions_resolved`` if only exact ids had been matched; in [0, 1].
    * ``scopes``: the scopes whose edge coverage is measured.
    * ``earlier``: the baseline for growth; by default zero.
    """

    memories: int
    entities: int
    duplicate_pairs: int = 0
    mentions_resolved: int = 0
    entities_created: int = 0
    baseline_fail_rate: float = 0.0
    scopes: tuple[ScopeSize, ...] = attrs.field(default=(), converter=as_tuple)
    earlier: Growth = attrs.field(factory=Growth)

    def __attrs_post_init__(self) -> None:
        counts = ("memories", "entities", "duplicate_pairs", "mentions_resolved", "entities_created")
        check.refuse(
            "health counts",
            *(_count(field, getattr(self, field)) for field in counts),
            check.unit("baseline_fail_rate", self.baseline_fail_rate),
            None
            if self.entities_created <= self.mentions_resolved
            else "entities_created must not exceed mentions_resolved",
        )


@attrs.frozen(kw_only=True)
class Health:
    """The health of a graph and its factors, each in [0, 1]; higher is better except for the rates.

    ``value`` is (1 − fragment_rate) × resolution_precision × edge_coverage. ``graph_weight_factor``, in [0, 1],
    multiplies the weight of the graph channel in recall. ``entity_growth`` is the number of new entities per new memory
    since the earlier count, None if there is no new memory.
    """

    value: float
    fragment_rate: float
    resolution_precision: float
    resolution_fail_rate: float
    baseline_fail_rate: float
    edge_coverage: float
    condition: Condition
    graph_weight_factor: float
    maturity: Maturity
    entity_growth: float | None
    message: str
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        rates = ("fragment_rate", "resolution_precision", "edge_coverage")
        terms = (f"  {name.replace('_', ' ')} {getattr(self, name):.4f}" for name in rates)
        return "\n".join([self.message, *terms, *self.warnings])


def graph_health(counts: HealthCounts) -> Health:
    """Compute the health of a graph; see `docs/design.md`, heading Duplicates, health and forgetting.

    Each of the three factors is clamped to [0, 1], and is 1 if its divisor is 0: a graph without entities has no
    duplicates, one without mentions no failed resolutions, and without a large scope none lacks relations.
    """
    fragment_rate = _ratio(counts.duplicate_pairs, counts.entities, empty=0.0)
    fail_rate = _ratio(counts.entities_created, counts.mentions_resolved, empty=0.0)
    precision = 1.0 - _ratio(fail_rate, counts.baseline_fail_rate, empty=0.0)
    large = [scope for scope in counts.scopes if scope.memories > SPARSE]
    coverage = _ratio(sum(scope.relations > CONNECTED for scope in large), len(large), empty=1.0)
    value = (1.0 - fragment_rate) * precision * coverage
    condition = _condition(value)
    maturity = _maturity(counts.memories)
    growth = _entity_growth(counts)
    return Health(
        value=value,
        fragment_rate=fragment_rate,
        resolution_precision=precision,
        resolution_fail_rate=fail_rate,
        baseline_fail_rate=counts.baseline_fail_rate,
        edge_coverage=coverage,
        condition=condition,
        graph_weight_factor=min(1.0, value / POOR),
        maturity=maturity,
        entity_growth=growth,
        message=f"{_MATURITY[maturity].format(memories=counts.memories)}; health {value:.2f} is {condition}",
        warnings=tuple(_warnings(condition, value, growth)),
    )


_MATURITY: Final = {
    Maturity.SPARSE: f"sparse: {{memories}} memories, fewer than {SPARSE}",
    Maturity.GROWING: f"growing: {{memories}} memories, reliable from {RELIABLE}",
    Maturity.RELIABLE: "reliable: {memories} memories",
}


def _ratio(part: float, whole: float, *, empty: float) -> float:
    """The part of the whole, at most 1; ``empty`` if the whole is 0."""
    return min(1.0, part / whole) if whole else empty


def _condition(value: float) -> Condition:
    if value > GOOD:
        return Condition.GOOD
    return Condition.POOR if value < POOR else Condition.FAIR


def _maturity(memories: int) -> Maturity:
    if memories < SPARSE:
        return Maturity.SPARSE
    return Maturity.GROWING if memories < RELIABLE else Maturity.RELIABLE


def _entity_growth(counts: HealthCounts) -> float | None:
    memories = counts.memories - counts.earlier.memories
    return (counts.entities - counts.earlier.entities) / memories if memories > 0 else None


def _warnings(condition: Condition, value: float, growth: float | None) -> list[str]:
    found = []
    if condition is Condition.POOR:
        found.append(f"health {value:.2f} is below {POOR:.2f}: the graph counts less in recall")
    if growth is not None and growth >= 1.0:
        found.append(
            f"entities grow as fast as memories ({growth:.2f} for each): names are not resolved to the entities known"
        )
    return found


def _count(field: str, value: object) -> str | None:
    return check.number(field, value, 0)


async def measure_health(
    access: Access,
    *,
    scopes: Iterable[GraphStore] | None = None,
    resolutions: ResolutionCounts | None = None,
    earlier: Growth | None = None,
) -> Health:
    """See `graphsearch.curation.Curator.graph_health`."""
    stores = list(scopes) if scopes is not None else [access.store]
    _require_membership(stores, access)
    async with access.reading() as reader:
        await access.demand_whole("the counts of health", reader)
        held = await access.store.statistics()
        # more pairs than entities cannot raise the rate, which is clamped
        pairs = await access.store.similar_pairs(threshold=ALIKE, limit=held.entities)
    counted = resolutions or ResolutionCounts.of_counters(held.counters)
    others = [await store.statistics() for store in stores]
    return graph_health(
        HealthCounts(
            memories=held.memories,
            entities=held.entities,
            duplicate_pairs=sum(pair.similarity > ALIKE for pair in pairs),
            mentions_resolved=counted.resolved,
            entities_created=counted.created,
            baseline_fail_rate=counted.baseline,
            scopes=[ScopeSize(memories=each.memories, relations=each.relations) for each in others],
            earlier=earlier or Growth(),
        )
    )


def _require_membership(stores: Iterable[GraphStore], access: Access) -> None:
    """Raise `AccessDeniedError` if the principal is not a member of every scope."""
    if access.gate is None or access.gate.allows_all:
        return
    own = {access.store.scope, *access.gate.principal.projects}
    foreign = [store for store in stores if store.scope not in own]
    if foreign:
        raise AccessDeniedError(Action.READ.value, len(foreign), len(list(stores)))
