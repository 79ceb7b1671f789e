"""Edit JSON as text: add a value or take one out, and keep every other byte.

What is added stands on one line, and its white space says what a removal has to leave. In an empty container that was
there before, it comes right after the bracket: `{}` becomes `{"a": 1}`, and comes back. A container that is added
together with a value has white space after its bracket, and goes with the value.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from graphsearch.errors import InvalidInputError

Path: TypeAlias = Sequence[str | int]
"""Keys of objects and indices of lists, from the outermost."""
END: Final = -1
"""The index behind the last item of a list."""
_read: Final = json.JSONDecoder().raw_decode


class _Item(NamedTuple):
    """A member of an object or an item of a list; its value stands from ``value`` to ``end``."""

    key: str | None
    start: int
    value: int
    end: int


def insert(text: str, path: Path, value: Any) -> str:
    """Add a value that is not there yet, with the containers on its path that are not, behind what is there.

    Raises `InvalidInputError` if something else stands on the path.
    """
    at = _skip(text, 0)
    for depth, step in enumerate(path):
        if text[at] != ("{" if isinstance(step, str) else "["):
            raise InvalidInputError("JSON", [f"{'.'.join(map(str, path[:depth])) or 'the whole'} is of another kind"])
        items = _items(text, at)
        if (index := _index(items, step)) == len(items):
            return _insert(text, at, items, path[depth:], value)
        at = items[index].value
    raise InvalidInputError("JSON", [f"{'.'.join(map(str, path))} is there already"])


def take_out(text: str, path: Path) -> str | None:
    """Remove a value, and every container that was added with it; None if nothing is left."""
    at, around = _skip(text, 0), []
    for step in path:
        items = _items(text, at)
        around.append((at, items, _index(items, step)))
        at = items[around[-1][2]].value
    for at, items, index in reversed(around):
        item = items[index]
        if index:
            return text[: items[index - 1].end] + text[item.end :]
        if len(items) > 1:
            return text[: item.start] + text[items[1].start :]
        if item.start == at + 1:
            return text[: item.start] + text[item.end :]
    return None


def _insert(text: str, at: int, items: Sequence[_Item], path: Path, value: Any) -> str:
    end, gap = at + 1, ""
    if items:
        begin, end = items[-2].end if len(items) > 1 else end, items[-1].end
        gap = text[begin : items[-1].start].rpartition(",")[2]
    shown = json.dumps(value, ensure_ascii=False)
    for step in reversed(path[1:]):
        shown = f"{{ {_key(step)}{shown} }}" if isinstance(step, str) else f"[ {shown} ]"
    return f"{text[:end]}{',' if items else ''}{gap}{_key(path[0])}{shown}{text[end:]}"


def _key(step: str | int) -> str:
    return f"{json.dumps(step, ensure_ascii=False)}: " if isinstance(step, str) else ""


def _index(items: Sequence[_Item], step: str | int) -> int:
    """The place of a key or an index, behind all others if there is none; of equal keys the last counts."""
    if isinstance(step, int):
        return len(items) if step == END else step
    return max((index for index, item in enumerate(items) if item.key == step), default=len(items))


def _items(text: str, at: int) -> list[_Item]:
    """What stands in the container that begins there; the text is known to be JSON."""
    closing, items = "}" if text[at] == "{" else "]", []
    at = _skip(text, at + 1)
    while text[at] != closing:
        start, key = at, None
        if closing == "}":
            key, at = _read(text, at)
            at = _skip(text, _skip(text, at) + 1)
        items.append(_Item(key, start, at, _read(text, at)[1]))
        at = _skip(text, items[-1].end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return items


def _skip(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at
