"""Curation of one graph, blocking."""

from __future__ import annotations

from collections.abc import Iterable

from graphsearch.access.gate import Gate
from graphsearch.curation import curator
from graphsearch.curation.health import Growth, Health
from graphsearch.ingest.resolve.resolution import ResolutionCounts
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.engine import GraphSearchEngine
from graphsearch.sync.facade import Facade, behind
from graphsearch.sync.stores import GraphStore


class Curator(Facade[curator.Curator]):
    """As `graphsearch.Curator`."""

    def __init__(self, engine: GraphSearchEngine, *, gate: Gate | None = None) -> None:
        self.asynchronous = curator.Curator(behind(engine), gate=gate)

    def graph_health(
        self,
        *,
        scopes: Iterable[GraphStore] | None = None,
        resolutions: ResolutionCounts | None = None,
        earlier: Growth | None = None,
    ) -> Health:
        """Report the health of the graph; ``scopes`` are blocking stores, all else is as in `graphsearch.Curator`."""
        stores = None if scopes is None else [behind(store) for store in scopes]
        return BRIDGE.run(self.asynchronous.graph_health(scopes=stores, resolutions=resolutions, earlier=earlier))
