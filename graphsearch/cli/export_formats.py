"""entity-graph, and the formats of other programs for what search found."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from graphsearch.cli.arguments import Depth, reference
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_engine
from graphsearch.curation import Curator
from graphsearch.export import Exportable, to_dot, to_graphml, to_mermaid


class Format(StrEnum):
    """What other programs draw and read."""

    MERMAID = "mermaid"
    DOT = "dot"
    GRAPHML = "graphml"


AsGraph = Annotated[Format | None, typer.Option("--format", help="Print the result as a graph for other programs.")]


def exported(shown: Exportable, format: Format) -> Answer:
    """A graph in a format. Stored text is quoted by the format, and none of it moves a terminal's cursor."""
    match format:
        case Format.MERMAID:
            text = to_mermaid(shown)
        case Format.DOT:
            text = to_dot(shown)
        case Format.GRAPHML:  # where nothing is cut, so what could steer a terminal is written as numbers
            text = to_graphml(shown).encode("ascii", "xmlcharrefreplace").decode()
    return Answer({"format": format.value, "text": text}, (text.removesuffix("\n"),))


async def entity_graph(
    place: Place,
    entity: Annotated[str, typer.Argument(help="An entity: its id, its name or an alias that only it has.")],
    format: Annotated[Format, typer.Option("--format", help="The format of the graph.")] = Format.MERMAID,
    depth: Depth = 1,
    limit: Annotated[int, typer.Option(min=1, help="The maximum number of entities.")] = 100,
) -> Answer:
    """The entities around one, and the relations among them, as a picture or a graph file."""
    async with open_engine(place) as engine:
        return exported(await Curator(engine).entity_graph(reference(entity), depth=depth, limit=limit), format)
