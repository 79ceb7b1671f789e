"""All that a scope holds as stored, retracted relations included: for what is allowed on everything or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from graphsearch.access.gate import Gate
from graphsearch.model import Action, Entity, Memory, Relation
from graphsearch.model.stored import Key, Record, RecordKind, StoredEntity, StoredMemory, key_of
from graphsearch.stores.graph import GraphStore

RECORDS: Final = 1_000
"""Records read at a time."""
_ELEMENTS: Final = (RecordKind.ENTITY, RecordKind.MEMORY, RecordKind.RELATION)


async def record_pages(store: GraphStore, kind: RecordKind) -> AsyncIterator[Sequence[Record]]:
    """The records of a kind, page by page, in order of their keys."""
    after: Key | None = None
    while page := await store.records(kind, after=after, limit=RECORDS):
        yield page
        if len(page) < RECORDS:
            return
        after = key_of(page[-1])


async def stored_elements(store: GraphStore) -> AsyncIterator[Sequence[Entity | Memory | Relation]]:
    """Every element of a scope, page by page."""
    for kind in _ELEMENTS:
        async for page in record_pages(store, kind):
            yield [element_of(each) for each in page]


def element_of(record: Any) -> Entity | Memory | Relation:
    """The element of the record of one."""
    if isinstance(record, StoredEntity):
        return record.entity
    element: Memory | Relation = record.memory if isinstance(record, StoredMemory) else record.relation
    return element


async def demand_everything(store: GraphStore, gate: Gate | None, action: Action) -> None:
    """Raise `AccessDeniedError` unless a principal may do something to every element; without a gate anybody may."""
    if gate is None or gate.allows_all:
        return
    bound = gate.bind(store.scope, action)
    async for elements in stored_elements(store):
        await bound.demand(elements)
