"""Keeping the health of a graph with it: measured when the graph has changed enough, and read by recall.

Measuring takes time in proportion to the entities, about 0.1 ms each. A graph is measured again when it has grown or
shrunk by a quarter, from `LARGE` entities on when it has doubled or halved: so all measurements of a growing graph
together take at most five times as long as the last one, of a large graph twice. In between, at most a fifth of the
graph, or a half, is new, which is the most that its health can have moved.
"""

from __future__ import annotations

from typing import Final

import attrs

from graphsearch.access.reader import reading
from graphsearch.errors import ReadOnlyStoreError, UnknownScopeError
from graphsearch.health.formula import JUDGED, POOR, Condition, Growth, HealthCounts, graph_health
from graphsearch.health.measuring import counted
from graphsearch.model import ElementKind, HealthRecord
from graphsearch.protocols import GraphStore

LARGE: Final = 1_000
"""Entities from which a graph is measured again only when it has doubled or halved."""
GROWN: Final = 1.25
"""How many times as many memories as before a graph must have for its growth to be compared."""


async def follow_growth(store: GraphStore) -> None:
    """Measure the health of a graph and store it with it, if it has changed enough since it was last measured."""
    try:
        async with store.snapshot():
            history = await store.health_history()
            size = await store.document_count(ElementKind.ENTITY)
    except UnknownScopeError:  # nothing was worth writing
        return
    if has_changed(size, history[-1].size if history else None):
        await measure(store)


async def follow_repair(store: GraphStore) -> None:
    """Measure the health of a poor graph again after its names were corrected, so that it counts in full again."""
    history = await store.health_history()
    if history and history[-1].value is not None and history[-1].value < POOR:
        await measure(store)


def has_changed(size: int, before: int | None) -> bool:
    """Whether a graph of ``size`` entities has changed enough since it had ``before``: None if never measured."""
    if before is None:
        return size >= JUDGED
    factor = 2.0 if min(size, before) >= LARGE else 1.25
    return max(size, before) >= JUDGED and max(size, before) >= factor * min(size, before)


async def measure(store: GraphStore) -> HealthCounts:
    """Measure the health of a graph and store it with it."""
    async with reading(store) as reader:
        counts = await counted(store, reader)
    await record(counts, store)
    return counts


async def record(counts: HealthCounts, store: GraphStore) -> None:
    """Store a measured health with its graph, where it may be written to."""
    health = graph_health(counts)
    found = HealthRecord(
        at=store.clock.now(),
        value=None if health.condition is Condition.TOO_SMALL else health.value,
        memories=counts.memories,
        entities=counts.entities,
        size=await store.document_count(ElementKind.ENTITY),
    )
    history = await store.health_history()
    if history and attrs.evolve(history[-1], at=found.at) == found:
        return
    try:
        await store.record_health(found)
    except ReadOnlyStoreError:
        return


async def growth_since(memories: int, store: GraphStore) -> Growth | None:
    """What a graph had when it last had clearly fewer memories than now; None if it was not measured then."""
    fewer = [each for each in await store.health_history() if each.memories * GROWN <= memories]
    return Growth(memories=fewer[-1].memories, entities=fewer[-1].entities) if fewer else None
