"""Commands: of a function written for the command line, or of an operation of the table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import attrs
import click

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.environment import Budgeted, Place, Places, open_caller
from graphsearch.cli.options import Argument, Options, arguments_of, parameter
from graphsearch.cli.principals import Asker, BlockAsker
from graphsearch.cli.showing import escaped, lines
from graphsearch.errors import GraphSearchError, UnknownElementError, UnknownScopeError
from graphsearch.export import to_dot, to_graphml, to_mermaid
from graphsearch.ingest import Progress
from graphsearch.model import FeedbackReport
from graphsearch.model.codec import Says, encode
from graphsearch.modes.options import SearchMode
from graphsearch.modes.registry import DEFAULT_MODES, mode_name
from graphsearch.operations.operation import Operation
from graphsearch.operations.service import Caller
from graphsearch.text.rendering import safe_text

_FORMER: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "backlinks": {"--entity": ""},
        "communities": {"--entity": ""},
        "explain": {"--memory": "--kind=memory", "--entity": "--kind=entity"},
        "expire": {"--days": ""},
        "forget": {"--session": "--session-id"},
        "graph_query": {"--session": "--session-id"},
        "merges": {"--entity": ""},
        "register_type": {"--half-life": "--half-life-days", "none": "0", "--hop-score": "--hop-scores"},
        "update_entity": {"--alias": "--aliases", "--label": "--labels", "--importance": "--importance-weight"},
    }
)
"""Former spellings of options, and what stands for them; nothing for what is an argument now."""


@attrs.frozen
class Answer:
    """The result of a command: a JSON object for ``--json``, and lines for people."""

    data: Mapping[str, Any]
    lines: Sequence[str] = ()


class Command(click.Command):
    """A command that takes former spellings, too."""

    former: Mapping[str, str] = MappingProxyType({})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read arguments."""
        return super().parse_args(ctx, [*self._renamed(args)])

    def _renamed(self, args: Sequence[str]) -> Iterator[str]:
        for each in args:
            option, equals, value = each.partition("=")
            if option in self.former:
                yield from filter(None, (self.former[option], value))
            else:
                yield each


def command_of(name: str, function: Callable[..., Awaitable[Any]], sentence: str) -> Command:
    """The command that an async function is: it returns an `Answer`, or a value that the codec and `lines` know."""
    arguments = list(arguments_of(function))
    groups = {each.name: each.kind for each in arguments if _is_group(each.kind)}
    return _make(name, [each for each in arguments if each.name not in groups], groups, function, sentence)


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Options)


def _make(
    name: str,
    arguments: Sequence[Argument],
    groups: Mapping[str, type[Options]],
    function: Callable[..., Awaitable[Any]],
    sentence: str,
) -> Command:
    fields = {group: [*arguments_of(kind)] for group, kind in groups.items()}
    grouped = [attrs.evolve(each, is_positional=False) for group in fields.values() for each in group]

    def run(as_json: bool, **given: Any) -> None:
        made = {
            group: kind(**{each.name: given.pop(each.name) for each in fields[group]}) for group, kind in groups.items()
        }
        _print(_answered(function(**given, **made)), as_json=as_json)

    own = click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object and nothing else.")
    params = [*map(parameter, (*arguments, *grouped)), own]
    return Command(name, callback=run, params=params, help=sentence)


def _answered(answering: Awaitable[Any]) -> Answer:
    async def wait() -> Any:
        return await answering

    try:
        found = asyncio.run(wait())
    except GraphSearchError as error:
        raise Failure(str(error)) from error
    if isinstance(found, Answer):
        return found
    return Answer({}) if found is None else Answer(encode(found), [*lines(found)])


class Failure(click.ClickException):
    """An error of the library: one line, exit code 1."""

    def show(self, file: Any = None) -> None:
        """Print it."""
        click.echo(f"error: {self.message}", file=file, err=True)


def _print(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(answer.data, indent=2).replace("\x7f", "\\u007f"))
    else:
        for line in answer.lines:
            click.echo(escaped(line))


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show a progress bar on standard error if that is a terminal; yields the function to call after every step."""
    with click.progressbar(
        length=1, file=click.get_text_stream("stderr"), item_show_func=lambda name: name and safe_text(name)[-40:]
    ) as bar:

        def update(done: int, total: int, name: str) -> None:
            bar.length = total
            bar.update(done - bar.pos, name)

        yield update


# -- of operations ----------------------------------------------------------------------------------------------------

_ASKED_TOGETHER: Final = frozenset({"graph_query", "feedback", "search", "recall", "rank_entities"})
"""What asks several scopes."""
_EMBEDDED: Final = frozenset({"recall", "rank_entities", "update_entity"})
"""What needs an embedder, whatever its mode."""
_JUDGED: Final = frozenset({"judge_duplicates", "summarise_communities"})
"""What needs a language model, whatever its mode."""
_BY_NAME: Final = (SearchMode.NEIGHBORHOOD, SearchMode.NATURAL_LANGUAGE)
"""Modes that start from names and need no embedder."""
_UNTOLD: Final = frozenset({"details"})
"""Arguments that only other surfaces have."""


@attrs.frozen(kw_only=True)
class Drawing(Options):
    """How a graph is drawn."""

    format: Annotated[
        Literal["mermaid", "dot", "graphml"] | None, Says("Print the result as a graph for other programs.")
    ] = None


@attrs.frozen(kw_only=True)
class Keeping(Options):
    """Where a receipt is kept."""

    receipt: Annotated[Path | None, Says("A file for a receipt, which verify-receipt checks.")] = None


@attrs.frozen(kw_only=True)
class Removing(Keeping):
    """What is asked before everything goes."""

    yes: Annotated[bool, Says("Do not ask.")] = False


_GROUPS: Final[Mapping[str, Mapping[str, type[Options]]]] = MappingProxyType(
    {
        "graph_query": {"asker": BlockAsker},
        "feedback": {"asker": Asker},
        "search": {"drawing": Drawing},
        "entity_graph": {"drawing": Drawing},
        "forget": {"keeping": Keeping},
        "remove_scope": {"keeping": Removing},
    }
)
"""What operations have more options for."""


def command_of_operation(name: str, operation: Operation) -> Command:
    """The command that an operation is."""
    has_model = operation.name in _JUDGED or "mode" in operation.request.__annotations__
    groups = {
        **_GROUPS.get(operation.name, {}),
        **({"model": Budgeted} if has_model else {}),
        "place": Places if operation.name in _ASKED_TOGETHER else Place,
    }
    own = signature(operation.verb).parameters
    arguments = [
        Argument(
            name=each.name,
            kind=operation.request.__annotations__[each.name],
            default=each.default,
            says=each.metadata["says"],
            is_positional=own[each.name].kind is not own[each.name].KEYWORD_ONLY
            or (operation.name, each.name) == ("backlinks", "entity"),
        )
        for each in attrs.fields(operation.request)
        if each.name not in _UNTOLD
    ]
    made = _make(name, arguments, groups, partial(_run, operation), operation.people)
    made.former = _FORMER.get(operation.name, {})
    return made


async def _run(
    operation: Operation,
    *,
    place: Place,
    asker: Asker | None = None,
    model: Budgeted | None = None,
    drawing: Drawing | None = None,
    keeping: Keeping | None = None,
    **given: Any,
) -> Answer:
    """Run an operation, as the principal of the options or as the owner of the project.

    Of a scope to which nothing was ever written, one that reads answers that it is empty, and what to do first.
    """
    request = operation.request(**given)
    if isinstance(keeping, Removing) and not keeping.yes:
        click.confirm(f"Remove everything in {place.org}/{place.project}?", abort=True, err=True)
    mode = mode_name(given["mode"], DEFAULT_MODES) if "mode" in given else ""
    llm = None
    if operation.name in _JUDGED and model:
        llm = model.needed(f"{operation.name.replace('_', '-')} needs")
    elif mode and "llm" in DEFAULT_MODES[mode].needs and model:
        llm = model.needed(f"--mode {mode} needs")
    opening = partial(
        open_caller,
        place,
        gate=asker.gate(place) if asker else ALLOW_ALL,
        log=getattr(asker, "log", True),
        embed=operation.name in _EMBEDDED or (bool(mode) and mode not in _BY_NAME),
        llm=llm,
    )
    reason: str | None = None
    try:
        async with opening() as caller:
            found = await _do(operation, caller, request, keeping)
    except UnknownScopeError as unknown:
        if not operation.reads:
            raise
        reason = str(unknown)
        try:
            async with opening(new=True) as caller:
                found = await _do(operation, caller, request, keeping)
        except UnknownElementError:
            raise unknown from None
    answer = _told(operation, found, drawing)
    return answer if reason is None else Answer({**answer.data, "reason": reason}, [*answer.lines, reason])


async def _do(operation: Operation, caller: Caller, request: Any, keeping: Keeping | None) -> Any:
    """Do it. Raises `UnknownElementError` where nothing is known of what it was asked to change."""
    file = keeping and keeping.receipt
    if file and operation.name == "forget":
        which = {each.name: getattr(request, each.name) for each in attrs.fields(operation.request)}
        which.pop("dry_run", None)
        receipt = await caller.curator.forget_with_receipt(**which)
        found: Any = receipt
    else:
        found = await operation.run(caller, request)
    if operation.name == "forget" and request.memory and not _count(found):
        raise UnknownElementError(f"there is no memory {request.memory!r}, and nothing was forgotten")
    if found == FeedbackReport():
        raise UnknownElementError(
            f"nothing was shown to a session {request.session_id!r}, so that its outcome changes nothing"
        )
    if file:
        await asyncio.to_thread(file.write_text, found.to_json() + "\n", encoding="utf-8")
    return found


def _count(found: Any) -> int:
    return int(found.removed.get("memories", 0) if hasattr(found, "removed") else found.memories)


_DRAW: Final = MappingProxyType({"mermaid": to_mermaid, "dot": to_dot, "graphml": to_graphml})


def _told(operation: Operation, found: Any, drawing: Drawing | None) -> Answer:
    """The answer that a result is. Formats of graphs quote stored text, so that none of it moves a terminal's cursor."""
    data = operation.told(found)
    if drawing is None or (drawing.format is None and operation.name != "entity_graph"):
        return Answer(data, [*lines(found, operation.key)])
    text = _DRAW[drawing.format or "mermaid"](found)
    if drawing.format == "graphml":  # keeps all text, so control characters are written as character references
        text = text.encode("ascii", "xmlcharrefreplace").decode()
    return Answer({"format": drawing.format, "text": text} if drawing.format else data, [text.removesuffix("\n")])
