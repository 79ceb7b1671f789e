"""Rows copied into temporary tables by psycopg's binary COPY, and arrays of parameters built at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from struct import Struct
from typing import Any, Final
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import ArrayLike
from psycopg.abc import AdaptContext
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
_TEXT_OID: Final = 25
_REAL_OID: Final = 700
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


class TextArray(bytes):
    """A text[] in the server's format."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextArray:
        """Build from texts."""
        encoded = [text.encode() for text in texts]
        items = b"".join([part for each in encoded for part in (len(each).to_bytes(4), each)])
        return cls(_HEAD.pack(1, 0, _TEXT_OID, len(encoded), 1) + items)


_NUMBER: Final = np.dtype([("length", ">i4"), ("number", ">f4")])


class RealArray(bytes):
    """A real[] in the server's format."""

    @classmethod
    def of(cls, numbers: ArrayLike) -> RealArray:
        """Build from numbers, of a matrix row by row."""
        given = np.asarray(numbers, np.float32).ravel()
        items = np.empty(len(given), _NUMBER)
        items["length"], items["number"] = 4, given
        return cls(_HEAD.pack(1, 0, _REAL_OID, len(items), 1) + items.tobytes())


class _ArrayDumper(Dumper):
    """Hands an array to psycopg, which must not take this for the dumper of every list of the type."""

    format = Format.BINARY
    array_oid: int

    def __init__(self, cls: type, context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        self.oid = self.array_oid

    def dump(self, obj: bytes) -> bytes:
        """The bytes, unchanged."""
        return bytes(obj)


class _UuidArrayDumper(_ArrayDumper):
    array_oid = 2951


class _TextArrayDumper(_ArrayDumper):
    array_oid = 1009


class _RealArrayDumper(_ArrayDumper):
    array_oid = 1021


def register_arrays(connection: psycopg.AsyncConnection[Any]) -> None:
    """Let a connection take these arrays as parameters."""
    connection.adapters.register_dumper(UuidArray, _UuidArrayDumper)
    connection.adapters.register_dumper(TextArray, _TextArrayDumper)
    connection.adapters.register_dumper(RealArray, _RealArrayDumper)
