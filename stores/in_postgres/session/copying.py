"""Rows in the binary format of COPY: the fastest way into Postgres.

Columns are encoded one at a time, each field as COPY requires: its length in four bytes, then the value in network
order. Columns whose fields all have the same length are blocks of bytes, joined side by side; the others are lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from struct import Struct
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray
from psycopg.adapt import Dumper
from psycopg.pq import Format

from graphsearch.columns import Keys

Column: TypeAlias = Sequence[Any] | NDArray[Any]
Columns: TypeAlias = Mapping[str, Column]
"""Fixed-length formats by name."""
_Block: TypeAlias = NDArray[np.uint8]
"""One row of bytes per field."""
_Fields: TypeAlias = _Block | list[bytes]

_LENGTH: Final = Struct("!i").pack
_NULL: Final = _LENGTH(-1)
_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COUNT: Final = Struct("!h").pack
_TRAILER: Final = _COUNT(-1)

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_TEXT_OID: Final = 25
_INTEGER_OID: Final = 23
_REAL_OID: Final = 700
_UUID_OID: Final = 2950


# -- one field ----------------------------------------------------------------------------------------------------


def _text(value: str) -> bytes:
    encoded = value.encode()
    return _LENGTH(len(encoded)) + encoded


def _uuid(value: UUID | None) -> bytes:
    return _NULL if value is None else _LENGTH(16) + value.bytes


def _bigint(value: int | None) -> bytes:
    return _NULL if value is None else _LENGTH(8) + value.to_bytes(8, signed=True)


def _boolean(value: bool) -> bytes:
    return _LENGTH(1) + (b"\1" if value else b"\0")


def _time(value: datetime | None) -> bytes:
    return _bigint(None if value is None else (value - _EPOCH) // _MICROSECOND)


def _json(value: Mapping[str, Any]) -> bytes:
    encoded = json.dumps(dict(value), ensure_ascii=False, default=dict).encode()
    return _LENGTH(len(encoded) + 1) + b"\1" + encoded


def _array(oid: int, items: Sequence[bytes]) -> bytes:
    if not items:
        head = Struct("!iii").pack(0, 0, oid)
        return _LENGTH(len(head)) + head
    body = Struct("!iiiii").pack(1, 0, oid, len(items), 1) + b"".join(items)
    return _LENGTH(len(body)) + body


def _texts(values: Sequence[str]) -> bytes:
    return _array(_TEXT_OID, [_text(value) for value in values])


def _integers(values: Sequence[int]) -> bytes:
    return _array(_INTEGER_OID, [Struct("!ii").pack(4, value) for value in values])


def _reals(values: Sequence[float]) -> bytes:
    return _array(_REAL_OID, [Struct("!if").pack(4, value) for value in values])


# -- one column ---------------------------------------------------------------------------------------------------


def _same(field: bytes, count: int) -> _Block:
    """A field for every row."""
    return np.broadcast_to(np.frombuffer(field, np.uint8), (count, len(field)))


def _sized(values: _Block) -> _Block:
    """Fixed-length values, each preceded by its length."""
    count, width = values.shape
    return np.hstack([_same(_LENGTH(width), count), values])


def _each_once(encode: Callable[[Any], bytes]) -> Callable[[Column], _Fields]:
    """Encode each distinct value once: most columns repeat a handful of values."""

    def column(values: Column) -> _Fields:
        known = {value: encode(value) for value in set(values)}
        if len(known) == 1:
            return _same(known[values[0]], len(values))
        return [known[value] for value in values]

    return column


_each_text: Final = _each_once(_text)


def _texts_of_rows(values: Column) -> _Fields:
    """For mostly distinct values, such as names and sentences, looking for repeats costs more than it saves."""
    if 2 * len(set(values)) < len(values):
        return _each_text(values)
    return [_LENGTH(len(encoded)) + encoded for encoded in map(str.encode, values)]


def _numbers(dtype: str) -> Callable[[Column], _Fields]:
    def column(values: Column) -> _Fields:
        return _sized(np.array(values, dtype)[:, np.newaxis].view(np.uint8))

    return column


def _uuids(values: Column) -> _Fields:
    return _sized(np.frombuffer(b"".join(packed(values)), np.uint8).reshape(-1, 16))


def _objects(values: Column) -> _Fields:
    return [_json(value) for value in values] if any(values) else _same(_json({}), len(values))


def _halfvecs(values: Column) -> _Fields:
    """A float16 matrix in the format of halfvec: the length in two bytes, two unused ones, then the numbers."""
    matrix = np.asarray(values, np.float16).astype(">f2")
    head = _same(matrix.shape[1].to_bytes(2, "big") + b"\0\0", len(matrix))
    return _sized(np.hstack([head, matrix.view(np.uint8)]))


def _halfvecs_or_none(values: Column) -> _Fields:
    """A matrix, or a list of None only."""
    return _halfvecs(values) if isinstance(values, np.ndarray) else _same(_NULL, len(values))


_COLUMNS: Final[Mapping[str, Callable[[Column], _Fields]]] = {
    "text": _texts_of_rows,
    "uuid": _uuids,
    "uuid NULL": _each_once(_uuid),
    "float8": _numbers(">f8"),
    "integer": _numbers(">i4"),
    "bigint": _numbers(">i8"),
    "bigint NULL": _each_once(_bigint),
    "boolean": _each_once(_boolean),
    "timestamptz NULL": _each_once(_time),
    "jsonb": _objects,
    "text[]": _each_once(_texts),
    "integer[]": _each_once(_integers),
    "real[]": _each_once(_reals),
    "halfvec": _halfvecs,
    "halfvec NULL": _halfvecs_or_none,
}


# -- a table ------------------------------------------------------------------------------------------------------


@attrs.frozen
class Incoming:
    """A temporary table that a batch is copied into."""

    name: str
    columns: Mapping[str, str]
    """Types by name, in order."""

    @classmethod
    def of(cls, name: str, columns: str) -> Incoming:
        """The table with these columns, written as in SQL; "NULL" after a type allows it."""
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

    @property
    def copy(self) -> str:
        """The statement that fills it."""
        return f"COPY {self.name} FROM STDIN (FORMAT binary)"

    def encode(self, columns: Columns) -> bytes:
        """The input of COPY: a value for every column and row.

        Raises `OverflowError` for an integer that Postgres cannot hold.
        """
        rows = len(next(iter(columns.values())))
        if not rows:
            return _HEADER + _TRAILER
        fields: list[_Fields] = [_same(_COUNT(len(self.columns)), rows)]
        fields += [_COLUMNS[type_](columns[name]) for name, type_ in self.columns.items()]
        if all(isinstance(column, np.ndarray) for column in fields):
            return b"".join([_HEADER, np.hstack(fields).tobytes(), _TRAILER])
        return b"".join([_HEADER, *chain.from_iterable(zip(*_row_parts(fields), strict=True)), _TRAILER])


def _row_parts(columns: Iterable[_Fields]) -> Iterator[list[bytes]]:
    """The parts of every row: adjacent blocks are joined into one."""
    blocks: list[_Block] = []
    for column in columns:
        if isinstance(column, np.ndarray):
            blocks.append(column)
            continue
        yield from _joined(blocks)
        blocks = []
        yield column
    yield from _joined(blocks)


def _joined(blocks: Sequence[_Block]) -> Iterator[list[bytes]]:
    if blocks:
        block = np.hstack(blocks)
        yield np.frombuffer(block.tobytes(), f"V{block.shape[1]}").tolist()


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
