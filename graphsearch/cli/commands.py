"""Commands: of a function written for the command line, or of an operation of the table."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import getdoc, iscoroutine, signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

import attrs
import click

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.app import escaped
from graphsearch.cli.environment import Asker, BlockAsker, Model, Place, Places, open_caller, read_settings
from graphsearch.cli.last_answer import add_answer, announce, drop_answers, read_last
from graphsearch.cli.options import Argument, Coded, Options, arguments_of, parameter, refuse
from graphsearch.cli.showing import Row, Shown
from graphsearch.engine import DEFAULT_MODES, mode_name
from graphsearch.errors import UnknownElementError, UnknownScopeError
from graphsearch.export import to_dot, to_graphml, to_mermaid
from graphsearch.ingest import Progress
from graphsearch.model import Action, ElementKind, FeedbackReport
from graphsearch.model.codec import Says, encode
from graphsearch.modes.result import SearchMode
from graphsearch.operations.arguments import ARGUMENTS
from graphsearch.operations.operation import Effect, Operation
from graphsearch.operations.service import Caller
from graphsearch.page.care import find_source, preview_forget
from graphsearch.text.rendering import safe_text


@attrs.frozen
class Answer:
    """The result of a command: a JSON object for ``--json``, and lines for people; ``notes`` go to standard error."""

    data: Mapping[str, Any]
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()


class Command(click.Command):
    """A command whose options may be set by graphsearch.toml."""

    def make_context(self, *given: Any, **options: Any) -> click.Context:
        """Read arguments."""
        return super().make_context(*given, **{"default_map": read_settings()[1], **options})


def command_of(name: str, function: Callable[..., Any]) -> Command:
    """The command that a function is: it gives or awaits an `Answer`, or a value that the codec and `Shown` know."""
    return _make(name, list(arguments_of(function)), function, getdoc(function) or "")


def _make(name: str, arguments: Sequence[Argument], function: Callable[..., Any], sentence: str) -> Command:
    groups: dict[str, Any] = {
        each.name: each.kind for each in arguments if isinstance(each.kind, type) and issubclass(each.kind, Options)
    }
    fields = {group: [*arguments_of(kind)] for group, kind in groups.items()}

    def run(as_json: bool, **given: Any) -> None:
        made = {
            each: kind(**{field.name: given.pop(field.name) for field in fields[each]}) for each, kind in groups.items()
        }
        for place in made.values():
            if isinstance(place, Place) and name != "where":
                announce(place)
        _print(_answer(function(**given, **made)), as_json=as_json)

    own = [each for each in arguments if each.name not in groups]
    grouped = [attrs.evolve(each, is_positional=False) for group in fields.values() for each in group]
    last = click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object and nothing else.")
    told = [f"{each.name.upper()}: {each.says.text}" for each in own if each.is_positional]
    params = [*map(parameter, [*own, *grouped]), last]
    return Command(name, callback=run, params=params, help="\n\n".join([sentence, *told]), short_help=sentence)


def _answer(found: Any) -> Answer:
    found = asyncio.run(found) if iscoroutine(found) else found
    if isinstance(found, Answer):
        return found
    shown = Shown.of(found)
    return Answer({}) if found is None else Answer(encode(found), shown.lines, shown.notes)


def _print(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(answer.data, indent=2).replace("\x7f", "\\u007f"))
    else:
        for line in answer.lines:
            click.echo(escaped(line))
        for line in answer.notes:
            click.echo(escaped(line), err=True)


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
_YES: Final = Argument(name="yes", kind=bool, default=False, says=Says("Do not ask."))
_MORE: Final[Mapping[str, Sequence[Argument]]] = MappingProxyType(
    {"search": [_FORMAT], "entity_graph": [_FORMAT], "forget": [_RECEIPT, _YES], "remove_scope": [_RECEIPT, _YES]}
)
"""What only the command takes."""
_NAMED: Final[Mapping[Says, str]] = MappingProxyType(
    {
        ARGUMENTS["entity"]: "entity",
        ARGUMENTS["memory"]: "memory",
        ARGUMENTS["relation_id"]: "relation",
        ARGUMENTS["merge_id"]: "merge",
        ARGUMENTS["proposal"]: "proposal",
        ARGUMENTS["id"]: "",
    }
)
"""The help of arguments that take an id, and the kind of element: a row of an answer may stand for the id."""


def command_of_operation(name: str, operation: Operation) -> Command:
    """The command that an operation is."""
    kinds, own = operation.request.__annotations__, signature(operation.verb).parameters
    arguments = [
        Argument(
            name=each.name,
            kind=kinds[each.name] if each.metadata["says"] not in _NAMED else str,
            default="" if (operation.name, each.name) == ("explain", "id") else each.default,
            says=each.metadata["says"],
            is_positional=each.default is attrs.NOTHING
            or (each.name in own and own[each.name].kind is not own[each.name].KEYWORD_ONLY)
            or (operation.name, each.name) == ("backlinks", "entity"),
        )
        for each in attrs.fields(operation.request)
        if each.name != "details"  # of a block, which --json always shows
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
    return _make(name, [*arguments, *more], partial(_run, operation), operation.people.replace("_", "-"))


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
    given, rows = _without_rows(operation, place, given)
    for row in rows:
        click.echo(f"the {row.kind} {escaped(row.id)}", err=True)
    mode = mode_name(given["mode"] or SearchMode.GRAPH_COMPLETION, DEFAULT_MODES) if "mode" in given else None
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
    if not yes and ((rows and not given.get("dry_run")) or operation.name == "remove_scope"):
        if rows:
            async with opened() as caller:
                lost = Shown.of(await preview_forget(caller.engine, memory=rows[0].id)).lines
            click.echo(escaped("\n".join(lost)), err=True)
        what = f"this {rows[0].kind}" if rows else f"everything in {place.scopes[0]}"
        click.confirm(f"Remove {what}?", abort=True, err=True)
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
    data, shown = operation.told(found), Shown.of(found, operation.key)
    if format or operation.name == "entity_graph":
        shown = Shown([_drawn(found, format or "mermaid").removesuffix("\n")])
        data = {"format": format, "text": shown.lines[0]} if format else data
    if shown.rows:
        add_answer(place, given.get("query", ""), shown.rows)
    elif operation.effect is Effect.LOSES and not given.get("dry_run"):
        drop_answers(place)
    return Answer({**data, "reason": reason[0]} if reason else data, shown.lines, [*shown.notes, *reason])


def _without_rows(operation: Operation, place: Place, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Row]]:
    """What is given, with ids in place of the rows of answers; of `explain`, a row alone brings its question along."""
    last, given, rows = read_last(place), dict(given), []
    if given.get("id") == "":
        given |= {"id": given["query"], "query": ""}
    for field in attrs.fields(operation.request):
        name, says = field.name, field.metadata["says"]
        if says not in _NAMED or not isinstance(given[name], str):
            continue
        if (found := last.find(given[name], _NAMED[says])) is not None:
            question, row = found
            rows.append(row)
            given[name] = row.id
            if name == "id":
                given |= {"kind": ElementKind(row.kind), "query": given["query"] or question}
        given[name] = Coded(operation.request.__annotations__[name], says).convert(given[name], None, None)
    refuse(
        "id" in given and given.get("query") == "",
        "Missing argument 'ID': give a question and an id, or a row of the last answer",
    )
    return given, rows


async def _do(operation: Operation, caller: Caller, given: Mapping[str, Any], receipt: Path | None) -> Any:
    """Do it, and keep the receipt. Raises `UnknownElementError` for what is not known.

    A source may be named as the path of its file was typed.
    """
    refuse(receipt and given.get("dry_run"), "--receipt is of what is forgotten: give it without --dry-run")
    forgets = operation.name == "forget"
    if forgets and {name for name, value in given.items() if value} - {"dry_run"} == {"source"}:
        given = {**given, "source": await find_source(caller.engine, given["source"], gate=caller.gate)}
    if receipt and forgets:
        named = {name: value for name, value in given.items() if name != "dry_run"}
        found: Any = await caller.curator.forget_with_receipt(**named)
    else:
        request = operation.request(**given, **({"details": True} if operation.name == "graph_query" else {}))
        found = await operation.run(caller, request)
    if forgets and given["memory"] and not (found.removed.get("memories") if receipt else found.memories):
        raise UnknownElementError(f"there is no memory {given['memory']!r}, and nothing was forgotten")
    if found == FeedbackReport():
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
