"""Measure the health of stored graphs: gather the counts for `graphsearch.curation.health` from stores."""

from __future__ import annotations

from collections.abc import Iterable

from graphsearch.curation.duplicates import ALIKE
from graphsearch.curation.health import Growth, Health, HealthCounts, ScopeSize
from graphsearch.curation.health import graph_health as judged
from graphsearch.curation.permissions import Access
from graphsearch.errors import AccessDeniedError
from graphsearch.ingest.resolve.resolution import ResolutionCounts
from graphsearch.model import Action
from graphsearch.protocols import GraphStore


async def graph_health(
    access: Access,
    *,
    scopes: Iterable[GraphStore] | None = None,
    resolutions: ResolutionCounts | None = None,
    earlier: Growth | None = None,
) -> Health:
    """See `graphsearch.curation.Curator.graph_health`."""
    stores = list(scopes) if scopes is not None else [access.store]
    _refuse_strangers(stores, access)
    async with access.store.snapshot():
        held = await access.store.statistics()
        # more pairs than entities cannot raise the rate, which is clamped
        pairs = await access.store.similar_pairs(threshold=ALIKE, limit=held.entities)
    counted = resolutions or ResolutionCounts.of_counters(held.counters)
    others = [await store.statistics() for store in stores]
    return judged(
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


def _refuse_strangers(stores: Iterable[GraphStore], access: Access) -> None:
    """Raise `AccessDeniedError` if the principal is not a member of every scope."""
    if access.gate is None or access.gate.allows_all:
        return
    own = {access.store.scope, *access.gate.principal.projects}
    foreign = [store for store in stores if store.scope not in own]
    if foreign:
        raise AccessDeniedError(Action.READ.value, len(foreign), len(list(stores)))
