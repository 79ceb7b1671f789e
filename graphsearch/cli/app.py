"""All commands in one application."""

from __future__ import annotations

import typer

from graphsearch.cli import (
    curation_commands,
    evaluation_command,
    explain_command,
    export_formats,
    ingest_commands,
    mcp_command,
    memory_commands,
    memory_files_command,
    rank_command,
    search_commands,
    session_commands,
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

register(app, ingest_commands.init, scoped=False)
register(app, ingest_commands.ingest)
register(memories_app, memory_files_command.add)
app.add_typer(memories_app, name="memories")

register(app, search_commands.search)
register(app, session_commands.context)
register(app, search_commands.neighbors)
register(app, search_commands.path)
register(app, rank_command.rank)
register(app, explain_command.explain)
register(app, session_commands.feedback)
register(app, search_commands.stats)

register(app, memory_commands.forget)
register(app, memory_commands.why)
register(app, memory_commands.timeline)
register(app, memory_commands.backlinks)

register(entities_app, curation_commands.search)
app.add_typer(entities_app, name="entities")
register(app, export_formats.export)
register(app, curation_commands.merge)
register(app, curation_commands.undo_merge)
register(app, curation_commands.duplicates)
register(app, curation_commands.contradictions)
register(app, curation_commands.communities)
register(app, curation_commands.health)

register(app, mcp_command.mcp)

register(app, evaluation_command.evaluate, name="eval", scoped=False, served=False)
