"""The items of a model's answer, which may be anything: read one by one, so that a broken one harms no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from graphsearch.model import validation as check
from graphsearch.text.rendering import safe_text

MOST: Final = 100
"""Entities, and relations, of one passage that are looked at."""
_SHOWN: Final = 60


class RefusedError(Exception):
    """An item that the text does not prove; never leaves this room, which reports why."""


def numbered(answer: Mapping[str, Any]) -> dict[int, list[Mapping[str, Any]]]:
    """What an answer holds of each passage, by its number."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    listed = answer.get("passages")
    for part in listed if isinstance(listed, list) else ():
        if isinstance(part, Mapping) and isinstance(number := part.get("passage"), int):
            found.setdefault(number, []).append(part)
    return found


def items(parts: Sequence[Mapping[str, Any]], field: str, refused: list[str]) -> Iterator[Mapping[str, Any]]:
    """The objects listed under a field, the first 100 of them; others are told in ``refused``."""
    listed = [item for part in parts if isinstance(found := part.get(field), list) for item in found]
    if len(listed) > MOST:
        refused.append(f"{len(listed) - MOST} of {len(listed)} {field}: only the first {MOST} of a passage are read")
    for item in listed[:MOST]:
        if isinstance(item, Mapping):
            yield item
        else:
            refused.append(f"{field}: {shown(item)} is no object")


def words(item: Mapping[str, Any], field: str, longest: int) -> str:
    """A text of an item, its spaces folded; empty where it has none. Raises `RefusedError` for what is no such text."""
    value = item.get(field, "")
    fault = check.text(field, value, empty=True)
    if fault is not None:
        raise RefusedError(fault)
    if len(value) > longest:
        raise RefusedError(f"{field} is longer than {longest} characters")
    return " ".join(value.split())


def shown(value: object) -> str:
    """A value as a report shows it, on one line and not too long."""
    return repr(safe_text(str(value)[:_SHOWN]))
