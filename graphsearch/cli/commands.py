"""Turn an async function into a command: common options, progress, output and exit codes."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, get_type_hints

import attrs
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.segment import Segments
from rich.table import Table
from rich.tree import Tree
from typer.core import TyperGroup

from graphsearch.cli.environment import Place
from graphsearch.errors import GraphSearchError, UnknownElementError, UnknownScopeError
from graphsearch.ingest import Progress as ProgressCallback
from graphsearch.text.rendering import safe_text

_FAILED: Final = 1
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tabs and ends of lines, separators of lines, and marks of direction."""


@attrs.frozen(eq=False)
class Answer:
    """The result of a command: a JSON-ready object for ``--json``, and renderables for people."""

    data: Mapping[str, Any]
    shown: tuple[str | Table | Tree, ...]


Command = Callable[..., Awaitable[Answer]]


def _option(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


_SCOPE: Final = (
    _option("org", Annotated[str, typer.Option(envvar="GRAPHSEARCH_ORG", help="The organisation.")]),
    _option("project", Annotated[str, typer.Option(envvar="GRAPHSEARCH_PROJECT", help="The project in it.")]),
)
_DSN: Final = typer.Option(envvar="GRAPHSEARCH_DSN", show_envvar=True, help="The DSN of a Postgres, as the app role.")
_FOLDER: Final = typer.Option(
    envvar="GRAPHSEARCH_EMBEDDED", file_okay=False, help="Or the folder of an embedded Postgres."
)
_STORE: Final = (
    _option("dsn", Annotated[str, _DSN], ""),
    _option("embedded", Annotated[Path | None, _FOLDER], None),
    _option("as_json", Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")], False),
)


def register(
    app: typer.Typer,
    command: Command,
    *,
    name: str = "",
    scoped: bool = True,
    served: bool = True,
    reads: bool = False,
) -> None:
    """Turn a function ``async (place, …) -> Answer`` into a command; its docstring is the help.

    A parameter whose type is an attrs class stands for the fields of the class as options. The options of `Place` are
    added to its own: without ``scoped`` there are none for an organisation and a project, and without ``served`` the
    server is optional. The command is called ``name``, by default the function's name. One
    that ``reads`` answers of a scope to which nothing was ever written that it is empty, and what to do first.
    """
    declared = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    groups = {each.name: each for each in declared if attrs.has(each.annotation)}
    own = [option for each in declared for option in (_options_of(each) if each.name in groups else (each,))]
    added = [*(_SCOPE if scoped else ()), *_STORE]

    def run(*, as_json: bool, **given: Any) -> None:
        place = Place(**{each.name: given.pop(each.name) for each in added if each.name in given})
        for group in groups.values():
            fields = {option.name: given.pop(option.name) for option in _options_of(group)}
            given[group.name] = group.annotation(**fields)
        if served:
            place.needs_server()
        _run(_answered(command, place, given, reads=reads), as_json=as_json)

    run.__doc__ = inspect.getdoc(command)
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own] + added
    )
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *added)}
    app.command(name=name or getattr(command, "__name__", "").replace("_", "-"))(run)


def _options_of(group: inspect.Parameter) -> list[inspect.Parameter]:
    """The fields of the class of a parameter, as options."""
    types = get_type_hints(group.annotation, include_extras=True)
    return [
        _option(each.name, types[each.name], *([] if each.default is attrs.NOTHING else [each.default]))
        for each in attrs.fields(group.annotation)
    ]


async def _answered(command: Command, place: Place, given: Mapping[str, Any], *, reads: bool) -> Answer:
    try:
        return await command(place, **given)
    except UnknownScopeError as unknown:
        if not reads:
            raise
        try:
            empty = await command(attrs.evolve(place, new=True), **given)
        except UnknownElementError:
            raise unknown from None
        return Answer({**empty.data, "reason": str(unknown)}, (*empty.shown, str(unknown)))


def _run(answering: Coroutine[Any, Any, Answer], *, as_json: bool) -> None:
    try:
        answer = asyncio.run(answering)
    except GraphSearchError as error:
        typer.echo(escaped(f"error: {error}"), err=True)
        raise typer.Exit(_FAILED) from error
    if as_json:
        typer.echo(json.dumps(answer.data, indent=2).replace("\x7f", "\\u007f"))
    else:
        for part in answer.shown:
            typer.echo(escaped(part)) if isinstance(part, str) else _print(part)


def _print(part: Table | Tree) -> None:
    console = Console()
    segments = [each._replace(text=escaped(each.text)) for each in console.render(part)]
    console.print(Segments(segments), end="")


def escaped(text: str) -> str:
    """A text as it may go to a terminal: without characters that move its cursor, colour it or turn its direction."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class EscapingGroup(TyperGroup):
    """The commands; what is wrong with their arguments is quoted in errors without control characters."""

    def make_context(self, *given: Any, **options: Any) -> Any:
        """Read arguments."""
        with _escaping():
            return super().make_context(*given, **options)

    def invoke(self, *given: Any, **options: Any) -> Any:
        """Run a command."""
        with _escaping():
            return super().invoke(*given, **options)


@contextmanager
def _escaping() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if isinstance(message := getattr(error, "message", None), str):  # one of the framework, which prints it
            error.message = escaped(message)  # type: ignore[attr-defined]
        raise


@contextmanager
def progress_bar() -> Iterator[ProgressCallback]:
    """Show a progress bar on standard error if that is a terminal; yields the function to call after every step."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)

        def update(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=safe_text(name)[-40:])

        yield update
