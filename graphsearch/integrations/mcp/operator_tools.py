"""Tools for operators, served on request: searches with all scores, and the care of the graph.

A list of tools is part of every prompt, and an agent needs none of these to answer.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from graphsearch.caching import cache_report
from graphsearch.integrations.mcp.answers import (
    community_json,
    counts_json,
    entity_json,
    memory_json,
    plain,
    relation_json,
    shown,
    shown_id,
    triplet_json,
)
from graphsearch.integrations.mcp.reading_tools import Mode, TraversalName
from graphsearch.integrations.mcp.service import Caller
from graphsearch.integrations.mcp.tool import AsOf, Entity, Limit, Name, Question, reads, writes
from graphsearch.model import Merge, RelationType
from graphsearch.model.identity import id_or_name
from graphsearch.modes.options import SearchMode
from graphsearch.text.rendering import safe_text

Id = Annotated[UUID, Field(description="As another tool gave it.")]
Unit = Annotated[float, Field(ge=0, le=1)]
Threshold = Annotated[float, Field(ge=0.6, le=1, description="The minimum similarity of names.")]


@reads
async def search(
    caller: Caller,
    query: Question,
    mode: Mode = "graph_completion",
    traversal: TraversalName = "k_hop",
    limit: Limit = 10,
    as_of: AsOf = None,
) -> dict[str, Any]:
    """Search for the triplets that answer a question, with their scores. Nothing is logged for feedback."""
    found = await caller.asked.search(
        query, mode=SearchMode(mode), traversal=traversal, limit=limit, as_of=as_of, gate=caller.gate
    )
    triplets = [triplet_json(triplet, caller.engine.store.scope) for triplet in found.triplets]
    summary = {} if found.summary is None else {"summary": safe_text(found.summary.text)}
    return caller.fitted({"found": found.found, "reason": plain(found.reason), **summary}, triplets=triplets)


@reads
async def why(caller: Caller, relation_id: Id) -> dict[str, Any]:
    """Show why the graph holds a relation: the memories that support it, with their words, and what each adds."""
    found = await caller.curator.why(relation_id)
    proofs = [
        {
            "memory": memory_json(each.memory),
            "quote": shown(each.quote),
            "extractor": shown(each.extractor),
            "adds": round(each.adds, 4),
        }
        for each in found.proofs
    ]
    return caller.fitted({"relation": relation_json(found.relation)}, proofs=proofs)


@reads
async def merges(caller: Caller, entity: Entity | None = None) -> dict[str, Any]:
    """List merges of entities, including undone ones, in the order in which they were made."""
    found = await caller.curator.merges(None if entity is None else id_or_name(entity))
    return caller.fitted({}, merges=list(map(_merge, found)))


def _merge(merge: Merge) -> dict[str, Any]:
    ids = {"merge_id": str(merge.id), "source_id": str(merge.source_id), "target_id": str(merge.target_id)}
    return {**ids, **counts_json(merge), "undone": merge.undone_at is not None}


@writes(destructive=True, idempotent=False)
async def undo_merge(caller: Caller, merge_id: Id) -> dict[str, Any]:
    """Undo a merge: separate the two entities again."""
    return counts_json(await caller.curator.undo_merge(merge_id))


@reads
async def find_duplicates(caller: Caller, limit: Limit = 20, threshold: Threshold = 0.85) -> dict[str, Any]:
    """List pairs of entities that may be one, the most similar first. Merge them, or mark them as distinct."""
    found = await caller.curator.find_duplicates(limit=limit, threshold=threshold)
    pairs = [
        {
            "one": entity_json(each.one),
            "other": entity_json(each.other),
            "similarity": round(each.similarity, 4),
            "verdict": each.verdict.value,
        }
        for each in found
    ]
    return caller.fitted({}, duplicates=pairs)


@reads
async def find_ambiguous(caller: Caller, limit: Limit = 20) -> dict[str, Any]:
    """List first names and surnames that several people have, with these people: whom they mean is open."""
    found = await caller.curator.find_ambiguous(limit=limit)
    names = [
        {"entity": entity_json(each.entity), "candidates": [entity_json(one) for one in each.candidates]}
        for each in found
    ]
    return caller.fitted({}, ambiguous=names)


@writes()
async def mark_distinct(
    caller: Caller,
    one: Entity,
    other: Entity,
    distinct: Annotated[bool, Field(description="false removes the mark.")] = True,
) -> dict[str, Any]:
    """Record that two entities are distinct, so that find_duplicates leaves them out."""
    changed = await caller.curator.mark_distinct(id_or_name(one), id_or_name(other), distinct=distinct)
    return {"changed": changed}


@reads
async def contradictions(caller: Caller, limit: Limit = 20) -> dict[str, Any]:
    """List pairs of relations that cannot both hold, such as two employers at one time."""
    found = await caller.curator.contradictions(limit=limit)
    pairs = [{"one": relation_json(each.one), "other": relation_json(each.other)} for each in found]
    return caller.fitted({}, contradictions=pairs)


@reads
async def communities(caller: Caller, entity: Entity | None = None, limit: Limit = 20) -> dict[str, Any]:
    """List the stored communities (groups of related entities), the largest first; of one entity if it is given."""
    found = await caller.curator.communities(None if entity is None else id_or_name(entity), limit=limit)
    return caller.fitted({}, communities=list(map(community_json, found)))


@writes()
async def refresh_communities(caller: Caller, limit: Limit = 20) -> dict[str, Any]:
    """Update the communities whose relations changed; list those that changed, the largest first."""
    found = await caller.curator.refresh_communities()
    return caller.fitted({"found": len(found)}, communities=list(map(community_json, found[:limit])))


@reads
async def graph_health(caller: Caller) -> dict[str, Any]:
    """Report the health of the graph and its problems."""
    found = await caller.curator.graph_health()
    return caller.fitted(
        {
            "health": round(found.value, 4),
            "condition": found.condition.value,
            "message": plain(found.message),
        },
        warnings=plain(list(found.warnings)),
    )


@writes(destructive=True)
async def expire(
    caller: Caller,
    days: Annotated[float, Field(gt=0, le=1e6, description="The age from which on memories are forgotten.")],
    label: Annotated[Name | None, Field(description="Memories with this label.")] = None,
    source: Annotated[Name | None, Field(description="Memories from this source; with a label, both must fit.")] = None,
) -> dict[str, Any]:
    """Forget the memories of a label or a source that are older than some days. Irreversible."""
    report = await caller.curator.expire(timedelta(days=days), label=label, source=source)
    return {"memories": 0, **counts_json(report)}


@reads
async def stats(caller: Caller) -> dict[str, Any]:
    """Count the elements of the project, by type, and the look-ups that this server's cache of entities answered."""
    held = await caller.curator.stats()
    answer = {name: getattr(held, name) for name in ("entities", "relations", "memories", "claims", "mentions")}
    by_type = {
        name: [{"type": shown(type_), "count": number} for type_, number in sorted(counts.items())]
        for name, counts in (("entity_types", held.entities_by_type), ("relation_types", held.relations_by_type))
    }
    return caller.fitted({**answer, **_cache(caller, held.memories)}, **by_type)


def _cache(caller: Caller, memories: int) -> dict[str, Any]:
    report = cache_report(caller.engine.store)
    if report is None:
        return {}
    rate = report.hit_rate
    counts = {"hits": report.hits, "misses": report.misses, "hit_rate": None if rate is None else round(rate, 4)}
    warning = report.warning(memories)
    return {"cache": {**counts, "warning": warning} if warning else counts}


@reads
async def relation_types(caller: Caller) -> dict[str, Any]:
    """List the types of relations, known from the start or registered, with their properties."""
    return caller.fitted({}, relation_types=list(map(_type, await caller.curator.relation_types())))


@writes()
async def register_type(
    caller: Caller,
    name: Annotated[str, Field(min_length=1, max_length=100, description="The type, such as blocked_by.")],
    prior: Annotated[Unit | None, Field(description="The reliability of its relations.")] = None,
    half_life_days: Annotated[
        float | None, Field(ge=0, description="The age at which its relations count half; 0: they do not age.")
    ] = None,
    hop_scores: Annotated[list[Unit] | None, Field(max_length=10, description="The score by distance.")] = None,
    functional: Annotated[bool | None, Field(description="A source has one target at a time.")] = None,
    causal: Annotated[bool | None, Field(description="The source is a cause of the target.")] = None,
    skip: Annotated[bool | None, Field(description="Searches leave its relations out.")] = None,
    state: Annotated[bool | None, Field(description="Its relations hold until something ends them.")] = None,
) -> dict[str, Any]:
    """Register a type of relation, or change a known one: what is not given stays as it is."""
    found = await caller.curator.register_type(
        name,
        prior=prior,
        half_life_days=half_life_days,
        hop_scores=hop_scores,
        functional=functional,
        causal=causal,
        skip=skip,
        state=state,
    )
    return _type(found)


def _type(known: RelationType) -> dict[str, Any]:
    half_life = {} if known.half_life_days is None else {"half_life_days": known.half_life_days}
    return {
        "name": shown_id(known.name),
        "prior": known.prior,
        **half_life,
        "hop_scores": list(known.hop_scores),
        **dict.fromkeys(known.flags, True),
    }
