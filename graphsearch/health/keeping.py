"""The health of a graph: counted, measured when the graph has changed enough, and kept with it for recall.

Measuring takes time in proportion to the entities, about 0.1 ms each. A graph is measured again when it has grown or
shrunk by a quarter, from `LARGE` entities on when it has doubled or halved: so all measurements of a growing graph
together take at most five times as long as the last one, of a large graph twice. In between, at most a fifth of the
graph, or a half, is new, which is the most that its health can have moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader, reading
from graphsearch.claims.naming import folded_name
from graphsearch.errors import ReadOnlyStoreError, UnknownScopeError
from graphsearch.health.duplicates import Comparison, Duplicate, compared
from graphsearch.health.formula import JUDGED, POOR, Condition, Growth, Health, HealthCounts, graph_health
from graphsearch.model import ElementKind, HealthRecord, Merge
from graphsearch.names.likeness import Groups
from graphsearch.stores.graph import GraphStore

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


async def measure(store: GraphStore) -> None:
    """Measure the health of a graph and store it with it."""
    async with reading(store) as reader:
        counts = await count_health(store, reader)
    await record_health(counts, store)


async def record_health(counts: HealthCounts, store: GraphStore) -> Health:
    """Compute the health of a graph, and store it with the graph, where that may be written to."""
    health = graph_health(counts)
    found = HealthRecord(
        at=store.clock.now(),
        value=None if health.condition is Condition.TOO_SMALL else health.value,
        memories=counts.memories,
        entities=counts.entities,
        size=await store.document_count(ElementKind.ENTITY),
    )
    history = await store.health_history()
    if not history or attrs.evolve(history[-1], at=found.at) != found:
        with suppress(ReadOnlyStoreError):
            await store.record_health(found)
    return health


RESOLVED: Final = "resolved_by_"
"""The beginning of the names of the counters of resolved mentions, by stage."""


async def count_health(store: GraphStore, reader: Reader) -> HealthCounts:
    """Count a whole graph, which the reader must see; compare it with when it last had clearly fewer memories.

    Two entities of one name and two types are no fragments of a name: what their mentions weigh is disputed.
    """
    held = await store.statistics()
    found = await compared(store, reader)
    disputed = await _disputed(store, found)
    fewer = [each for each in await store.health_history() if each.memories * GROWN <= held.memories]
    resolved = sum(number for name, number in held.counters.items() if name.startswith(RESOLVED))
    return HealthCounts(
        memories=held.memories,
        entities=found.entities,
        relations=held.relations,
        duplicate_pairs=sum(folded_name(pair.one.name) != folded_name(pair.other.name) for pair in found.pairs),
        mentions_resolved=resolved,
        mentions_disputed=min(disputed, resolved),
        earlier=Growth(memories=fewer[-1].memories, entities=fewer[-1].entities) if fewer else None,
    )


async def _disputed(store: GraphStore, found: Comparison) -> int:
    """The number of mentions whose resolution something speaks against.

    Of entities that may be one, all mentions but those of the most mentioned are of a duplicate; a name that fits
    several entities left its mentions undecided; an undone merge had given mentions to a wrong entity.
    """
    groups = _groups(found.pairs)
    ids = sorted({*groups, *found.ambiguous})
    mentions = Counter(each.entity_id for each in await store.list_mentions(entity_ids=ids)) if ids else Counter[UUID]()
    whole, most = Counter[UUID](), Counter[UUID]()
    for id_, group in groups.items():
        whole[group] += mentions[id_]
        most[group] = max(most[group], mentions[id_])
    ambiguous = sum(mentions[id_] for id_ in found.ambiguous if id_ not in groups)
    return sum(whole.values()) - sum(most.values()) + ambiguous + _undone(await store.merges())


def _undone(merges: Sequence[Merge]) -> int:
    """The mentions that wrong merges had moved, each pair of entities counted once and not if it was merged again."""
    last = {(merge.source_id, merge.target_id): merge for merge in merges}
    return sum(merge.mentions or 0 for merge in last.values() if merge.undone_at is not None)


def _groups(pairs: Iterable[Duplicate]) -> dict[UUID, UUID]:
    """The entities of pairs, each with one that represents all those that it is joined with."""
    ends = [(pair.one.id, pair.other.id) for pair in pairs]
    groups = Groups(ends)
    return {id_: groups.root(id_) for both in ends for id_ in both}
