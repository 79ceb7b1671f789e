"""The application with all commands; each is loaded when it is run."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Final, cast

import click

from graphsearch._support.version import __version__
from graphsearch.cli.handover import state_folder
from graphsearch.errors import GraphSearchError

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tabs and ends of lines, separators of lines, and marks of direction."""
WRITTEN: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "Write": ("writing:remember", "writing:add", "writing:import_"),
        "Operate": (
            *("demo:demo", "where:where", "serving:ui", "serving:mcp"),
            *("installing:install", "installing:uninstall", "warm:serve", "writing:init"),
            *("writing:export", "writing:reembed", "evaluating:eval_", "where:completion"),
        ),
        "": ("installing:record_session",),
    }
)
"""Commands that are no operation, or not that alone: module and function, by group; without one hidden."""
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
    """What each listed command does, by group and name, read off the texts of modules: to load them takes a second."""
    found: dict[str, dict[str, str]] = {"Ask": {}, "Write": {}, "Care": {}, "Operate": {}}
    table = _parsed("operations/table")
    imports = [each for each in table.body if isinstance(each, ast.ImportFrom)]
    homes = {name.name: (each.module or "").split(".")[1:] for each in imports for name in each.names}
    for rows in (each for each in table.body if isinstance(each, ast.FunctionDef) and each.name in _GROUPS):
        for row in (each.value.value for each in rows.body if isinstance(each, ast.Expr)):  # type: ignore[attr-defined]
            verb = row.args[0]
            names = [ast.literal_eval(each.value) for each in row.keywords if each.arg == "name"]
            said = _sentence("/".join(homes[verb.value.id]), verb.value.id, verb.attr)
            found[_GROUPS[rows.name]][_spelt(names[0] if names else verb.attr)] = said.replace("_", "-")
    del found["Ask"]["remember"]  # which has a function of its own here
    for group in ("Write", "Operate"):
        for module, _, function in (path.partition(":") for path in WRITTEN[group]):
            found[group][_spelt(function)] = _sentence("cli", module, function)
    return MappingProxyType(found)


def _sentence(home: str, owner: str, name: str) -> str:
    """What a function of the module ``owner`` of a room, or a method of that class, says of itself: its first line."""
    functions = _functions(home if owner[0].isupper() else f"{home}/{owner}")
    return (ast.get_docstring(functions[name]) or "").partition("\n")[0]


@cache
def _functions(module: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The methods of a module's classes and, before these, its functions, by name."""
    body = _parsed(module).body
    methods = [each for owner in body if isinstance(owner, ast.ClassDef) for each in owner.body]
    found = (each for each in [*methods, *body] if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    return {each.name: each for each in found}


def _parsed(module: str) -> ast.Module:
    """A module of the package, not loaded."""
    return ast.parse(files("graphsearch").joinpath(f"{module}.py").read_text(encoding="utf-8"))


def _spelt(function: str) -> str:
    """The command of an operation or a function."""
    return NAMES.get(function, function).rstrip("_").replace("_", "-")


class Commands(click.Group):
    """All commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """The names of all commands."""
        return [name for group in groups().values() for name in group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of a name, or of the operation of that name."""
        if cmd_name == "hook":
            return _hook
        name = _spelt(cmd_name.replace("-", "_"))
        written = {_spelt(path.partition(":")[2]): path for group in WRITTEN.values() for path in group}
        commands = import_module("graphsearch.cli.commands")
        if name in written:
            module, _, function = written[name].partition(":")
            made = commands.command_of(name, getattr(import_module(f"graphsearch.cli.{module}"), function))
        else:
            rows = import_module("graphsearch.operations.table").operations()
            row = next((rows[each] for each in rows if _spelt(each) == name), None)
            made = row and commands.command_of_operation(name, row)
        return cast("click.Command | None", made)

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
        with _failing():
            return super().make_context(*given, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with _failing():
            return super().invoke(ctx)


class _Failure(click.ClickException):
    """An error of the library: one line, exit code 1."""

    def show(self, file: Any = None) -> None:
        """Print it."""
        click.echo(f"error: {self.message}", file=file, err=True)


@contextmanager
def _failing() -> Iterator[None]:
    """Let errors end the command; they quote what was given: without control characters."""
    try:
        yield
    except GraphSearchError as error:
        raise _Failure(escaped(str(error))) from error
    except click.ClickException as error:
        error.message = escaped(error.message)  # type: ignore[misc]
        raise


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("given", nargs=-1, type=click.UNPROCESSED)
def _hook(given: tuple[str, ...]) -> None:
    """Answer an event of a coding agent, which is waiting: another process does the work."""
    from graphsearch.cli.agent_hooks import run  # noqa: PLC0415 - of this command alone

    again = [sys.argv[0], "record-session", *given]
    click.echo(run(sys.stdin.read(), again=again, log=state_folder() / "hooks.log"), nl=False)


@click.group(cls=Commands, subcommand_metavar='"QUESTION" | COMMAND …')
@click.version_option(__version__, prog_name="graphsearch", message="%(prog)s %(version)s")
def app() -> None:
    """Turn an agent's knowledge graph into the few lines of context that answer its next question."""
