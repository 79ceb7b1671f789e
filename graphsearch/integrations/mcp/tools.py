"""All tools, in the order in which clients list them."""

from __future__ import annotations

from typing import Final

from graphsearch.integrations.mcp import curation_tools, entity_tools, memory_tools, search_tools, walk_tools
from graphsearch.integrations.mcp.tool import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    search_tools.context,
    search_tools.recall,
    search_tools.explain,
    memory_tools.feedback,
    memory_tools.remember,
    walk_tools.neighbors,
    walk_tools.path,
    walk_tools.recall_related,
    walk_tools.entity_graph,
    entity_tools.search_entities,
    entity_tools.recall_entity,
    entity_tools.entity_timeline,
    entity_tools.backlinks,
    curation_tools.update_entity,
    curation_tools.merge_entities,
    curation_tools.link_memories,
    curation_tools.detect_communities,
    curation_tools.forget,
)
