"""Rows into the binary format of COPY: the fastest way into Postgres.

Each encoder gives a field as COPY wants it: its length in four bytes, then the value in network order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from struct import Struct
from typing import Any, Final
from uuid import UUID

import attrs
from psycopg.adapt import Dumper
from psycopg.pq import Format

Encoder = Callable[[Any], bytes]

_LENGTH: Final = Struct("!i").pack
_FLOAT: Final = Struct("!id").pack
_INTEGER: Final = Struct("!ii").pack
_BIGINT: Final = Struct("!iq").pack
_FIELDS: Final = Struct("!h").pack
_UUID: Final = _LENGTH(16)
_NULL: Final = _LENGTH(-1)
_TRUE: Final = _LENGTH(1) + b"\1"
_FALSE: Final = _LENGTH(1) + b"\0"
_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER: Final = _FIELDS(-1)
_CHUNK: Final = 500
"""Rows."""

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_TEXT_OID: Final = 25
_INTEGER_OID: Final = 23
_UUID_OID: Final = 2950


def _text(value: str) -> bytes:
    encoded = value.encode()
    return _LENGTH(len(encoded)) + encoded


_word: Final = lru_cache(maxsize=4096)(_text)


def _uuid(value: UUID | None) -> bytes:
    return _NULL if value is None else _UUID + value.bytes


def _float(value: float) -> bytes:
    return _FLOAT(8, value)


def _integer(value: int) -> bytes:
    return _INTEGER(4, value)


def _bigint(value: int | None) -> bytes:
    return _NULL if value is None else _BIGINT(8, value)


def _boolean(value: bool) -> bytes:
    return _TRUE if value else _FALSE


@lru_cache(maxsize=4096)
def _time(value: datetime | None) -> bytes:
    return _NULL if value is None else _BIGINT(8, (value - _EPOCH) // _MICROSECOND)


def _json(value: Mapping[str, Any]) -> bytes:
    if not value:
        return _NOTHING
    encoded = json.dumps(dict(value), ensure_ascii=False, default=dict).encode()
    return _LENGTH(len(encoded) + 1) + b"\1" + encoded


_NOTHING: Final = _LENGTH(3) + b"\1{}"


def _array(oid: int, items: Sequence[bytes]) -> bytes:
    if not items:
        head = Struct("!iii").pack(0, 0, oid)
        return _LENGTH(len(head)) + head
    body = Struct("!iiiii").pack(1, 0, oid, len(items), 1) + b"".join(items)
    return _LENGTH(len(body)) + body


_NO_TEXTS: Final = _array(_TEXT_OID, ())


def _texts(values: Sequence[str]) -> bytes:
    return _array(_TEXT_OID, [_text(value) for value in values]) if values else _NO_TEXTS


def _integers(values: Sequence[int]) -> bytes:
    return _array(_INTEGER_OID, [_integer(value) for value in values])


def _raw(value: bytes) -> bytes:
    return _LENGTH(len(value)) + value


class UuidArray(bytes):
    """A uuid[] as the server reads it: made at once, where psycopg would look at each element several times."""

    @classmethod
    def of(cls, packed: Iterable[bytes]) -> UuidArray:
        """Of the 16 bytes of each id."""
        items = [_UUID + each for each in packed]
        if not items:
            return cls(Struct("!iii").pack(0, 0, _UUID_OID))
        return cls(Struct("!iiiii").pack(1, 0, _UUID_OID, len(items), 1) + b"".join(items))


class UuidArrayDumper(Dumper):
    """Hands a `UuidArray` to psycopg."""

    format = Format.BINARY
    oid = 2951

    def dump(self, obj: UuidArray) -> bytes:
        """As it is."""
        return bytes(obj)


_ENCODERS: Final[Mapping[str, Encoder]] = {
    "text": _text,
    "uuid": _uuid,
    "float8": _float,
    "integer": _integer,
    "bigint": _bigint,
    "boolean": _boolean,
    "timestamptz": _time,
    "jsonb": _json,
    "text[]": _texts,
    "integer[]": _integers,
    "halfvec": _raw,
}


_REPEATED: Final = frozenset({"type", "kind", "source", "speaker", "extractor", "session_id"})
"""Columns of a few texts that occur again and again, worth remembering."""


@attrs.frozen
class Incoming:
    """A temporary table that a batch is copied into, dropped at the end of the transaction."""

    name: str
    columns: Mapping[str, str]
    """Types by name, in order."""

    @property
    def ddl(self) -> str:
        """The statement that makes it."""
        collate = ' COLLATE "C"'
        columns = ", ".join(
            f"{name} {type_}{collate if type_.startswith('text') else ''}" for name, type_ in self.columns.items()
        )
        return f"CREATE TEMP TABLE {self.name} ({columns}) ON COMMIT DROP"

    @property
    def copy(self) -> str:
        """The statement that fills it."""
        return f"COPY {self.name} FROM STDIN (FORMAT binary)"

    def encode(self, rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
        """Rows, each with a value for every column, as what COPY reads, in chunks.

        Raises `struct.error` for an integer that Postgres cannot hold.
        """
        encoders = [_word if name in _REPEATED else _ENCODERS[type_] for name, type_ in self.columns.items()]
        head = _FIELDS(len(encoders))
        parts, size = [_HEADER], 0
        for row in rows:
            parts.append(head)
            parts.extend([encoder(value) for encoder, value in zip(encoders, row, strict=True)])
            size += 1
            if size == _CHUNK:
                yield b"".join(parts)
                parts, size = [], 0
        yield b"".join([*parts, _TRAILER])
