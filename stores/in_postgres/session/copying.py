"""Rows copied into temporary tables by psycopg's binary COPY, and arrays of ids built at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from struct import Struct
from typing import Any, Final
from uuid import UUID

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

from graphsearch.columns import Keys

_NO_OBJECT: Final = b"\1{}"


def _object(value: Mapping[str, Any] | None) -> bytes | None:
    """Attributes as jsonb, which begins with a version; most are empty, and psycopg takes eight times as long."""
    if value is None:
        return None
    return b"\1" + json.dumps(dict(value), ensure_ascii=False, default=dict).encode() if value else _NO_OBJECT


def _halfvec(value: Any) -> bytes | None:
    """A vector as halfvec, which psycopg does not know: its length and two unused bytes, then its numbers."""
    return None if value is None else len(value).to_bytes(2, "big") + b"\0\0" + value.astype(">f2").tobytes()


_AS_BYTES: Final[Mapping[str, Callable[[Any], Any]]] = {"jsonb": _object, "halfvec": _halfvec}


async def copy_rows(
    connection: psycopg.AsyncConnection[Any], table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]
) -> None:
    """Copy rows, with a value for each column, into a table. Raises `OverflowError` for a number that is too large.

    Row-level security allows this for temporary tables only.
    """
    types = list(columns.values())
    encoders: dict[int, Callable[[Any], Any]] = {
        at: _AS_BYTES[type_] for at, type_ in enumerate(types) if type_ in _AS_BYTES
    }
    encoders |= {at: list for at, type_ in enumerate(types) if type_.endswith("[]")}  # tuples are no arrays to psycopg
    async with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT binary)".encode()) as copy:
        copy.set_types(["bytea" if type_ in _AS_BYTES else type_ for type_ in types])
        for row in rows:
            cells = list(row)
            for at, encode in encoders.items():
                cells[at] = encode(cells[at])
            await copy.write_row(cells)


def temporary_table(name: str, columns: Mapping[str, str], *, kept: bool) -> str:
    """The statement that creates a temporary table, if missing; if ``kept``, the connection keeps it, empty."""
    text = ", ".join(
        f"{column} {type_}{_COLLATE if type_.startswith('text') else ''}" for column, type_ in columns.items()
    )
    return f"CREATE TEMP TABLE IF NOT EXISTS {name} ({text}) ON COMMIT {'DELETE ROWS' if kept else 'DROP'}"


_COLLATE: Final = ' COLLATE "C"'


# -- arrays -------------------------------------------------------------------------------------------------------


def packed(ids: Iterable[UUID]) -> list[bytes]:
    """The 16 bytes of each id."""
    return [id_.int.to_bytes(16) for id_ in ids]


_UUID_OID: Final = 2950
_HEAD: Final = Struct("!iiiii")
_ITEM: Final = np.dtype([("length", ">i4"), ("id", "V16")])


class UuidArray(bytes):
    """A uuid[] in the server's format, built at once, where psycopg would visit each element several times."""

    @classmethod
    def of(cls, packed: Iterable[bytes]) -> UuidArray:
        """Build from the 16 bytes of each id."""
        return cls._of(b"".join(packed))

    @classmethod
    def of_keys(cls, keys: Keys) -> UuidArray:
        """Build from keys of entities or relations."""
        return cls._of(np.asarray(keys, "S16").tobytes())

    @classmethod
    def _of(cls, ids: bytes) -> UuidArray:
        items = np.empty(len(ids) // 16, _ITEM)
        items["length"], items["id"] = 16, np.frombuffer(ids, "V16")
        return cls(_HEAD.pack(1, 0, _UUID_OID, len(items), 1) + items.tobytes())


class UuidArrayDumper(Dumper):
    """Hands a `UuidArray` to psycopg."""

    format = Format.BINARY
    oid = 2951

    def dump(self, obj: UuidArray) -> bytes:
        """The bytes, unchanged."""
        return bytes(obj)
