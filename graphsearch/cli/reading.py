"""search, neighbors, path, explain and stats: what an operator reads. No policy is asked; `context` asks them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from graphsearch.cli.arguments import (
    AsOf,
    Depth,
    KnownAt,
    Limit,
    MaxHops,
    MinConfidence,
    Mode,
    Question,
    TopK,
    identifier,
    reference,
)
from graphsearch.cli.commands import Answer
from graphsearch.cli.place import Place, open_engine, open_store
from graphsearch.cli.shapes import counts_json, entity_json, pairs, relation_json, triplet_json, triplet_table
from graphsearch.modes.request import SearchMode, SearchOptions
from graphsearch.rendering import entity_name, safe_text
from graphsearch.results import Path as FoundPath

EntityArgument = Annotated[str, typer.Argument(help="An entity: its id, its name or an alias that only it has.")]


async def search(
    place: Place,
    question: Question,
    mode: Mode = SearchMode.GRAPH_COMPLETION,
    limit: Limit = 10,
    top_k: TopK = 10,
    depth: Depth = 2,
    max_hops: MaxHops = 3,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    min_confidence: MinConfidence = 0.5,
) -> Answer:
    """The triplets that answer a question best, with their scores taken apart."""
    options: SearchOptions = {
        "mode": mode,
        "limit": limit,
        "top_k": top_k,
        "depth": depth,
        "max_hops": max_hops,
        "as_of": as_of,
        "known_at": known_at,
        "min_edge_confidence": min_confidence,
    }
    async with open_engine(place, embed=_embeds(mode)) as engine:
        found = await engine.search(question, **options)
    data = {
        "query": found.query,
        "mode": str(found.mode),
        "as_of": found.as_of.isoformat(),
        "known_at": found.known_at.isoformat(),
        "found": found.found,
        "left_out": counts_json(found.left_out),
        "timings_ms": dict(found.timings),
        "triplets": [triplet_json(triplet) for triplet in found.triplets],
    }
    left_out = ", ".join(f"{number} {reason}" for reason, number in counts_json(found.left_out).items() if number)
    summary = f"{len(found.triplets)} of {found.found} relations in {found.timings['total']:.0f} ms"
    return Answer(data, (triplet_table(found.triplets), f"{summary}; left out: {left_out or 'nothing'}"))


async def explain(
    place: Place,
    question: Question,
    relation: Annotated[UUID, typer.Argument(parser=identifier, help="The id of a relation.")],
    mode: Mode = SearchMode.GRAPH_COMPLETION,
    limit: Limit = 10,
    as_of: AsOf = None,
) -> Answer:
    """Why a relation is, or is not, among the answers to a question."""
    async with open_engine(place, embed=_embeds(mode)) as engine:
        found = await engine.explain(question, relation, mode=mode, limit=limit, as_of=as_of)
    factors = [(name, f"{value:.4f} × {weight:.4f} = {part:.4f}") for name, value, weight, part in found.factors()]
    score = [] if found.triplet is None else [("score", f"{found.triplet.score.value:.4f}")]
    rank = [] if found.rank is None else [("rank", f"{found.rank} of {found.of}")]
    return Answer(found.as_dict(), (pairs([*rank, *score, *factors, ("reason", found.reason or "shown")]),))


async def neighbors(
    place: Place, entity: EntityArgument, depth: Depth = 1, limit: Limit = 25, as_of: AsOf = None
) -> Answer:
    """The best triplets around one entity."""
    async with open_engine(place) as engine:
        found = await engine.neighbors(reference(entity), depth=depth, limit=limit, as_of=as_of)
    return Answer({"triplets": [triplet_json(triplet) for triplet in found]}, (triplet_table(found),))


async def path(
    place: Place, source: EntityArgument, target: EntityArgument, max_hops: MaxHops = 4, as_of: AsOf = None
) -> Answer:
    """The shortest way from one entity to another, the strongest among the shortest."""
    async with open_engine(place) as engine:
        found = await engine.path(reference(source), reference(target), max_hops=max_hops, as_of=as_of)
    if found is None:
        return Answer({"path": None}, (f"no path of at most {max_hops} hops",))
    data = {
        "entities": [entity_json(entity) for entity in found.entities],
        "relations": [relation_json(relation) for relation in found.relations],
        "hops": found.hops,
        "strength": found.strength,
    }
    return Answer({"path": data}, (*_steps(found), f"strength {found.strength:.4f}"))


async def stats(place: Place) -> Answer:
    """How much the project holds."""
    async with open_store(place) as store:
        held = await store.statistics()
    data = {
        "org": place.org,
        "project": place.project,
        "entities": held.entities,
        "relations": held.relations,
        "memories": held.memories,
        "claims": held.claims,
        "mentions": held.mentions,
        "entities_by_type": counts_json(held.entities_by_type),
        "relations_by_type": counts_json(held.relations_by_type),
        "embedder": held.embedder,
        "dimensions": held.dimensions,
        "max_degree": held.max_degree,
        "mean_degree": held.mean_degree,
    }
    shown = {
        name: ", ".join(f"{number} {key}" for key, number in value.items()) if isinstance(value, dict) else value
        for name, value in data.items()
    }
    return Answer(data, (pairs((name.replace("_", " "), value) for name, value in shown.items()),))


def _embeds(mode: str) -> bool:
    """Names need no embedder; every other mode may."""
    return mode != SearchMode.NEIGHBORHOOD


def _steps(found: FoundPath) -> list[str]:
    lines = [entity_name(found.entities[0])]
    for relation, before, after in zip(found.relations, found.entities[:-1], found.entities[1:], strict=True):
        name = safe_text(relation.type)
        arrow = f"--{name}-->" if relation.source_id == before.id else f"<--{name}--"
        lines.append(f"  {arrow} {entity_name(after)}")
    return lines
