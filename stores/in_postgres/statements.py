"""The SQL of the Postgres store, read from the .sql files beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from psycopg import sql

from graphsearch.model import ElementKind

_HEADER: Final = re.compile(r"^-- ([a-z ]+) --$", re.MULTILINE)
_PLACE: Final = re.compile(r"{([a-z ]+)}")
_FILES: Final = (
    "elements",
    "search",
    "recall",
    "facts",
    "write",
    "words",
    "learning",
    "linking",
    "communities",
    "names",
    "curation",
)


@cache
def _texts() -> dict[str, str]:
    texts: dict[str, str] = {}
    for file in _FILES:
        source = files("graphsearch.stores").joinpath("sql", f"{file}.sql").read_text(encoding="utf-8")
        _, *parts = _HEADER.split(source)
        texts.update((name, _bare(body)) for name, body in zip(parts[::2], parts[1::2], strict=True))
    return texts


def _bare(body: str) -> str:
    """Without comments and indentation: psycopg takes long statements apart again at every use."""
    lines = (line.strip() for line in body.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("--"))


@cache
def statement(name: str, kind: ElementKind | None = None, **parts: str) -> bytes:
    """The statement under the header ``-- name --``.

    What is in braces is filled in: by ``parts``, which are texts of this package, never of a user; for a ``kind`` by
    {kind}, {id} (its type), {ids} (a column), {columns}, {view}, {text}, {words} and {importance}; and by other texts
    that are called so.
    """
    texts = _texts()
    if kind is not None:
        importance = "e.importance_weight" if kind is ElementKind.ENTITY else "0.5::float8"
        id_type = "text" if kind is ElementKind.MEMORY else "uuid"
        own = {name: texts[f"{kind} {name}"] for name in ("columns", "ids", "view", "text", "words")}
        parts = {"kind": kind.value, "id": id_type, "importance": importance, **own, **parts}
    return _filled(texts[name], texts | parts).encode()


def _filled(text: str, parts: Mapping[str, str]) -> str:
    """A text with parts in the places of its braces, and parts in theirs; psycopg has places of its own, left alone."""
    return _PLACE.sub(lambda place: _filled(parts[place[1]], parts) if place[1] in parts else place[0], text)


def insertion(name: str, kind: ElementKind | None = None, *, fresh: bool) -> bytes:
    """An upsert; where all is ``fresh``, without looking for what is there already."""
    text = statement(name, kind)
    return text.partition(b"\nON CONFLICT")[0] if fresh else text


def composable(name: str, kind: ElementKind | None = None) -> sql.SQL:
    """A statement for psycopg to put literals into, where the server takes no parameters."""
    text: Any = statement(name, kind).decode()  # as good as a literal: it is one of this package's files
    return sql.SQL(text)
