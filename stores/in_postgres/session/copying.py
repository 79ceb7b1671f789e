"""Batches copied into temporary tables by psycopg's binary COPY, and arrays of ids built at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from struct import Struct
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs
import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.adapt import Dumper
from psycopg.pq import Format

from graphsearch.columns import Keys

Column: TypeAlias = Sequence[Any] | NDArray[Any]
Columns: TypeAlias = Mapping[str, Column]
"""Columns of values by name."""

_UUID_OID: Final = 2950
_NO_OBJECT: Final = b"\1{}"


def _uuids(values: Column) -> Iterable[bytes | None]:
    return [None if value is None else value.bytes for value in values]


def _objects(values: Column) -> Iterable[bytes]:
    """Attributes as jsonb, which begins with a version; most are empty."""
    return [
        b"\1" + json.dumps(dict(value), ensure_ascii=False, default=dict).encode() if value else _NO_OBJECT
        for value in values
    ]


def _halfvecs(values: Column) -> Iterable[bytes | None]:
    """A float16 matrix, or a list of None only. A halfvec is its length and two unused bytes, then its numbers."""
    if not isinstance(values, np.ndarray):
        return values
    head = values.shape[1].to_bytes(2, "big") + b"\0\0"
    return [head + row.tobytes() for row in np.asarray(values, np.float16).astype(">f2")]


_PACKED: Final[Mapping[str, Callable[[Column], Iterable[bytes | None]]]] = {
    "uuid": _uuids,
    "jsonb": _objects,
    "halfvec": _halfvecs,
}
"""Types whose values psycopg gets as the server reads them, because it does not know them or takes longer."""


@attrs.frozen
class Incoming:
    """A temporary table that a batch is copied into."""

    name: str
    columns: Mapping[str, str]
    """Types by name, in order."""

    @classmethod
    def of(cls, name: str, columns: str) -> Incoming:
        """The table with these columns, written as in SQL."""
        return cls(name, dict(column.strip().split(" ", 1) for column in columns.split(",")))

    def ddl(self, *, reused: bool) -> str:
        """The statement that creates it, if missing; if ``reused``, the connection keeps it, empty."""
        collate = ' COLLATE "C"'
        columns = ", ".join(
            f"{name} {type_}{collate if type_.startswith('text') else ''}" for name, type_ in self.columns.items()
        )
        return (
            f"CREATE TEMP TABLE IF NOT EXISTS {self.name} ({columns}) ON COMMIT {'DELETE ROWS' if reused else 'DROP'}"
        )

    @property
    def clearing(self) -> str:
        """The statement that empties it."""
        return f"TRUNCATE {self.name}"

    async def fill(self, connection: psycopg.AsyncConnection[Any], columns: Columns) -> None:
        """Copy a value for every column and row. Raises `OverflowError` for an integer that Postgres cannot hold."""
        values = [_values(type_, columns[name]) for name, type_ in self.columns.items()]
        async with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY {self.name} FROM STDIN (FORMAT binary)".encode()) as copy,
        ):
            copy.set_types(["bytea" if type_ in _PACKED else type_ for type_ in self.columns.values()])
            for row in zip(*values, strict=True):
                await copy.write_row(row)


def _values(type_: str, values: Column) -> Iterable[Any]:
    pack = _PACKED.get(type_)
    if pack is not None:
        return pack(values)
    if type_.endswith("[]"):  # of tuples, which are no arrays to psycopg
        return map(list, values)
    return values.tolist() if isinstance(values, np.ndarray) else values


# -- arrays -------------------------------------------------------------------------------------------------------


def packed(ids: Iterable[UUID]) -> list[bytes]:
    """The 16 bytes of each id."""
    return [id_.int.to_bytes(16) for id_ in ids]


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
        count = len(ids) // 16
        if not count:
            return cls(Struct("!iii").pack(0, 0, _UUID_OID))
        items = np.empty(count, _ITEM)
        items["length"], items["id"] = 16, np.frombuffer(ids, "V16")
        return cls(Struct("!iiiii").pack(1, 0, _UUID_OID, count, 1) + items.tobytes())


class UuidArrayDumper(Dumper):
    """Hands a `UuidArray` to psycopg."""

    format = Format.BINARY
    oid = 2951

    def dump(self, obj: UuidArray) -> bytes:
        """The bytes, unchanged."""
        return bytes(obj)
