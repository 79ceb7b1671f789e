"""Fresh scopes for evaluations, removed at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Protocol
from uuid import uuid4

from graphsearch.protocols import GraphStore

ORG: Final = "graphsearch-eval"


class Stores(Protocol):
    """An unscoped store: `InMemoryGraphStore`, `PostgresGraphStore`, or a custom one."""

    def with_scope(self, *, org_id: str, project_id: str) -> GraphStore:
        """The graph of one scope."""
        ...


@asynccontextmanager
async def fresh_scope(stores: Stores) -> AsyncIterator[GraphStore]:
    """A new scope with a random id, removed at the end."""
    store = stores.with_scope(org_id=ORG, project_id=str(uuid4()))
    try:
        yield store
    finally:
        await store.remove_scope()
