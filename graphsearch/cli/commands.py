"""Commands: of a function written for the command line, or of an operation of the table."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import isawaitable, signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

import attrs
import click

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.app import escaped
from graphsearch.cli.environment import Model, Place, Places, open_caller
from graphsearch.cli.options import Argument, Options, arguments_of, parameter, refuse
from graphsearch.cli.principals import Asker, BlockAsker
from graphsearch.cli.showing import lines
from graphsearch.errors import GraphSearchError, UnknownElementError, UnknownScopeError
from graphsearch.export import to_dot, to_graphml, to_mermaid
from graphsearch.ingest import Progress
from graphsearch.model import Action, FeedbackReport
from graphsearch.model.codec import Says, encode
from graphsearch.modes.options import SearchMode
from graphsearch.modes.registry import DEFAULT_MODES, mode_name
from graphsearch.operations.operation import Operation
from graphsearch.operations.service import Caller
from graphsearch.text.rendering import safe_text


@attrs.frozen
class Answer:
    """The result of a command: a JSON object for ``--json``, and lines for people."""

    data: Mapping[str, Any]
    lines: Sequence[str] = ()


class Failure(click.ClickException):
    """An error of the library: one line, exit code 1."""

    def show(self, file: Any = None) -> None:
        """Print it."""
        click.echo(f"error: {self.message}", file=file, err=True)


class Command(click.Command):
    """A command that takes former spellings, too."""

    former: Mapping[str, str] = MappingProxyType({})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read arguments."""
        return super().parse_args(ctx, [each for given in args for each in self._renamed(given)])

    def _renamed(self, given: str) -> list[str]:
        option, _, value = given.partition("=")
        return [each for each in (self.former[option], value) if each] if option in self.former else [given]


def command_of(name: str, function: Callable[..., Any], sentence: str) -> Command:
    """The command that a function is: it gives or awaits an `Answer`, or a value that the codec and `lines` know."""
    return _make(name, list(arguments_of(function)), function, sentence)


def _make(name: str, arguments: Sequence[Argument], function: Callable[..., Any], sentence: str) -> Command:
    groups: dict[str, Any] = {
        each.name: each.kind for each in arguments if isinstance(each.kind, type) and issubclass(each.kind, Options)
    }
    fields = {group: [*arguments_of(kind)] for group, kind in groups.items()}

    def run(as_json: bool, **given: Any) -> None:
        made = {
            each: kind(**{field.name: given.pop(field.name) for field in fields[each]}) for each, kind in groups.items()
        }
        _print(_answered(partial(function, **given, **made)), as_json=as_json)

    own = [each for each in arguments if each.name not in groups]
    grouped = [attrs.evolve(each, is_positional=False) for group in fields.values() for each in group]
    last = click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object and nothing else.")
    told = [f"{each.name.upper()}: {each.says.text}" for each in own if each.is_positional]
    params = [*map(parameter, [*own, *grouped]), last]
    return Command(name, callback=run, params=params, help="\n\n".join([sentence, *told]), short_help=sentence)


def _answered(function: Callable[[], Any]) -> Answer:
    async def wait() -> Any:
        found = function()
        return await found if isawaitable(found) else found

    try:
        found = asyncio.run(wait())
    except GraphSearchError as error:
        raise Failure(str(error)) from error
    if isinstance(found, Answer):
        return found
    return Answer({}) if found is None else Answer(encode(found), [*lines(found)])


def _print(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(answer.data, indent=2).replace("\x7f", "\\u007f"))
    else:
        for line in answer.lines:
            click.echo(escaped(line))


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show a progress bar on standard error if that is a terminal; yields the function to call after every step."""
    shown: Any = lambda name: name and safe_text(name)[-40:]  # noqa: E731 - click takes what it is updated with as an item
    with click.progressbar(length=1, file=sys.stderr, item_show_func=shown) as bar:

        def update(done: int, total: int, name: str) -> None:
            bar.length = total
            bar.update(done - bar.pos, name)

        yield update


# -- of operations ----------------------------------------------------------------------------------------------------

_ASKED_TOGETHER: Final = frozenset({"graph_query", "feedback", "search", "recall", "rank_entities"})
"""What asks several scopes."""
_EMBEDDED: Final = frozenset({"recall", "rank_entities", "update_entity", "accept_proposal"})
_JUDGED: Final = frozenset({"judge_duplicates", "summarise_communities"})
"""What needs an embedder or a language model, whatever its mode."""
_BY_NAME: Final = (SearchMode.NEIGHBORHOOD, SearchMode.NATURAL_LANGUAGE)
"""Modes that start from names and need no embedder."""
_FORMAT: Final = Argument(
    name="format",
    kind=Literal["mermaid", "dot", "graphml"],
    default=None,
    says=Says("Print the result as a graph for other programs."),
)
_RECEIPT: Final = Argument(
    name="receipt", kind=Path, default=None, says=Says("A file for a receipt, which verify-receipt checks.")
)
_MORE: Final[Mapping[str, Sequence[Argument]]] = MappingProxyType(
    {
        "search": [_FORMAT],
        "entity_graph": [_FORMAT],
        "forget": [_RECEIPT],
        "remove_scope": [_RECEIPT, Argument(name="yes", kind=bool, default=False, says=Says("Do not ask."))],
    }
)
"""What only the command takes."""
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


def command_of_operation(name: str, operation: Operation) -> Command:
    """The command that an operation is."""
    kinds, own = operation.request.__annotations__, signature(operation.verb).parameters
    arguments = [
        Argument(
            name=each.name,
            kind=kinds[each.name],
            default=each.default,
            says=each.metadata["says"],
            is_positional=each.default is attrs.NOTHING
            or (each.name in own and own[each.name].kind is not own[each.name].KEYWORD_ONLY)
            or (operation.name, each.name) == ("backlinks", "entity"),
        )
        for each in attrs.fields(operation.request)
        if each.name != "details"  # which a block always has here
    ]
    groups: dict[str, Any] = {"asker": BlockAsker if operation.name == "graph_query" else None}
    if operation.permission in (Action.FEEDBACK, Action.REVIEW):
        groups["asker"] = Asker  # all else is done by the owner of the project
    groups["model"] = Model if operation.name in _JUDGED or "mode" in kinds else None
    groups["place"] = Places if operation.name in _ASKED_TOGETHER else Place
    more = [
        *_MORE.get(operation.name, ()),
        *(Argument(name=each, kind=kind, default=attrs.NOTHING) for each, kind in groups.items() if kind),
    ]
    made = _make(name, [*arguments, *more], partial(_run, operation), operation.people.replace("_", "-"))
    made.former = _FORMER.get(operation.name, {})
    return made


async def _run(
    operation: Operation,
    *,
    place: Place,
    asker: Asker | None = None,
    model: Model | None = None,
    format: str | None = None,
    yes: bool = True,
    **given: Any,
) -> Answer:
    """Run an operation. Of a scope to which nothing was ever written, one that reads answers that it is empty."""
    receipt: Path | None = given.pop("receipt") if _RECEIPT in _MORE.get(operation.name, ()) else None
    if not yes:
        click.confirm(f"Remove everything in {place.org}/{place.project}?", abort=True, err=True)
    mode = mode_name(given["mode"], DEFAULT_MODES) if "mode" in given else None
    needed_by = f"--mode {mode} needs" if mode and "llm" in DEFAULT_MODES[mode].needs else ""
    needed_by = f"{operation.name.replace('_', '-')} needs" if operation.name in _JUDGED else needed_by
    opened = partial(
        open_caller,
        place,
        gate=asker.gate(place) if asker else ALLOW_ALL,
        log=getattr(asker, "log", True),
        embed=operation.name in _EMBEDDED or mode not in (None, *_BY_NAME),
        llm=model.chosen(needed_by) if model and needed_by else None,
    )
    reason: list[str] = []
    try:
        async with opened() as caller:
            found = await _do(operation, caller, given, receipt)
    except UnknownScopeError as unknown:
        if not operation.reads:
            raise
        reason = [str(unknown)]
        try:
            async with opened(new=True) as caller:
                found = await _do(operation, caller, given, None)
        except UnknownElementError:
            raise unknown from None
    data, shown = operation.told(found), [*lines(found, operation.key)]
    if format or operation.name == "entity_graph":
        shown = [_drawn(found, format or "mermaid").removesuffix("\n")]
        data = {"format": format, "text": shown[0]} if format else data
    return Answer({**data, "reason": reason[0]} if reason else data, [*shown, *reason])


async def _do(operation: Operation, caller: Caller, given: Mapping[str, Any], receipt: Path | None) -> Any:
    """Do it, and keep the receipt. Raises `UnknownElementError` for a memory or a session of which nothing is known."""
    refuse(receipt and given.get("dry_run"), "--receipt is of what is forgotten: give it without --dry-run")
    request = operation.request(**given)
    found: Any
    if receipt and operation.name == "forget":
        found = await caller.curator.forget_with_receipt(**{name: given[name] for name in given if name != "dry_run"})
    else:
        found = await operation.run(caller, request)
    if operation.name == "forget" and given["memory"]:
        if not (found.removed.get("memories") if receipt else found.memories):
            raise UnknownElementError(f"there is no memory {given['memory']!r}, and nothing was forgotten")
    elif found == FeedbackReport():
        session = given["session_id"]
        raise UnknownElementError(f"nothing was shown to a session {session!r}, so that its outcome changes nothing")
    if receipt:
        await asyncio.to_thread(receipt.write_text, found.to_json() + "\n", encoding="utf-8")
        return found.removed
    return found


def _drawn(found: Any, format: str) -> str:
    """A graph in a format, which quotes stored text, so that none of it moves a terminal's cursor."""
    match format:
        case "mermaid":
            return to_mermaid(found)
        case "dot":
            return to_dot(found)
    return to_graphml(found).encode("ascii", "xmlcharrefreplace").decode()  # keeps all text: control characters, too
