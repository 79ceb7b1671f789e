"""Commands for operators about memories and what rests on them: forget, why, entity-timeline and backlinks."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer
from rich.text import Text

from graphsearch.access.provenance import Provenance
from graphsearch.cli.arguments import AsOf, identifier, reference
from graphsearch.cli.commands import Answer
from graphsearch.cli.curation_commands import Entity
from graphsearch.cli.environment import Place, open_engine
from graphsearch.cli.json_shapes import pairs, plain, table
from graphsearch.curation import Curator
from graphsearch.curation.entity_recall import Event
from graphsearch.model import Memory
from graphsearch.text.rendering import entity_name, safe_text


async def forget(
    place: Place,
    memory: Annotated[str, typer.Argument(help="The id of a memory.")] = "",
    session: Annotated[str, typer.Option(help="Or all memories of a session.")] = "",
    source: Annotated[str, typer.Option(help="Or all memories of a source.")] = "",
) -> Answer:
    """Forget memories, and everything that rests on them alone."""
    if sum(map(bool, (memory, session, source))) != 1:
        raise typer.BadParameter("give the id of a memory, --session or --source")
    async with open_engine(place) as engine:
        report = await Curator(engine).forget(memory or None, session_id=session or None, source=source or None)
    data = plain(report)
    return Answer(data, (pairs((name.replace("_", " "), value) for name, value in data.items() if value),))


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
    return Answer(plain(found), (_sentence(found), shown))


async def entity_timeline(place: Place, entity: Entity, since: AsOf = None, until: AsOf = None) -> Answer:
    """List the dated events of an entity, in order."""
    async with open_engine(place) as engine:
        found = await Curator(engine).entity_timeline(reference(entity), since=since, until=until)
    rows = [(event.at, event.kind.value, _event_text(event)) for event in found]
    return Answer({"events": plain(found)}, (table("when", "what", "", rows=rows),))


async def backlinks(
    place: Place,
    entity: Annotated[str | None, typer.Argument(help="An entity: its id, its name or alias.")] = None,
    memory: Annotated[str | None, typer.Option(help="Or the id of a memory.")] = None,
) -> Answer:
    """List the memories that mention an entity, or that are linked to a memory."""
    if (entity is None) == (memory is None):
        raise typer.BadParameter("give an entity, or --memory")
    async with open_engine(place) as engine:
        found = await Curator(engine).backlinks(entity=reference(entity) if entity else None, memory=memory)
    rows = [(each.memory.occurred_at, each.memory.id, _words(each.memory)) for each in found]
    return Answer({"backlinks": plain(found)}, (table("when", "memory", "text", rows=rows),))


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
