"""The application with all commands."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import iscoroutinefunction
from typing import Annotated, Any, Final

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


_MODULES: Final = (
    *(ingest_commands, search_commands, principal_commands, graph_commands, forgetting_commands, curation_commands),
    *(type_commands, moving_commands, reembed_command, evaluation_command),
)
_WRITES: Final = (
    *("init", "add", "remember", "feedback", "forget", "expire", "remove_scope", "verify_receipt", "update_entity"),
    *("link_memories", "merge_entities", "undo_merge", "judge_duplicates", "mark_distinct", "detect_communities"),
    *(
        "refresh_communities",
        "summarise_communities",
        "register_type",
        "export",
        "import_",
        "reembed",
        "mcp",
        "evaluate",
    ),
)
"""Commands that change something, or that have nothing to say of a project to which nothing was ever written."""
_OTHERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "init": {"scoped": False},
    "import_": {"name": "import"},
    "evaluate": {"name": "eval", "scoped": False, "served": False},
}

for _module in _MODULES:
    for _name, _command in vars(_module).items():
        if iscoroutinefunction(_command) and _command.__module__ == _module.__name__ and not _name.startswith("_"):
            register(app, _command, reads=_name not in _WRITES, **_OTHERS.get(_name, {}))
