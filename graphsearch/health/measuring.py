"""Measuring the health of a graph: the counts of a store, and what speaks against how its names were resolved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from uuid import UUID

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import folded_name
from graphsearch.health.duplicates import Comparison, Duplicate, compared
from graphsearch.health.formula import HealthCounts, ScopeSize
from graphsearch.model import Merge
from graphsearch.protocols import GraphStore

RESOLVED: str = "resolved_by_"
"""The beginning of the names of the counters of resolved mentions, by stage."""


async def counted(
    store: GraphStore,
    reader: Reader,
) -> HealthCounts:
    """The counts of a whole graph, which the reader must see.

    Two entities of one name and two types are no fragments of a name: what their mentions weigh is disputed.
    """
    held = await store.statistics()
    found = await compared(store, reader)
    disputed = await _disputed(store, found)
    resolved = sum(number for name, number in held.counters.items() if name.startswith(RESOLVED))
    return HealthCounts(
        memories=held.memories,
        entities=found.entities,
        duplicate_pairs=sum(not _of_one_name(pair) for pair in found.pairs),
        mentions_resolved=resolved,
        mentions_disputed=min(disputed, resolved),
        entities_created=min(held.counters.get("entities_created", 0), resolved),
        baseline_fail_rate=min(1.0, held.counters.get("names_unseen", 0) / resolved) if resolved else 0.0,
        scopes=[ScopeSize(memories=held.memories, relations=held.relations)],
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


def _of_one_name(pair: Duplicate) -> bool:
    return folded_name(pair.one.name) == folded_name(pair.other.name)


def _undone(merges: Sequence[Merge]) -> int:
    """The mentions that wrong merges had moved, each pair of entities counted once and not if it was merged again."""
    last = {(merge.source_id, merge.target_id): merge for merge in merges}
    return sum(merge.mentions or 0 for merge in last.values() if merge.undone_at is not None)


def _groups(pairs: Iterable[Duplicate]) -> dict[UUID, UUID]:
    """The entities of pairs, each with one that represents all those that it is joined with."""
    above: dict[UUID, UUID] = {}

    def root(id_: UUID) -> UUID:
        while (parent := above.setdefault(id_, id_)) != id_:
            id_ = parent
        return id_

    for pair in pairs:
        above[root(pair.one.id)] = root(pair.other.id)
    return {id_: root(id_) for id_ in list(above)}
