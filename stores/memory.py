"""An in-memory graph store: exact, without a server, gone with the process."""

from __future__ import annotations

from uuid import uuid4, uuid5

from graphsearch._support.timing import SystemClock
from graphsearch.errors import UnknownScopeError
from graphsearch.model import Batch, Scope
from graphsearch.protocols import Clock
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_memory.scope import InMemoryScope
from graphsearch.stores.in_memory.versions import Cell
from graphsearch.text.analyser import ENGLISH, Analyser


class InMemoryGraphStore:
    """A source of scopes in memory; they are gone when it is.

    ``analyser`` produces the terms of texts and questions.
    """

    def __init__(self, *, clock: Clock | None = None, analyser: Analyser = ENGLISH) -> None:
        self._clock = clock or SystemClock()
        self._analyser = analyser
        self._secret = uuid4()
        self._cells: dict[Scope, Cell] = {}

    def with_scope(self, *, org_id: str, project_id: str) -> ScopedMemoryStore:
        """The graph of one scope. Raises `InvalidInputError` if either part is empty."""
        scope = Scope(org_id, project_id)
        cell = Cell(self._analyser, uuid5(self._secret, org_id))
        return ScopedMemoryStore(scope, self._clock, self._cells.setdefault(scope, cell))


class ScopedMemoryStore(InMemoryScope, GraphStore):
    """One scope of an `InMemoryGraphStore`; a `graphsearch.stores.graph.GraphStore`."""


async def or_empty(store: GraphStore) -> GraphStore:
    """The store, or an empty scope in memory in its place where nothing was ever written."""
    try:
        await store.embedder_name()
    except UnknownScopeError:
        store = InMemoryGraphStore().with_scope(org_id=store.scope.org_id, project_id=store.scope.project_id)
        await store.write(Batch())
    return store
