"""Fields of objects from outside: one way to read them, with every fault of an object at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, TypeVar

from graphsearch.errors import InvalidInputError
from graphsearch.model import EdgeKind
from graphsearch.model import validation as check

T = TypeVar("T")
R = TypeVar("R")
Shape = tuple[Callable[[Any], Any], str]
"""Reads a value, or raises `ValueError` or `TypeError` for one that is not what the second part says."""


def a(kind: type) -> Callable[[Any], Any]:
    """A reader of values of a type; a truth value is no number."""

    def read(value: Any) -> Any:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise TypeError
        return value

    return read


def _texts(value: Any) -> list[str]:
    return [a(str)(each) for each in a(list)(value)]


_TIMES: Final = ("valid_from", "valid_to", "occurred_at")
SHAPES: Final[Mapping[str, Shape]] = MappingProxyType(
    {
        "type": (a(str), "text"),
        **dict.fromkeys(("aliases", "labels"), (_texts, "a list of texts")),
        "attributes": (a(dict), "an object"),
        **dict.fromkeys(("mentions", "claims"), (a(list), "a list")),
        **dict.fromkeys(("start", "end"), (a(int), "a whole number")),
        "kind": (EdgeKind, f"one of {', '.join(EdgeKind)}"),
        **dict.fromkeys(_TIMES, (datetime.fromisoformat, "a time such as 2024-05-01T09:00:00Z")),
    }
)
"""Of the fields that their classes would convert, or take as they are."""


def read_fields(
    subject: str, given: object, known: Collection[str], *needed: str, shapes: Mapping[str, Shape] = SHAPES
) -> dict[str, Any]:
    """The ``known`` fields of an object, each in its shape; null is no value.

    Raises `InvalidInputError` with every fault: what is no object, other fields, ``needed`` ones without a value.
    """
    if not isinstance(given, Mapping):
        kind = {list: "a list", str: "text", type(None): "null"}.get(type(given), "a number")
        raise InvalidInputError(subject, [f"must be an object, not {kind}"])
    fields = {name: value for name, value in given.items() if name in known and value is not None}
    faults = [f"has no field {name!r}; its fields are {', '.join(known)}" for name in given if name not in known]
    faults += [f"needs the field {name!r}" for name in needed if name not in fields]
    for name in [each for each in fields if each in shapes]:
        read, shape = shapes[name]
        try:
            fields[name] = read(fields[name])
        except (ValueError, TypeError, OverflowError, OSError):
            faults.append(f"{name} must be {shape}, not {fields[name]!r}")
    check.refuse(subject, *faults)
    return fields


def read_each(given: Iterable[tuple[str, T]], read: Callable[[T], R]) -> tuple[list[R], list[str]]:
    """What each of several labelled things is read as, and the faults of those that are refused, by label."""
    found: list[R] = []
    faults: list[str] = []
    for label, each in given:
        try:
            found.append(read(each))
        except InvalidInputError as error:
            faults.append(f"{label}: {error}" if label else str(error))
    return found, faults
