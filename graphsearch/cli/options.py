"""Options of commands, made of the arguments of functions and the fields of classes, and read by the codec."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import attrs
import click

from graphsearch.errors import InvalidInputError
from graphsearch.model.codec import Says, decode


class Options:
    """A group of options: a command takes the fields of the class, its function the whole."""


@attrs.frozen(kw_only=True)
class Argument:
    """An argument of a function; ``more`` is what click alone needs to know."""

    name: str
    kind: Any
    default: Any = attrs.NOTHING
    says: Says = Says()
    more: Mapping[str, Any] = attrs.field(factory=dict)
    is_positional: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether it has no default."""
        return self.default is attrs.NOTHING


def arguments_of(function: Callable[..., Any]) -> Iterator[Argument]:
    """The arguments of a function, or of a group, as their annotations describe them."""
    hints = get_type_hints(function, include_extras=True)
    for each in inspect.signature(function).parameters.values():
        kind, *extras = get_args(hints[each.name]) if get_origin(hints[each.name]) is Annotated else [hints[each.name]]
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
    kind, count = _one_of(argument.kind)
    default = argument.default.value if isinstance(argument.default, Enum) else argument.default
    more: dict[str, Any] = {"required": True} if argument.is_needed else {"default": default}
    if kind is not bool:
        more |= {"type": Coded(kind, argument.says), "nargs": count}
    more |= argument.more
    if argument.is_positional:
        return click.Argument([argument.name], **more)
    spelt = argument.name.replace("_", "-")
    if kind is bool:
        more["is_flag"] = True
    elif count == -1:
        more |= {"multiple": True, "nargs": 1}
    return click.Option(
        [f"--{spelt}" if default is False or kind is not bool else f"--{spelt}/--no-{spelt}", argument.name],
        help=argument.says.text,
        show_default=not argument.is_needed and bool(default) and default is not True,
        show_envvar="envvar" in more,
        **more,
    )


def _one_of(kind: Any) -> tuple[Any, int]:
    """The kind of one value, and how many there are: -1 for any number."""
    if get_origin(kind) in (Union, types.UnionType):
        members = [each for each in get_args(kind) if each is not type(None)]
        kind = members[0] if len(members) == 1 else Union[tuple(members)]  # noqa: UP007 - made at run time
    origin, inner = get_origin(kind), get_args(kind)
    if not isinstance(origin, type) or not issubclass(origin, Iterable) or issubclass(origin, Mapping):
        return kind, 1
    return inner[0], (-1 if origin is not tuple or inner[-1] is Ellipsis else len(inner))


_NAMES: Final[Mapping[Any, str]] = {int: "N", float: "N", Mapping: "JSON"}


class Coded(click.ParamType):
    """A value read by the codec. The most of a number of things binds clients of a server, not who holds the store."""

    name = "text"

    def __init__(self, kind: Any, says: Says) -> None:
        self._kind = kind
        self._says = attrs.evolve(says, most=says.most if kind is float else None)
        enum = isinstance(kind, type) and issubclass(kind, Enum)
        self._choices = tuple(says.of or (each.value for each in kind if enum) if enum else says.of or _literals(kind))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a value; a default is one already."""
        if not isinstance(value, str):
            return value
        if hasattr(self._kind, "from_json"):
            return self._kind.from_json(Path(value).read_text(encoding="utf-8"))
        text = value.casefold() if value.casefold() in self._choices else value
        try:
            return decode(Annotated[self._kind, self._says], text, lenient=True)
        except InvalidInputError as error:
            return self.fail("; ".join(error.faults), param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """What stands for the value in the help."""
        if self._choices:
            return "|".join(self._choices)
        if param.param_type_name == "argument":
            return None
        return _NAMES.get(get_origin(self._kind) or self._kind)


def _literals(kind: Any) -> tuple[str, ...]:
    return get_args(kind) if get_origin(kind) is Literal else ()
