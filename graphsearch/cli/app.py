"""The application with all commands; each is loaded when it is run."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

import click

from graphsearch._support.version import __version__
from graphsearch.errors import MissingExtraError

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tabs and ends of lines, separators of lines, and marks of direction."""
WRITTEN: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "init": ("writing:init", "Prepare a database: migrate its schema and create the app role that --dsn names."),
        "add": ("writing:add", "Add a folder; later runs write only what changed and forget what was deleted."),
        "remember": (
            "writing:remember",
            "Add memories: the entities and relations of their texts, and the facts that are stated of them.",
        ),
        "export": ("moving:export", "Export the whole project to a file that `import` reads into any store."),
        "import": (
            "moving:import_",
            "Import an export of graphsearch into an empty project, or that of another memory layer into any.",
        ),
        "reembed": (
            "moving:reembed",
            "Change the embedding model: embed all texts again beside the old vectors, then switch at once.",
        ),
        "eval": (
            "evaluating:evaluate",
            "Measure how well relevant evidence is found, in a fresh scope that is removed at the end.",
        ),
        "mcp": ("serving:mcp", "Serve the project to agents by MCP, until standard input ends or a signal comes."),
        "ui": ("serving:ui", "Serve the page to look at the project in a browser; it changes nothing but by --write."),
        "install": ("coding_agents:install", "Write the server and the hooks into a coding agent's configuration."),
        "uninstall": ("coding_agents:uninstall", "Take the server and the hooks out of it again."),
        "record-session": ("coding_agents:record_session", ""),
    }
)
"""Commands that are no operation, or not that alone: the function of each, and what it does; nothing is not listed."""
NAMES: Final = MappingProxyType({"graph_query": "context", "graph_neighbors": "neighbors", "graph_path": "path"})
"""Operations that have a shorter name here; theirs is taken, too."""


def escaped(text: str) -> str:
    """A text as it may go to a terminal: without characters that move its cursor, colour it or turn its direction."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


@cache
def sentences() -> Mapping[str, str]:
    """What each listed command does, by its name, read off the text of the table: to load the table takes seconds."""
    table = ast.parse(files("graphsearch.operations").joinpath("table.py").read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for call in ast.walk(table):
        if isinstance(call, ast.Call) and any(each.arg == "people" for each in call.keywords):
            said = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg in ("name", "people")}
            found[str(said.get("name") or getattr(call.args[0], "attr", ""))] = said["people"]
    named = {NAMES.get(name, name).replace("_", "-"): sentence.replace("_", "-") for name, sentence in found.items()}
    return MappingProxyType(named | {name: sentence for name, (_, sentence) in WRITTEN.items() if sentence})


class Commands(click.Group):
    """All commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """The names of all commands."""
        return [*sentences()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of a name, or of the operation of that name."""
        if cmd_name == "hook":
            return _hook
        operation = cmd_name.replace("-", "_")
        name = NAMES.get(operation, cmd_name)
        if name not in {*sentences(), *WRITTEN}:
            return None
        try:
            commands = import_module("graphsearch.cli.commands")
            if name in WRITTEN:
                path, sentence = WRITTEN[name]
                module, _, function = path.partition(":")
                made = commands.command_of(
                    name, getattr(import_module(f"graphsearch.cli.{module}"), function), sentence
                )
            else:
                operations = import_module("graphsearch.operations.table").operations()
                by_name = {NAMES.get(each, each).replace("_", "-"): row for each, row in operations.items()}
                made = commands.command_of_operation(name, by_name[name])
        except MissingExtraError as error:
            raise click.ClickException(str(error)) from error
        return cast("click.Command", made)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([*sentences().items()])

    def make_context(self, *given: Any, **options: Any) -> click.Context:
        """Read arguments."""
        with _escaping():
            return super().make_context(*given, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with _escaping():
            return super().invoke(ctx)


@contextmanager
def _escaping() -> Iterator[None]:
    """Errors quote what was given: without control characters."""
    try:
        yield
    except click.ClickException as error:
        error.message = escaped(error.message)  # type: ignore[misc]
        raise


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("given", nargs=-1, type=click.UNPROCESSED)
def _hook(given: tuple[str, ...]) -> None:
    """Answer an event of a coding agent, which is waiting: another process does the work."""
    from graphsearch.cli.agent_hooks import run  # noqa: PLC0415 - of this command alone

    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    again = [sys.argv[0], "record-session", *given]
    click.echo(run(sys.stdin.read(), again=again, log=state / "graphsearch" / "hooks.log"), nl=False)


@click.group(cls=Commands)
@click.version_option(__version__, prog_name="graphsearch", message="%(prog)s %(version)s")
def app() -> None:
    """Turn an agent's knowledge graph into the few lines of context that answer its next question."""
