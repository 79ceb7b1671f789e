"""The SQL of the Postgres store, read from the .sql files beside it."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any, Final

from psycopg import sql

from graphsearch.model import ElementKind

_HEADER: Final = re.compile(r"^-- ([a-z ]+) --$", re.MULTILINE)
_FILES: Final = ("elements", "search", "write", "words", "learning")


@cache
def _texts() -> dict[str, str]:
    texts: dict[str, str] = {}
    for file in _FILES:
        source = files("graphsearch.stores").joinpath("sql", f"{file}.sql").read_text(encoding="utf-8")
        _, *parts = _HEADER.split(source)
        texts.update((name, body.strip()) for name, body in zip(parts[::2], parts[1::2], strict=True))
    return texts


@cache
def statement(name: str, kind: ElementKind | None = None, **parts: str) -> bytes:
    """The statement under the header ``-- name --``.

    For a ``kind``, {kind}, {id} (its type), {columns}, {view}, {text} and {importance} are filled in; ``parts`` fill in
    what else is in braces. They are texts of this package, never of a user.
    """
    texts = _texts()
    if kind is not None:
        importance = "e.importance_weight" if kind is ElementKind.ENTITY else "0.5::float8"
        id_type = "text" if kind is ElementKind.MEMORY else "uuid"
        own = {name: texts[f"{kind} {name}"] for name in ("columns", "view", "text")} | {"importance": importance}
        parts = {"kind": kind.value, "id": id_type, **own, **parts}
    text = texts[name]
    for key, part in parts.items():
        text = text.replace(f"{{{key}}}", part)
    return text.encode()


def insertion(name: str, kind: ElementKind | None = None, *, fresh: bool) -> bytes:
    """An upsert; where all is ``fresh``, without looking for what is there already."""
    text = statement(name, kind)
    return text.partition(b"\nON CONFLICT")[0] if fresh else text


def composable(name: str, kind: ElementKind | None = None) -> sql.SQL:
    """A statement for psycopg to put literals into, where the server takes no parameters."""
    text: Any = statement(name, kind).decode()  # as good as a literal: it is one of this package's files
    return sql.SQL(text)
