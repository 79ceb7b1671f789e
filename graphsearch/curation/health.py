"""Measure the health of a graph on behalf of a principal."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from graphsearch.curation.permissions import Access
from graphsearch.errors import AccessDeniedError
from graphsearch.health.formula import (
    Condition,
    Growth,
    Health,
    HealthCounts,
    Maturity,
    ScopeSize,
    graph_health,
)
from graphsearch.health.keeping import growth_since, record
from graphsearch.health.measuring import counted
from graphsearch.ingest.resolve.resolution import ResolutionCounts
from graphsearch.model import Action
from graphsearch.protocols import GraphStore

__all__ = ["Condition", "Growth", "Health", "HealthCounts", "Maturity", "ScopeSize", "graph_health", "measure_health"]


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
        counts = await counted(access.store, reader)
        earlier = earlier or await growth_since(counts.memories, access.store)
        counts = attrs.evolve(counts, earlier=earlier)
    await record(counts, access.store)
    if resolutions is not None:
        counts = attrs.evolve(
            counts,
            mentions_resolved=max(resolutions.resolved, counts.mentions_disputed),
            entities_created=resolutions.created,
            baseline_fail_rate=resolutions.baseline,
        )
    if scopes is not None:
        held = [await store.statistics() for store in stores]
        sizes = [ScopeSize(memories=each.memories, relations=each.relations) for each in held]
        counts = attrs.evolve(counts, scopes=sizes)
    return graph_health(counts)


def _require_membership(stores: Iterable[GraphStore], access: Access) -> None:
    """Raise `AccessDeniedError` if the principal is not a member of every scope."""
    if access.gate is None or access.gate.allows_all:
        return
    own = {access.store.scope, *access.gate.principal.projects}
    foreign = [store for store in stores if store.scope not in own]
    if foreign:
        raise AccessDeniedError(Action.READ.value)
