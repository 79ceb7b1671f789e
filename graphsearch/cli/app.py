"""The application with all commands."""

from __future__ import annotations

from typing import Annotated

import typer

from graphsearch._support.version import __version__
from graphsearch.cli import (
    curation_commands,
    evaluation_command,
    forgetting_commands,
    graph_commands,
    ingest_commands,
    moving_commands,
    principal_commands,
    reembed_command,
    search_commands,
    type_commands,
)
from graphsearch.cli.commands import EscapingGroup, register

app = typer.Typer(
    name="graphsearch",
    cls=EscapingGroup,
    help="Turns an agent's knowledge graph into the few lines of context that answer its next question.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"graphsearch {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None: ...


register(app, ingest_commands.init, scoped=False)
register(app, ingest_commands.add)
register(app, ingest_commands.remember)

register(app, search_commands.search, reads=True)
register(app, search_commands.recall, reads=True)
register(app, search_commands.rank_entities, reads=True)
register(app, principal_commands.context, reads=True)
register(app, principal_commands.feedback)
register(app, search_commands.explain, reads=True)
register(app, graph_commands.neighbors, reads=True)
register(app, graph_commands.path, reads=True)
register(app, graph_commands.stats, reads=True)

register(app, forgetting_commands.forget)
register(app, forgetting_commands.expire)
register(app, forgetting_commands.remove_scope)
register(app, forgetting_commands.verify_receipt)
register(app, graph_commands.why, reads=True)
register(app, graph_commands.entity_timeline, reads=True)
register(app, graph_commands.backlinks, reads=True)

register(app, graph_commands.search_entities, reads=True)
register(app, graph_commands.entity_graph, reads=True)
register(app, graph_commands.recall_entity, reads=True)
register(app, graph_commands.recall_related, reads=True)
register(app, curation_commands.update_entity)
register(app, curation_commands.link_memories)
register(app, curation_commands.merge_entities)
register(app, curation_commands.undo_merge)
register(app, curation_commands.merges, reads=True)
register(app, curation_commands.find_duplicates, reads=True)
register(app, curation_commands.find_ambiguous, reads=True)
register(app, curation_commands.judge_duplicates)
register(app, curation_commands.mark_distinct)
register(app, curation_commands.contradictions, reads=True)
register(app, curation_commands.communities, reads=True)
register(app, curation_commands.detect_communities)
register(app, curation_commands.refresh_communities)
register(app, curation_commands.summarise_communities)
register(app, curation_commands.graph_health, reads=True)
register(app, type_commands.relation_types, reads=True)
register(app, type_commands.register_type)

register(app, moving_commands.export)
register(app, moving_commands.import_, name="import")

register(app, reembed_command.reembed)

register(app, principal_commands.mcp)

register(app, evaluation_command.evaluate, name="eval", scoped=False, served=False)
