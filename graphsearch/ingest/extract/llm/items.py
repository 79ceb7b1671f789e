"""Items of a model's answer, validated one by one, so that an invalid item does not affect the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from graphsearch.model import validation as check
from graphsearch.text.rendering import safe_text

MOST: Final = 100
"""Maximum entities, and maximum relations, read from the answer about one passage."""
_SHOWN: Final = 60


class RefusedError(Exception):
    """An item is invalid or not proven by the text; caught in this package, which reports why."""


def numbered(answer: Mapping[str, Any]) -> dict[int, list[Mapping[str, Any]]]:
    """The parts of an answer by the number of their passage."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    listed = answer.get("passages")
    for part in listed if isinstance(listed, list) else ():
        if isinstance(part, Mapping) and isinstance(number := part.get("passage"), int):
            found.setdefault(number, []).append(part)
    return found


def items(parts: Sequence[Mapping[str, Any]], field: str, refused: list[str]) -> Iterator[Mapping[str, Any]]:
    """The first 100 objects listed under a field; others are appended to ``refused``."""
    listed = [item for part in parts if isinstance(found := part.get(field), list) for item in found]
    if len(listed) > MOST:
        refused.append(f"{len(listed) - MOST} of {len(listed)} {field}: only the first {MOST} of a passage are read")
    for item in listed[:MOST]:
        if isinstance(item, Mapping):
            yield item
        else:
            refused.append(f"{field}: {shown(item)} is not an object")


def words(item: Mapping[str, Any], field: str, longest: int) -> str:
    """A text field of an item, whitespace collapsed, empty if missing. Raises `RefusedError` for an invalid value."""
    value = item.get(field, "")
    fault = check.text(field, value, empty=True)
    if fault is not None:
        raise RefusedError(fault)
    if len(value) > longest:
        raise RefusedError(f"{field} is longer than {longest} characters")
    return " ".join(value.split())


def shown(value: object) -> str:
    """A value for a report, on one line and truncated."""
    return repr(safe_text(str(value)[:_SHOWN]))
