"""All that a scope holds as stored, retracted relations included: for what is allowed on everything or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final

from graphsearch.access.gate import Gate
from graphsearch.model import Action, ElementKind, Entity, Memory, Relation
from graphsearch.stores.graph import GraphStore

_ROWS: Final = 1_000
"""Rows read at a time."""


async def stored_elements(store: GraphStore) -> AsyncIterator[Sequence[Entity | Memory | Relation]]:
    """Every element of a scope, page by page."""
    for kind in ElementKind:
        after = None
        while page := await store.page(kind, after=after, limit=_ROWS):
            after = page[-1].key
            yield [getattr(row, kind) for row in page]


async def demand_everything(store: GraphStore, gate: Gate | None, action: Action) -> None:
    """Raise `AccessDeniedError` unless a principal may do something to every element; without a gate anybody may."""
    if gate is None or gate.allows_all:
        return
    bound = gate.bind(store.scope, action)
    async for elements in stored_elements(store):
        await bound.demand(elements)
