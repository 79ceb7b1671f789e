"""search, recall, neighbors, path, entity-graph and stats, for operators: unlike `context`, they evaluate no policy."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.arguments import (
    AsOf,
    Depth,
    Diversity,
    KnownAt,
    Limit,
    MaxHops,
    MinConfidence,
    MinScore,
    Mode,
    Model,
    ModelUrl,
    Question,
    Seeds,
    Since,
    reference,
)
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_engine, open_for, open_store
from graphsearch.cli.json_shapes import (
    asked_time_pairs,
    connection_json,
    connection_table,
    counts_json,
    pairs,
    path_json,
    plain,
    query_json,
    query_table,
    summary_json,
    summary_lines,
    table,
    triplet_json,
    triplet_table,
)
from graphsearch.curation import Curator
from graphsearch.export import Exportable, to_dot, to_graphml, to_mermaid
from graphsearch.modes.options import SearchMode, SearchOptions
from graphsearch.modes.result import SearchResult
from graphsearch.traversal.paths import path_steps


class Format(StrEnum):
    """The graph formats of other programs."""

    MERMAID = "mermaid"
    DOT = "dot"
    GRAPHML = "graphml"


AsGraph = Annotated[Format | None, typer.Option("--format", help="Print the result as a graph for other programs.")]
EntityArgument = Annotated[str, typer.Argument(help="An entity: its id, its name or an alias that only it has.")]


async def search(
    place: Place,
    question: Question,
    mode: Mode = SearchMode.GRAPH_COMPLETION,
    limit: Limit = 10,
    seeds: Seeds = 10,
    depth: Depth = 2,
    max_hops: MaxHops = 3,
    as_of: AsOf = None,
    since: Since = None,
    known_at: KnownAt = None,
    min_edge_confidence: MinConfidence = 0.5,
    min_score: MinScore = 0.0,
    diversity: Diversity = 0.0,
    format: AsGraph = None,
    llm: Model = "",
    llm_url: ModelUrl = "",
) -> Answer:
    """Search for the triplets that answer a question, with score components or a written summary."""
    options: SearchOptions = {
        "mode": mode,
        "limit": limit,
        "seeds": seeds,
        "depth": depth,
        "max_hops": max_hops,
        "as_of": as_of,
        "since": since,
        "known_at": known_at,
        "min_edge_confidence": min_edge_confidence,
        "min_score": min_score,
        "diversity": diversity,
        "gate": ALLOW_ALL,  # an operator may read everything, so the model may as well
    }
    async with open_for(place, mode, llm=llm, llm_url=llm_url) as engine:
        found = await engine.search(question, **options)
    if format is not None:
        return exported(found, format)
    data = {
        "query": found.query,
        "mode": str(found.mode),
        "as_of": found.as_of.isoformat(),
        "known_at": found.known_at.isoformat(),
        "found": found.found,
        "below_floor": found.below_floor,
        "left_out": counts_json(found.left_out),
        "reason": found.reason,
        "plan": found.analysis.plan.value,
        "asked": plain(found.asked),
        "timings_ms": dict(found.timings),
        "triplets": [triplet_json(triplet) for triplet in found.triplets],
        "entities": [entity.name for entity in found.entities],
        "connections": [connection_json(connection) for connection in found.connections],
        "graph_query": query_json(found.graph_query),
        "summary": summary_json(found.summary),
    }
    left_out = ", ".join(f"{number} {reason}" for reason, number in _left_out(found).items() if number)
    summary = f"{len(found.triplets)} of {found.found} relations in {found.timings['total']:.0f} ms"
    shown: list[str | Table] = [] if found.summary is None else [*summary_lines(found.summary)]
    if found.graph_query is not None:
        shown.append(query_table(found.graph_query))
    shown += [triplet_table(found.triplets), f"{summary}; left out: {left_out or 'nothing'}"]
    if found.connections:
        shown.append(connection_table(found.connections))
    if found.reason:
        shown.append(found.reason)
    shown += [f"{name}: {time}" for name, time in asked_time_pairs(found.asked)]
    return Answer(data, tuple(shown))


def _left_out(found: SearchResult) -> dict[str, int]:
    return {**counts_json(found.left_out), "below_floor": found.below_floor}


async def recall(
    place: Place,
    question: Question,
    limit: Annotated[int, typer.Option(min=1, help="The number of memories to show.")] = 10,
    min_score: Annotated[float, typer.Option(min=0.0, max=1.0, help="Leave out memories with a lower score.")] = 0.0,
    diversity: Annotated[float, typer.Option(min=0.0, max=1.0, help="Weight of the diversity of memories.")] = 0.0,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> Answer:
    """Recall the memories that answer a question, in their own words."""
    async with open_engine(place, embed=True) as engine:
        found = await engine.recall(
            question, limit=limit, min_score=min_score, diversity=diversity, as_of=as_of, known_at=known_at
        )
    rows = [
        (each.score, each.memory.occurred_at, each.memory.speaker or each.memory.subject, each.memory.text)
        for each in found.memories
    ]
    summary = f"{len(found.memories)} of {found.found} memories in {found.timings['total']:.0f} ms"
    shown = table("score", "when", "who", "memory", rows=rows)
    return Answer(found.as_dict(), (shown, found.reason or summary))


async def neighbors(
    place: Place, entity: EntityArgument, depth: Depth = 1, limit: Limit = 25, as_of: AsOf = None
) -> Answer:
    """List the best triplets around one entity."""
    async with open_engine(place) as engine:
        found = await engine.neighbors(reference(entity), depth=depth, limit=limit, as_of=as_of)
    return Answer({"triplets": [triplet_json(triplet) for triplet in found]}, (triplet_table(found),))


async def path(
    place: Place, source: EntityArgument, target: EntityArgument, max_hops: MaxHops = 4, as_of: AsOf = None
) -> Answer:
    """Find the shortest path between two entities, the strongest among the shortest."""
    async with open_engine(place) as engine:
        found = await engine.path(reference(source), reference(target), max_hops=max_hops, as_of=as_of)
    if found is None:
        return Answer({"path": None}, (f"no path of at most {max_hops} hops",))
    start, *steps = path_steps(found)
    lines = (start, *(f"  {step}" for step in steps), f"strength {found.strength:.4f}")
    return Answer({"path": path_json(found)}, lines)


async def stats(place: Place) -> Answer:
    """Count the elements of the project."""
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


def exported(shown: Exportable, format: Format) -> Answer:
    """A graph in a format. The format quotes stored text, so that none of it moves a terminal's cursor."""
    match format:
        case Format.MERMAID:
            text = to_mermaid(shown)
        case Format.DOT:
            text = to_dot(shown)
        case Format.GRAPHML:  # keeps all text, so control characters are written as character references
            text = to_graphml(shown).encode("ascii", "xmlcharrefreplace").decode()
    return Answer({"format": format.value, "text": text}, (text.removesuffix("\n"),))


async def entity_graph(
    place: Place,
    entity: Annotated[str, typer.Argument(help="An entity: its id, its name or an alias that only it has.")],
    format: Annotated[Format, typer.Option("--format", help="The format of the graph.")] = Format.MERMAID,
    depth: Depth = 1,
    limit: Annotated[int, typer.Option(min=1, help="The maximum number of entities.")] = 100,
) -> Answer:
    """Print the entities around one, and the relations among them, as a picture or a graph file."""
    async with open_engine(place) as engine:
        return exported(await Curator(engine).entity_graph(reference(entity), depth=depth, limit=limit), format)
