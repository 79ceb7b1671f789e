"""The application with all commands; each is loaded when it is run."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

import click

from graphsearch._support.version import __version__
from graphsearch.errors import MissingExtraError

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tabs and ends of lines, separators of lines, and marks of direction."""
WRITTEN: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = MappingProxyType(
    {
        "Write": {
            "remember": (
                "writing:remember",
                "Add memories: the entities and relations of their texts, and the facts that are stated of them.",
            ),
            "add": ("writing:add", "Add a folder; later runs write only what changed and forget what was deleted."),
            "import": (
                "moving:import_",
                "Import an export of graphsearch into an empty project, or that of another memory layer into any.",
            ),
        },
        "Operate": {
            "where": ("where:where", "Show where commands work here, and what says so."),
            "ui": (
                "serving:ui",
                "Serve the page to look at the project in a browser; it reads only, but for --write.",
            ),
            "mcp": ("serving:mcp", "Serve the project to agents by MCP, until standard input ends or a signal comes."),
            "install": ("coding_agents:install", "Write the server and the hooks into a coding agent's configuration."),
            "uninstall": ("coding_agents:uninstall", "Take the server and the hooks out of it again."),
            "serve": ("warm:serve", "Keep everything loaded, so that other commands answer at once."),
            "init": ("writing:init", "Prepare a database: migrate its schema and create the app role of --dsn."),
            "export": ("moving:export", "Export the whole project to a file that `import` reads into any store."),
            "reembed": (
                "moving:reembed",
                "Change the embedding model: embed all texts again beside the old vectors, then switch at once.",
            ),
            "eval": (
                "evaluating:evaluate",
                "Measure how well relevant evidence is found, in a fresh scope that is removed at the end.",
            ),
            "completion": ("where:completion", "Print what a shell has to read to complete commands."),
        },
        "": {"record-session": ("coding_agents:record_session", "")},
    }
)
"""Commands that are no operation, or not that alone: the function and what it does, by group; without one hidden."""
_GROUPS: Final = MappingProxyType(
    {"_asking": "Ask", "_looking_up": "Ask", "_caring": "Care", "_forgetting": "Care", "_reviewing": "Care"}
)
"""The group of operations, by the function of the table that has their rows."""
NAMES: Final = MappingProxyType({"graph_query": "context", "graph_neighbors": "neighbors", "graph_path": "path"})
"""Operations that have a shorter name here; theirs is taken, too."""


def escaped(text: str) -> str:
    """A text as it may go to a terminal: without characters that move its cursor, colour it or turn its direction."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


@cache
def groups() -> Mapping[str, Mapping[str, str]]:
    """What each listed command does, by group and name, read off the text of the table: to load it takes a second."""
    table = ast.parse(files("graphsearch.operations").joinpath("table.py").read_text(encoding="utf-8"))
    found: dict[str, dict[str, str]] = {"Ask": {}, "Write": {}, "Care": {}, "Operate": {}}
    rows = {each.name: each for each in table.body if isinstance(each, ast.FunctionDef)}
    for function, group in _GROUPS.items():
        for call in ast.walk(rows[function]):
            said = {each.arg: each.value for each in call.keywords} if isinstance(call, ast.Call) else {}
            if isinstance(call, ast.Call) and "people" in said:
                verb = ast.unparse(call.args[0]).rpartition(".")[2]
                name = ast.literal_eval(said["name"]) if "name" in said else verb
                found[group][_spelt(name)] = ast.literal_eval(said["people"]).replace("_", "-")
    del found["Ask"]["remember"]  # which has a function of its own here
    for group in ("Write", "Operate"):
        found[group] |= {name: sentence for name, (_, sentence) in WRITTEN[group].items()}
    return MappingProxyType(found)


def _spelt(operation: str) -> str:
    return NAMES.get(operation, operation).replace("_", "-")


def sentences() -> Mapping[str, str]:
    """What each listed command does, by its name."""
    return {name: sentence for group in groups().values() for name, sentence in group.items()}


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
        written = {name: made for group in WRITTEN.values() for name, made in group.items()}
        if name not in {*sentences(), *written}:
            return None
        try:
            commands = import_module("graphsearch.cli.commands")
            if name in written:
                path, sentence = written[name]
                module, _, function = path.partition(":")
                made = commands.command_of(
                    name, getattr(import_module(f"graphsearch.cli.{module}"), function), sentence
                )
            else:
                operations = import_module("graphsearch.operations.table").operations()
                row = next(row for each, row in operations.items() if _spelt(each) == name)
                made = commands.command_of_operation(name, row)
        except MissingExtraError as error:
            raise click.ClickException(str(error)) from error
        return cast("click.Command", made)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named first; words that name none are a question."""
        first = args[0]
        if first.startswith("-") or self.get_command(ctx, first) is not None:
            return super().resolve_command(ctx, args)
        near = [] if any(map(str.isspace, first)) else get_close_matches(first, self.list_commands(ctx), 1, 0.7)
        if near:
            raise click.UsageError(f"No such command {first!r}: did you mean {near[0]!r}?", ctx)
        words = [*takewhile(lambda each: not each.startswith("-"), args)]
        return super().resolve_command(ctx, ["context", " ".join(words), *args[len(words) :]])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands, without loading them."""
        for group, listed in groups().items():
            with formatter.section(group):
                formatter.write_dl([*listed.items()])

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


@click.group(cls=Commands, subcommand_metavar='"QUESTION" | COMMAND …')
@click.version_option(__version__, prog_name="graphsearch", message="%(prog)s %(version)s")
def app() -> None:
    """Turn an agent's knowledge graph into the few lines of context that answer its next question."""
