"""Fields of objects from outside: one way to read them, with every fault of an object at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeVar

from graphsearch.errors import InvalidInputError
from graphsearch.model import EdgeKind
from graphsearch.model import validation as check
from graphsearch.model.codec import decode

T = TypeVar("T")
R = TypeVar("R")
Shape = tuple[Callable[[Any], Any], str]
"""Reads a value, or raises an error for one that is not what the second part says."""
_TIMES: Final = ("valid_from", "valid_to", "occurred_at")
SHAPES: Final[Mapping[str, Shape]] = MappingProxyType(
    {
        "type": (partial(decode, str), "text"),
        **dict.fromkeys(("aliases", "labels"), (partial(decode, list[str]), "a list of texts")),
        "attributes": (partial(decode, dict), "an object"),
        **dict.fromkeys(("mentions", "claims"), (partial(decode, list), "a list")),
        **dict.fromkeys(("start", "end"), (partial(decode, int), "a whole number")),
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
        except (InvalidInputError, ValueError, TypeError, OverflowError, OSError):
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
