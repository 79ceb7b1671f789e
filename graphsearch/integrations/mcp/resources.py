"""Resources: an entity, and the schema of the scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp.types import Resource, ResourceTemplate

from graphsearch.access.reader import reading
from graphsearch.errors import UnknownElementError
from graphsearch.integrations.mcp.entity_tools import recall_entity
from graphsearch.integrations.mcp.json_shapes import shown
from graphsearch.integrations.mcp.service import Caller
from graphsearch.modes.graph_query import visible_schema
from graphsearch.text.rendering import safe_text

_ENTITIES: Final = "graphsearch://entity/"
_JSON: Final = "application/json"

SCHEMA: Final = Resource(
    uri="graphsearch://schema",
    name="schema",
    title="Types in the graph",
    description="The types of entities and relations in the project that you may see, with their counts.",
    mime_type=_JSON,
)
ENTITY: Final = ResourceTemplate(
    uri_template=_ENTITIES + "{id}",
    name="entity",
    title="An entity",
    description="Everything known of one entity, by its id.",
    mime_type=_JSON,
)


async def read(caller: Caller, uri: str) -> dict[str, Any]:
    """Read the resource at a URI. Raises `UnknownElementError` for an unknown URI and for a hidden entity."""
    if uri == SCHEMA.uri:
        return await schema(caller)
    if uri.startswith(_ENTITIES):
        return await recall_entity.run(caller, {"entity": uri.removeprefix(_ENTITIES)})
    raise UnknownElementError(f"no resource {safe_text(uri)[:200]!r}")


async def schema(caller: Caller) -> dict[str, Any]:
    """The visible types, the most frequent first; ``whole`` is false if they were counted on a sample."""
    async with reading(caller.engine.store, gate=caller.gate) as reader:
        found = await visible_schema(reader)
    return caller.fitted(
        {"whole": found.whole},
        entity_types=_counted(found.entity_types),
        relation_types=_counted(found.relation_types),
    )


def _counted(types: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"type": shown(name), "count": count} for name, count in types.items()]
