"""All commands in one application."""

from __future__ import annotations

import typer

from graphsearch.cli import (
    curating,
    evaluating,
    explaining,
    exporting,
    learning,
    memories,
    ranking,
    reading,
    remembering,
    serving,
    writing,
)
from graphsearch.cli.commands import register

app = typer.Typer(
    name="graphsearch",
    help="Turns an agent's knowledge graph into the few lines of context that answer its next question.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

memories_app = typer.Typer(help="What agents write down.", no_args_is_help=True)
entities_app = typer.Typer(help="What the graph is about.", no_args_is_help=True)

register(app, writing.init, scoped=False)
register(app, writing.ingest)
register(memories_app, memories.add)
app.add_typer(memories_app, name="memories")

register(app, reading.search)
register(app, learning.context)
register(app, reading.neighbors)
register(app, reading.path)
register(app, ranking.rank)
register(app, explaining.explain)
register(app, learning.feedback)
register(app, reading.stats)

register(app, remembering.forget)
register(app, remembering.why)
register(app, remembering.timeline)
register(app, remembering.backlinks)

register(entities_app, curating.search)
app.add_typer(entities_app, name="entities")
register(app, exporting.export)
register(app, curating.merge)
register(app, curating.undo_merge)
register(app, curating.duplicates)
register(app, curating.contradictions)
register(app, curating.communities)
register(app, curating.health)

register(app, serving.mcp)

register(app, evaluating.evaluate, name="eval", scoped=False, served=False)
