"""Options of commands, made of the arguments of functions and the fields of classes, and read by the codec."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
import click

from graphsearch.errors import InvalidInputError
from graphsearch.model.codec import Says, decode


def refuse(fault: object, message: str) -> None:
    """Raise `click.UsageError` for a fault."""
    if fault:
        raise click.UsageError(message)


class Options:
    """A group of options: a command takes the fields of the class, its function the whole."""


@attrs.frozen(kw_only=True)
class Argument:
    """An argument of a function; its ``default`` is NOTHING if it is needed, and ``more`` is for click alone."""

    name: str
    kind: Any
    default: Any
    says: Says = attrs.field(factory=Says)
    more: Mapping[str, Any] = attrs.field(factory=dict)
    is_positional: bool = False


def arguments_of(function: Callable[..., Any]) -> Iterator[Argument]:
    """The arguments of a function, or of a group, as their annotations describe them."""
    hints = get_type_hints(function, include_extras=True)
    for each in inspect.signature(function).parameters.values():
        annotated = get_origin(hints[each.name]) is Annotated
        kind, *extras = get_args(hints[each.name]) if annotated else [hints[each.name]]
        yield Argument(
            name=each.name,
            kind=kind,
            default=attrs.NOTHING if each.default is each.empty else each.default,
            says=next((extra for extra in extras if isinstance(extra, Says)), Says()),
            more=next((extra for extra in extras if isinstance(extra, Mapping)), {}),
            is_positional=each.kind is each.POSITIONAL_OR_KEYWORD,
        )


def parameter(argument: Argument) -> click.Parameter:
    """The option, or for what is positional the argument, of a command."""
    default, (kind, count) = argument.default, _one_of(argument.kind)
    default = default.value if isinstance(default, StrEnum) else default
    more: dict[str, Any] = {"required": True} if default is attrs.NOTHING else {"default": default}
    more |= {"is_flag": True} if kind is bool else {"type": Coded(kind, argument.says), "nargs": count}
    if count == -1:  # nothing is what is left out
        more["callback"] = lambda _, __, given: given or default
        more |= {} if argument.is_positional else {"multiple": True, "nargs": 1}
    more |= argument.more
    if argument.is_positional:
        return click.Argument([argument.name], **more)
    spelt = argument.name.replace("_", "-")
    return click.Option(
        [f"--{spelt}" if default is False or kind is not bool else f"--{spelt}/--no-{spelt}", argument.name],
        help=argument.says.text,
        show_envvar="envvar" in more,
        **{"show_default": isinstance(default, str | int | float) and default not in ("", True, False), **more},
    )


def _one_of(kind: Any) -> tuple[Any, int]:
    """The kind of one value, and how many there are: -1 for any number."""
    if get_origin(kind) in (Union, types.UnionType):
        members = tuple(each for each in get_args(kind) if each is not type(None))
        kind = members[0] if len(members) == 1 else Union[members]  # noqa: UP007 - made at run time
    origin, inner = get_origin(kind), get_args(kind)
    if not isinstance(origin, type) or not issubclass(origin, Iterable) or issubclass(origin, Mapping):
        return kind, 1
    return inner[0], (-1 if origin is not tuple or inner[-1] is Ellipsis else len(inner))


class Coded(click.ParamType):  # type: ignore[type-arg]
    """A value read by the codec. The most of a number of things binds clients of a server, not who holds the store."""

    name = "text"

    def __init__(self, kind: Any, says: Says) -> None:
        self._kind = Annotated[kind, attrs.evolve(says, most=says.most if kind is float else None)]
        self._read_file = getattr(kind, "from_json", None)
        enum = [each.value for each in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []
        self._choices = says.of or (get_args(kind) if get_origin(kind) is Literal else tuple(enum))
        self._is_number = kind in (int, float)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a value, or of a receipt its file; a default is one already."""
        if not isinstance(value, str) or isinstance(value, Enum) or (param and value == "" == param.default):
            return value
        if self._read_file:
            return self._read_file(Path(value).read_text(encoding="utf-8"))
        try:
            return decode(self._kind, value.casefold() if value.casefold() in self._choices else value, lenient=True)
        except InvalidInputError as error:
            return self.fail("; ".join(error.faults), param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:  # noqa: ARG002 - as click calls it
        """What stands for the value in the help."""
        if param.param_type_name == "argument":
            return None
        return "|".join(self._choices) or ("N" if self._is_number else None)
