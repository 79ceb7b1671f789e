"""The tools, a file a family, in the order in which clients list them."""

from __future__ import annotations

from typing import Final

from graphsearch.integrations.mcp.tool import Tool
from graphsearch.integrations.mcp.tools import asking, changing, entities, learning, walking

TOOLS: Final[tuple[Tool, ...]] = (
    asking.graph_query,
    asking.recall,
    asking.graph_explain,
    learning.graph_improve,
    learning.graph_ingest,
    walking.graph_neighbors,
    walking.graph_path,
    walking.recall_related,
    walking.entity_graph,
    entities.search_entities,
    entities.recall_entity,
    entities.entity_timeline,
    entities.backlinks,
    changing.update_entity,
    changing.merge_entities,
    changing.link_memories,
    changing.detect_communities,
    changing.forget,
)
