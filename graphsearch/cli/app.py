"""The application with all commands."""

from __future__ import annotations

import typer

from graphsearch.cli import (
    curation_commands,
    evaluation_command,
    explain_command,
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

register(app, ingest_commands.init, scoped=False)
register(app, ingest_commands.add)
register(app, memory_files_command.remember)

register(app, search_commands.search)
register(app, search_commands.recall)
register(app, rank_command.rank_entities)
register(app, session_commands.context)
register(app, session_commands.feedback)
register(app, explain_command.explain)
register(app, search_commands.neighbors)
register(app, search_commands.path)
register(app, search_commands.stats)

register(app, memory_commands.forget)
register(app, memory_commands.why)
register(app, memory_commands.entity_timeline)
register(app, memory_commands.backlinks)

register(app, curation_commands.search_entities)
register(app, search_commands.entity_graph)
register(app, curation_commands.merge_entities)
register(app, curation_commands.undo_merge)
register(app, curation_commands.find_duplicates)
register(app, curation_commands.judge_duplicates)
register(app, curation_commands.mark_distinct)
register(app, curation_commands.contradictions)
register(app, curation_commands.communities)
register(app, curation_commands.detect_communities)
register(app, curation_commands.refresh_communities)
register(app, curation_commands.graph_health)

register(app, mcp_command.mcp)

register(app, evaluation_command.evaluate, name="eval", scoped=False, served=False)
