"""Commands that show what the graph holds: its size, what is around an entity, and what a relation rests on."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer
from rich.text import Text

from graphsearch.access.provenance import Provenance
from graphsearch.cli.arguments import AsOf, Depth, Entity, Limit, MaxHops, TripletLimit, identifier
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_engine
from graphsearch.cli.output import Format, as_json, exported, in_words, pairs, sorted_counts, table, triplet_table
from graphsearch.curation import Curator
from graphsearch.curation.browsing import Event
from graphsearch.model import Memory
from graphsearch.model.identity import id_or_name
from graphsearch.text.rendering import entity_name, safe_text
from graphsearch.traversal.paths import path_steps


async def stats(place: Place) -> Answer:
    """Count the elements of the project."""
    async with open_engine(place) as engine:
        held = await engine.store.statistics()
    by_type = {name: sorted_counts(getattr(held, name)) for name in ("entities_by_type", "relations_by_type")}
    data = {"org": place.org, "project": place.project, **as_json(held), **by_type}
    shown = {name: ", ".join(f"{number} {key}" for key, number in counts.items()) for name, counts in by_type.items()}
    return Answer(data, (pairs(in_words({**data, **shown})),))


async def search_entities(
    place: Place,
    query: Annotated[str, typer.Argument(help="A name, a part of one, or a similar name.")],
    limit: Limit = 10,
    type: Annotated[str | None, typer.Option(help="Only entities of this type.")] = None,
) -> Answer:
    """List the entities that a text may refer to."""
    async with open_engine(place) as engine:
        found = await Curator(engine).search_entities(query, limit=limit, type=type)
    rows = [(each.score, each.way.value, each.entity.type, entity_name(each.entity), each.entity.id) for each in found]
    return Answer({"entities": as_json(found)}, (table("score", "found by", "type", "entity", "id", rows=rows),))


async def neighbors(
    place: Place, entity: Entity, depth: Depth = 1, limit: TripletLimit = 25, as_of: AsOf = None
) -> Answer:
    """List the best triplets around one entity."""
    async with open_engine(place) as engine:
        found = await engine.neighbors(id_or_name(entity), depth=depth, limit=limit, as_of=as_of)
    return Answer({"triplets": as_json(found)}, (triplet_table(found),))


async def path(place: Place, source: Entity, target: Entity, max_hops: MaxHops = 4, as_of: AsOf = None) -> Answer:
    """Find the shortest path between two entities, the strongest among the shortest."""
    async with open_engine(place) as engine:
        found = await engine.path(id_or_name(source), id_or_name(target), max_hops=max_hops, as_of=as_of)
    if found is None:
        return Answer({"path": None}, (f"no path of at most {max_hops} hops",))
    start, *steps = path_steps(found)
    lines = (start, *(f"  {step}" for step in steps), f"strength {found.strength:.4f}")
    return Answer({"path": as_json(found)}, lines)


async def entity_graph(
    place: Place,
    entity: Entity,
    format: Annotated[Format, typer.Option("--format", help="The format of the graph.")] = Format.MERMAID,
    depth: Depth = 1,
    limit: Annotated[int, typer.Option(min=1, help="The maximum number of entities.")] = 100,
) -> Answer:
    """Print the entities around one, and the relations among them, as a picture or a graph file."""
    async with open_engine(place) as engine:
        return exported(await Curator(engine).entity_graph(id_or_name(entity), depth=depth, limit=limit), format)


async def recall_entity(place: Place, entity: Entity, limit: Limit = 10) -> Answer:
    """Show everything known of an entity: its relations, the memories that mention it, its role, place and group."""
    async with open_engine(place) as engine:
        found = await Curator(engine).recall_entity(id_or_name(entity), limit=limit)
    standing = {
        "role": found.most_recent_role and entity_name(found.most_recent_role.entity),
        "location": found.most_recent_location and entity_name(found.most_recent_location.entity),
        "community": found.community and found.community.label,
        "summary": found.community and found.community.summary and safe_text(found.community.summary.text),
    }
    head = {"entity": f"{entity_name(found.entity)} ({safe_text(found.entity.type)})", **standing}
    memories = [(each.occurred_at, each.id, _words(each)) for each in found.memories]
    return Answer(
        as_json(found),
        (
            pairs((name, value) for name, value in head.items() if value),
            triplet_table(found.triplets),
            table("when", "memory", "text", rows=memories),
        ),
    )


async def recall_related(place: Place, entity: Entity, max_hops: MaxHops = 2, limit: Limit = 20) -> Answer:
    """List the entities that can be reached from one, the nearest first."""
    async with open_engine(place) as engine:
        found = await Curator(engine).recall_related(id_or_name(entity), max_hops=max_hops, limit=limit)
    rows = [(each.hops, each.strength, entity_name(each.entity), each.entity.id) for each in found]
    return Answer({"related": as_json(found)}, (table("hops", "strength", "entity", "id", rows=rows),))


async def entity_timeline(place: Place, entity: Entity, since: AsOf = None, until: AsOf = None) -> Answer:
    """List the dated events of an entity, in order."""
    async with open_engine(place) as engine:
        found = await Curator(engine).entity_timeline(id_or_name(entity), since=since, until=until)
    rows = [(event.at, event.kind.value, _event_text(event)) for event in found]
    return Answer({"events": as_json(found)}, (table("when", "what", "", rows=rows),))


async def backlinks(
    place: Place,
    entity: Annotated[str | None, typer.Argument(help="An entity: its id, its name or alias.")] = None,
    memory: Annotated[str | None, typer.Option(help="Or the id of a memory.")] = None,
) -> Answer:
    """List the memories that mention an entity, or that are linked to a memory or share entities with it."""
    if (entity is None) == (memory is None):
        raise typer.BadParameter("give an entity, or --memory")
    async with open_engine(place) as engine:
        found = await Curator(engine).backlinks(entity=id_or_name(entity) if entity else None, memory=memory)
    rows = [(each.memory.occurred_at, each.memory.id, _words(each.memory)) for each in found]
    return Answer({"backlinks": as_json(found)}, (table("when", "memory", "text", rows=rows),))


async def why(
    place: Place, relation: Annotated[UUID, typer.Argument(parser=identifier, help="The id of a relation.")]
) -> Answer:
    """Show why the graph holds a relation: the memories that support it, with their words."""
    async with open_engine(place) as engine:
        found = await Curator(engine).why(relation)
    rows = [
        (each.adds, each.memory.occurred_at, each.memory.id, each.memory.speaker, each.pattern, each.quote)
        for each in found.proofs
    ]
    shown = table("adds", "when", "memory", "who", "pattern", "words", rows=rows)
    return Answer(as_json(found), (_sentence(found), shown))


def _sentence(found: Provenance) -> str:
    relation = found.relation
    ends = f"{entity_name(found.source)} --{safe_text(relation.type)}--> {entity_name(found.target)}"
    return f"{ends}   confidence {relation.confidence:.4f}"


def _event_text(event: Event) -> Text | str:
    if event.relation is None or event.entity is None:
        return _words(event.memory) if event.memory else ""
    type_ = safe_text(event.relation.type)
    arrow = f"--{type_}-->" if event.relation.target_id == event.entity.id else f"<--{type_}--"
    return Text(f"{arrow} {entity_name(event.entity)}")


def _words(memory: Memory) -> str:
    return f"{memory.speaker}: {memory.text}" if memory.speaker else memory.text
