"""Store scopes and the in-memory store, blocking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from graphsearch.caching import EntityCache
from graphsearch.caching import cached as cached_store
from graphsearch.model import Scope
from graphsearch.protocols import Clock
from graphsearch.stores import graph, memory
from graphsearch.sync.facade import Facade, behind
from graphsearch.text.analyser import Analyser

if TYPE_CHECKING:
    from graphsearch.evaluation.evaluator import Stores as AsyncStores


class GraphStore(Facade[graph.GraphStore]):
    """A graph in one scope, as `graphsearch.stores.graph.GraphStore`; wrap your own with `GraphStore.of(store)`.

    Rows, and transactions of rows, are between a graph and its store.
    """

    scope: Scope
    clock: Clock
    analyser: Analyser
    _without: ClassVar = frozenset({"rows", "rows_by", "page", "forms", "tree", "counts", "scope_row", "writing"})


class Stores(Facade[Any]):
    """A source of scopes; wrap one of your own with `Stores.of(stores)`."""

    asynchronous: AsyncStores

    def with_scope(self, *, org_id: str, project_id: str) -> GraphStore:
        """The graph of one scope. Raises `InvalidInputError` if either part is empty."""
        return GraphStore.of(self.asynchronous.with_scope(org_id=org_id, project_id=project_id))


class InMemoryGraphStore(Stores, Facade[memory.InMemoryGraphStore]):
    """As `graphsearch.stores.InMemoryGraphStore`."""


def cached(store: GraphStore, cache: EntityCache) -> GraphStore:
    """As `graphsearch.caching.cached`: the same store, with its entities read through a cache."""
    return GraphStore.of(cached_store(behind(store), cache))
