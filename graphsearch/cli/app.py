"""All commands in one application."""

from __future__ import annotations

import typer

from graphsearch.cli import learning, reading, writing
from graphsearch.cli.commands import register

app = typer.Typer(
    name="graphsearch",
    help="Turns an agent's knowledge graph into the few lines of context that answer its next question.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

register(app, writing.init, scoped=False)
register(app, writing.ingest)
register(app, reading.search)
register(app, learning.context)
register(app, reading.neighbors)
register(app, reading.path)
register(app, reading.explain)
register(app, learning.feedback)
register(app, reading.stats)
