"""The SQL of the Postgres store: whole statements by name, read from the .sql files of `graphsearch.stores.sql`.

A statement is the text under a header ``-- name --``. It holds parameters for psycopg, as in ``%(ids)s``, and in braces
the fragments that statements share (``fragments.sql``), which may hold others. A statement for every kind of element
also has ``{kind}``, a table; ``{id}``, the type of its key; and ``{importance}``, a column or a constant. One for any
table has ``{table}``, and may have ``{column}``; one for either end of relations ``{end}`` and ``{copy}``, columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

import attrs
from psycopg import sql

from graphsearch.errors import StatementError
from graphsearch.model import ElementKind

_HEADER: Final = re.compile(r"^-- ([a-z ]+) --$", re.MULTILINE)
_BRACES: Final = re.compile(r"{([a-z ]+)}")
_PARAMETER: Final = re.compile(rb"%\(([a-z0-9_]+)\)s")

FRAGMENTS: Final = "fragments.sql"
_BY_KIND: Final = ("view", "ids", "ends", "steps")
"""Fragments with a text for a kind of element; where it has none, it is that of all, or empty."""
_WHATEVER_IS_SEEN: Final = frozenset({"left out"})
"""Statements over relations whether or not these are in view."""
_OF_KIND: Final[Mapping[ElementKind, Mapping[str, str]]] = MappingProxyType(
    {
        ElementKind.ENTITY: {"kind": "entity", "id": "uuid", "importance": "e.importance_weight"},
        ElementKind.RELATION: {"kind": "relation", "id": "uuid", "importance": "0.5::float8"},
        ElementKind.MEMORY: {"kind": "memory", "id": "text", "importance": "0.5::float8"},
    }
)


@attrs.frozen
class Catalogue:
    """The statements and fragments of some .sql files, by name."""

    statements: Mapping[str, str]
    fragments: Mapping[str, str]

    @classmethod
    def of(cls, sources: Mapping[str, str]) -> Catalogue:
        """Read files by name. Raises `StatementError` for a name given twice."""
        fragments: dict[str, str] = {}
        statements: dict[str, str] = {}
        for file, source in sources.items():
            for name, text in _named(source):
                if name in statements or name in fragments:
                    raise StatementError(f"{file}: a name is given twice: {name}")
                (fragments if file == FRAGMENTS else statements)[name] = text
        return cls(statements, fragments)

    def compose(self, name: str, kind: ElementKind | None, **identifiers: str) -> bytes:
        """A statement with its fragments and identifiers filled in. Raises `StatementError` for an unknown name."""
        if name not in self.statements:
            raise StatementError(f"there is no statement {name!r}")
        parts = dict(self.fragments)
        counts = name in _WHATEVER_IS_SEEN
        parts |= (
            {"seen": "true", "step": "{counted step}"}
            if counts
            else {"seen": "{relation view}", "step": "{scored step}"}
        )
        if kind is not None:
            parts |= {each: parts.get(f"{kind} {each}", parts.get(each, "")) for each in _BY_KIND}
            parts |= _OF_KIND[kind]
        parts |= {each: sql.Identifier(given).as_string(None) for each, given in identifiers.items()}

        def filled(text: str) -> str:
            return _BRACES.sub(lambda braces: filled(parts[braces[1]]), text)

        try:
            return filled(self.statements[name]).encode()
        except KeyError as error:
            raise StatementError(f"statement {name!r} needs {error}: name a kind of element, or a table") from error


def _named(source: str) -> Iterable[tuple[str, str]]:
    """The texts under the headers of a file, without comments and indentation, which psycopg would parse again."""
    _, *parts = _HEADER.split(source)
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        lines = (line.strip() for line in body.splitlines())
        yield name, "\n".join(line for line in lines if line and not line.startswith("--"))


@cache
def catalogue() -> Catalogue:
    """The statements of the Postgres store."""
    found = files("graphsearch.stores").joinpath("sql").iterdir()
    return Catalogue.of({file.name: file.read_text(encoding="utf-8") for file in found if file.name.endswith(".sql")})


@cache
def statement(name: str, kind: ElementKind | None = None, **identifiers: str) -> bytes:
    """The statement of this name, for a kind of element, or for a ``table`` and its ``key``, if it is one for any.

    Raises `StatementError` for an unknown name, and where a kind or a table is missing.
    """
    return catalogue().compose(name, kind, **identifiers)


def with_literals(query: bytes, values: Mapping[str, Any]) -> bytes:
    """A statement with literals in the places of its parameters; "{name}_hashes" are those of the types in a list."""
    literals = {}
    for name, value in values.items():
        literals[name.encode()] = sql.Literal(list(value) if isinstance(value, tuple) else value).as_bytes(None)
        if isinstance(value, tuple):
            hashes = [b"hashtextextended(%s, 0)" % sql.Literal(each).as_bytes(None) for each in value]
            literals[f"{name}_hashes".encode()] = b"ARRAY[%s]::bigint[]" % b", ".join(hashes)
    return _PARAMETER.sub(lambda place: literals.get(place[1], place[0]), query)


@lru_cache(maxsize=1_024)
def numbered(query: bytes, constants: tuple[tuple[str, Any], ...] = ()) -> tuple[bytes, tuple[str, ...]]:
    """A statement with some values written into it and its other parameters numbered, and the names of these."""
    names: dict[bytes, int] = {}
    place = _PARAMETER.sub(
        lambda found: b"$%d" % names.setdefault(found[1], len(names) + 1), with_literals(query, dict(constants))
    )
    return place, tuple(name.decode() for name in names)
