"""Tools that walk from one entity to others."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from graphsearch.integrations.mcp.arguments import AsOf, Entity, Hops, Limit, reference
from graphsearch.integrations.mcp.json_shapes import entity_json, path_json, plain, relation_json, triplet_json
from graphsearch.integrations.mcp.service import Caller
from graphsearch.integrations.mcp.tool import reads


@reads
async def neighbors(
    caller: Caller, entity: Entity, depth: Hops = 1, limit: Limit = 25, as_of: AsOf = None
) -> dict[str, Any]:
    """List the relations around one entity, the most confident and nearest first."""
    found = await caller.engine.neighbors(reference(entity), depth=depth, limit=limit, as_of=as_of, gate=caller.gate)
    return caller.fitted({}, triplets=[triplet_json(triplet) for triplet in found])


@reads
async def path(
    caller: Caller, source: Entity, target: Entity, max_hops: Hops = 4, as_of: AsOf = None
) -> dict[str, Any]:
    """Find how two entities are connected: the shortest path, then the most confident. `path` is null if none.

    Relations are followed in both directions.
    """
    found = await caller.engine.path(
        reference(source), reference(target), max_hops=max_hops, as_of=as_of, gate=caller.gate
    )
    if found is None:
        return {"path": None}
    return caller.fitted(
        {"path": path_json(found)},
        entities=[entity_json(entity) for entity in found.entities],
        relations=[relation_json(relation) for relation in found.relations],
    )


@reads
async def recall_related(caller: Caller, entity: Entity, max_hops: Hops = 2, limit: Limit = 20) -> dict[str, Any]:
    """List the entities reachable from an entity, the nearest first, with the relations in between."""
    found = await caller.curator.recall_related(reference(entity), max_hops=max_hops, limit=limit)
    related = [
        {
            **entity_json(each.entity),
            "hops": each.hops,
            "strength": round(each.strength, 4),
            "path": [relation_json(relation) for relation in each.path],
        }
        for each in found
    ]
    return caller.fitted({}, related=related)


@reads
async def entity_graph(
    caller: Caller,
    entity: Entity,
    depth: Hops = 1,
    limit: Annotated[int, Field(ge=1, le=500, description="The maximum number of entities, the nearest first.")] = 100,
) -> dict[str, Any]:
    """Draw the graph around an entity: `nodes` and the `links` among them, as node-link JSON."""
    found = plain(await caller.curator.entity_graph(reference(entity), depth=depth, limit=limit))
    nodes, links = found.pop("nodes"), found.pop("links")
    answer = caller.fitted(found, nodes=nodes, links=links)
    there = {node["id"] for node in answer["nodes"]}
    kept = [link for link in answer["links"] if {link["source"], link["target"]} <= there]
    if missing := len(nodes) + len(links) - len(there) - len(kept):
        answer |= {"links": kept, "truncated": missing}
    return answer
