"""Tools for entities: find them, and everything known of one."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from graphsearch.curation import Event
from graphsearch.integrations.mcp.arguments import Entity, EntityType, Limit, MemoryId, Moment, reference
from graphsearch.integrations.mcp.json_shapes import (
    community_json,
    entity_json,
    memory_json,
    relation_json,
    shown,
    standing_json,
    triplet_json,
)
from graphsearch.integrations.mcp.service import Caller
from graphsearch.integrations.mcp.tool import reads


@reads
async def search_entities(
    caller: Caller,
    query: Annotated[str, Field(min_length=1, max_length=400, description="A name, part of one, or a misspelt one.")],
    limit: Limit = 10,
    type: EntityType | None = None,
) -> dict[str, Any]:
    """Find entities by name or part of a name, and get their ids for the other tools."""
    found = await caller.curator.search_entities(query, limit=limit, type=type)
    entities = [{**entity_json(hit.entity), "found_by": hit.way.value, "score": round(hit.score, 4)} for hit in found]
    return caller.fitted({}, entities=entities)


@reads
async def recall_entity(caller: Caller, entity: Entity, limit: Limit = 10) -> dict[str, Any]:
    """Get everything known of one entity: its relations, the memories that mention it, role, place and community."""
    found = await caller.curator.recall_entity(reference(entity), limit=limit)
    known = {
        "most_recent_role": standing_json(found.most_recent_role),
        "most_recent_location": standing_json(found.most_recent_location),
        "community": found.community and community_json(found.community),
    }
    return caller.fitted(
        {"entity": entity_json(found.entity), **{name: value for name, value in known.items() if value}},
        triplets=[triplet_json(triplet) for triplet in found.triplets],
        memories=[memory_json(memory) for memory in found.memories],
    )


@reads
async def entity_timeline(
    caller: Caller,
    entity: Entity,
    since: Annotated[Moment | None, Field(description="Leave out events before this time.")] = None,
    until: Annotated[Moment | None, Field(description="Leave out events at or after this time.")] = None,
) -> dict[str, Any]:
    """List what happened to an entity, in order: relations that started or ended, and memories that mention it.

    Of a long timeline only the beginning fits: call again with `since`.
    """
    events = await caller.curator.entity_timeline(reference(entity), since=since, until=until)
    return caller.fitted({}, events=[_event(event) for event in events])


@reads
async def backlinks(
    caller: Caller, entity: Entity | None = None, memory: MemoryId | None = None, limit: Limit = 20
) -> dict[str, Any]:
    """List the memories that mention an entity, or that are linked to a memory, newest first. Give one of the two."""
    ref = None if entity is None else reference(entity)
    found = await caller.curator.backlinks(entity=ref, memory=memory, limit=limit)
    memories = [
        {**memory_json(each.memory), "link_types": sorted({shown(link.type) for link in each.links})}
        if each.links
        else memory_json(each.memory)
        for each in found
    ]
    return caller.fitted({}, memories=memories)


def _event(event: Event) -> dict[str, Any]:
    about = {
        "relation": event.relation and relation_json(event.relation),
        "entity": event.entity and entity_json(event.entity),
        "memory": event.memory and memory_json(event.memory),
    }
    return {
        "at": event.at.isoformat(),
        "kind": event.kind.value,
        **{name: each for name, each in about.items() if each},
    }
