"""The care of one graph, blocking."""

from __future__ import annotations

from collections.abc import Iterable

from graphsearch.access.gate import Gate
from graphsearch.curation import curator
from graphsearch.curation.health import Growth, Health
from graphsearch.ingest.resolve.resolution import ResolutionCounts
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.engine import GraphSearchEngine
from graphsearch.sync.facade import Facade, behind, blocking
from graphsearch.sync.stores import GraphStore


class Curator(Facade[curator.Curator]):
    """As `graphsearch.Curator`."""

    def __init__(self, engine: GraphSearchEngine, *, gate: Gate | None = None) -> None:
        self.asynchronous = curator.Curator(behind(engine), gate=gate)

    merge_entities = blocking(curator.Curator.merge_entities)
    undo_merge = blocking(curator.Curator.undo_merge)
    merges = blocking(curator.Curator.merges)
    find_duplicates = blocking(curator.Curator.find_duplicates)
    judge_duplicates = blocking(curator.Curator.judge_duplicates)
    mark_distinct = blocking(curator.Curator.mark_distinct)
    update_entity = blocking(curator.Curator.update_entity)
    contradictions = blocking(curator.Curator.contradictions)
    search_entities = blocking(curator.Curator.search_entities)
    recall_entity = blocking(curator.Curator.recall_entity)
    recall_related = blocking(curator.Curator.recall_related)
    entity_graph = blocking(curator.Curator.entity_graph)
    entity_timeline = blocking(curator.Curator.entity_timeline)
    why = blocking(curator.Curator.why)
    link_memories = blocking(curator.Curator.link_memories)
    backlinks = blocking(curator.Curator.backlinks)
    forget_memory = blocking(curator.Curator.forget_memory)
    forget_session = blocking(curator.Curator.forget_session)
    forget_source = blocking(curator.Curator.forget_source)
    detect_communities = blocking(curator.Curator.detect_communities)
    refresh_communities = blocking(curator.Curator.refresh_communities)
    communities = blocking(curator.Curator.communities)

    def graph_health(
        self,
        *,
        scopes: Iterable[GraphStore] | None = None,
        resolutions: ResolutionCounts | None = None,
        earlier: Growth | None = None,
    ) -> Health:
        """How healthy the graph is; ``scopes`` are blocking stores, all else is as `graphsearch.Curator` has it."""
        stores = None if scopes is None else [behind(store) for store in scopes]
        return BRIDGE.run(self.asynchronous.graph_health(scopes=stores, resolutions=resolutions, earlier=earlier))
