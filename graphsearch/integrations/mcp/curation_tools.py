"""Tools that curate the graph: correct, merge, link, forget."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from graphsearch.curation.entity_changes import Corrections
from graphsearch.integrations.mcp.arguments import Entity, EntityType, Labels, Limit, MemoryId, Name, Session, reference
from graphsearch.integrations.mcp.json_shapes import community_json, counts_json, entity_json
from graphsearch.integrations.mcp.service import Caller
from graphsearch.integrations.mcp.tool import writes
from graphsearch.model import validation as check


@writes(destructive=True)
async def update_entity(
    caller: Caller,
    entity: Entity,
    name: Name | None = None,
    type: EntityType | None = None,
    description: Annotated[str | None, Field(max_length=4_000)] = None,
    aliases: Annotated[list[Name] | None, Field(max_length=50, description="All of its aliases.")] = None,
    labels: Labels | None = None,
    importance_weight: Annotated[
        float | None, Field(ge=0, le=1, description="Its importance; 0.5 is the default.")
    ] = None,
) -> dict[str, Any]:
    """Correct an entity. Give only the fields to change; lists are replaced whole. A former name becomes an alias.

    If two entities turn out to be one, use merge_entities.
    """
    given = {
        "name": name,
        "type": type,
        "description": description,
        "aliases": aliases,
        "labels": labels,
        "importance_weight": importance_weight,
    }
    corrections: Corrections = {key: value for key, value in given.items() if value is not None}  # type: ignore[assignment]
    check.refuse("update_entity", None if corrections else "give at least one correction")
    now = await caller.curator.update_entity(reference(entity), **corrections)
    return caller.fitted({"entity": entity_json(now)})


@writes(destructive=True, idempotent=False)
async def merge_entities(
    caller: Caller,
    source: Entity,
    target: Entity,
    dry_run: Annotated[bool, Field(description="Only report what would move.")] = False,
) -> dict[str, Any]:
    """Merge two entities that are the same: everything known of `source` becomes known of `target`.

    Both must have the same type. Try it with `dry_run` first.
    """
    merge = await caller.curator.merge_entities(reference(source), reference(target), dry_run=dry_run)
    ids = {"merge_id": str(merge.id), "source_id": str(merge.source_id), "target_id": str(merge.target_id)}
    return {**ids, **counts_json(merge), "dry_run": dry_run}


@writes()
async def link_memories(
    caller: Caller,
    from_id: MemoryId,
    to_id: MemoryId,
    type: Annotated[
        str, Field(min_length=1, max_length=100, description="Such as relates_to or follows.")
    ] = "relates_to",
) -> dict[str, Any]:
    """Link a memory to a related one; backlinks of the second then lists the first."""
    return {"new": await caller.curator.link_memories(from_id, to_id, type=type)}


@writes()
async def detect_communities(caller: Caller, limit: Limit = 20) -> dict[str, Any]:
    """Detect groups of closely related entities, the largest first.

    Processes the whole graph and stores the result: once a day is enough.
    """
    found = await caller.curator.detect_communities()
    communities = [community_json(community) for community in found[:limit]]
    return caller.fitted({"found": len(found)}, communities=communities)


@writes(destructive=True)
async def forget(
    caller: Caller,
    memory: MemoryId | None = None,
    session_id: Annotated[Session | None, Field(description="Or a session: all of its memories.")] = None,
    source: Annotated[Name | None, Field(description="Or a source: all memories from it.")] = None,
) -> dict[str, Any]:
    """Forget a memory, a session or a source, with everything that rests on it alone. Irreversible. Give one."""
    report = await caller.curator.forget(memory, session_id=session_id, source=source)
    return {"memories": 0, **counts_json(report)}
