"""Rows copied into temporary tables by psycopg's binary COPY, and arrays of parameters built at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from struct import Struct
from typing import Any, Final, Self
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import ArrayLike, NDArray
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


_HEAD: Final = Struct("!iiiii")


class _Array(bytes):
    """An array in the server's format, built at once, where psycopg would visit each element several times."""

    oid: int
    of_element: int
    """The oids of the types of the array and of its elements."""

    @classmethod
    def _of(cls, count: int, items: bytes) -> Self:
        return cls(_HEAD.pack(1, 0, cls.of_element, count, 1) + items)

    @classmethod
    def _of_equal(cls, values: NDArray[Any]) -> Self:
        """Build from values of one length."""
        items = np.empty(len(values), [("length", ">i4"), ("value", values.dtype)])
        items["length"], items["value"] = values.dtype.itemsize, values
        return cls._of(len(values), items.tobytes())


class UuidArray(_Array):
    """A uuid[]."""

    oid, of_element = 2951, 2950

    @classmethod
    def of(cls, packed: Iterable[bytes]) -> Self:
        """Build from the 16 bytes of each id."""
        return cls._of_equal(np.frombuffer(b"".join(packed), "V16"))

    @classmethod
    def of_keys(cls, keys: Keys) -> Self:
        """Build from keys of entities or relations."""
        return cls._of_equal(np.asarray(keys, "S16").view("V16"))


class TextArray(_Array):
    """A text[]."""

    oid, of_element = 1009, 25

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Build from texts."""
        encoded = [text.encode() for text in texts]
        return cls._of(len(encoded), b"".join([part for each in encoded for part in (len(each).to_bytes(4), each)]))


class RealArray(_Array):
    """A real[]."""

    oid, of_element = 1021, 700

    @classmethod
    def of(cls, numbers: ArrayLike) -> Self:
        """Build from numbers, of a matrix row by row."""
        return cls._of_equal(np.asarray(numbers, ">f4").ravel())


class _ArrayDumper(Dumper):
    """Hands an array to psycopg; its class has no oid, or psycopg would take it for that of every list of the type."""

    format = Format.BINARY

    def __init__(self, cls: type[_Array], context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        self.oid = cls.oid

    def dump(self, obj: _Array) -> bytes:
        """The bytes, unchanged."""
        return bytes(obj)


def register_arrays(connection: psycopg.AsyncConnection[Any]) -> None:
    """Let a connection take these arrays as parameters."""
    for each in (UuidArray, TextArray, RealArray):
        connection.adapters.register_dumper(each, _ArrayDumper)
