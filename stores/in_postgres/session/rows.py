"""Values of Postgres: columns and rows converted to the model, and parameters in the format of the server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from struct import Struct
from typing import Any, Final
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import ArrayLike, NDArray
from psycopg.adapt import Dumper
from psycopg.pq import Format

from graphsearch.columns import Codes, Floats, Keys, Mask
from graphsearch.model import KNOWN_RELATION_TYPES, ElementKind, RelationType, View, validation

_EPOCH_OFFSET: Final = 946_684_800.0


def floats(column: bytes) -> Floats:
    """A column of float8send."""
    return np.frombuffer(column, ">f8").astype(np.float64)


def codes(column: bytes) -> Codes:
    """A column of int8send."""
    return np.frombuffer(column, ">i8").astype(np.int64)


def seconds(column: bytes) -> Floats:
    """A column of timestamptz_send, microseconds from 2000 on, as epoch seconds."""
    return np.frombuffer(column, ">i8") / 1e6 + _EPOCH_OFFSET


def flags(column: bytes) -> Mask:
    """A column of boolsend."""
    return np.frombuffer(column, np.bool_)


def keys(column: bytes) -> Keys:
    """A column of uuid_send. Keys are the 16 bytes of ids, which sort as ids do."""
    return np.frombuffer(column, "S16")


def endpoint_columns(column: bytes) -> NDArray[Any]:
    """A column of entities' ``signature`` and ``importance``; 0 for missing entities."""
    return np.frombuffer(column, [("signature", ">i8"), ("importance", ">f8")])


def types_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, RelationType]:
    """Relation types by name: the defaults and the registered ones."""
    return {**KNOWN_RELATION_TYPES, **{fields["name"]: RelationType(**fields) for fields in rows}}


def storable(texts: Iterable[str]) -> list[str]:
    """The texts that can be stored at all: Postgres accepts neither NUL nor lone surrogates."""
    return [text for text in texts if validation.text("text", text, empty=True) is None]


def view_values(view: View) -> dict[str, Any]:
    """A view as parameters."""
    return {
        "as_of": view.as_of,
        "known_at": view.known_at,
        "least": view.min_edge_confidence,
        "skipped": tuple(sorted(view.skipped_types)),
        "since": view.earliest,
        "only": tuple(sorted(view.only_types)),
        "refolded": sorted(view.refolded),
    }


def keys_of(kind: ElementKind, column: bytes) -> Keys:
    """A column of the ids of a kind, as returned by the statements under "{kind} ids"."""
    if kind is not ElementKind.MEMORY:
        return keys(column)
    return np.array(column.decode().split("\0") if column else [], dtype=np.str_)


def bytes_of(keys: Keys) -> list[bytes]:
    """The 16 bytes of each key; numpy strips trailing zero bytes from single items."""
    packed = np.asarray(keys, "S16").tobytes()
    return [packed[at : at + 16] for at in range(0, len(packed), 16)]


def uuids(keys: Keys) -> list[UUID]:
    """The ids behind keys of entities or relations."""
    return [UUID(bytes=packed) for packed in bytes_of(keys)]


def texts(keys: Keys) -> list[str]:
    """The ids behind keys of memories."""
    return [str(key) for key in keys.tolist()]


# -- parameters, where psycopg does not know their type, or takes several times as long ------------------------------

_HEAD: Final = Struct("!iiiii")


class Sent(bytes):
    """A value in the server's format; its type is that which its place in the statement states."""


class _Sender(Dumper):
    """Hands a value to psycopg as it is."""

    format = Format.BINARY

    def dump(self, obj: Sent) -> bytes:
        return bytes(obj)


def register_sent(connection: psycopg.AsyncConnection[Any]) -> None:
    """Let a connection take such values as parameters."""
    connection.adapters.register_dumper(Sent, _Sender)


def text_of_json(value: Mapping[str, Any]) -> str:
    """Attributes as JSON."""
    return json.dumps(dict(value), ensure_ascii=False, default=dict) if value else "{}"


def halfvec(value: NDArray[Any]) -> Sent:
    """A vector as halfvec, which psycopg does not know: its length and two unused bytes, then its numbers."""
    return Sent(len(value).to_bytes(2, "big") + b"\0\0" + value.astype(">f2").tobytes())


def packed(ids: Iterable[UUID]) -> list[bytes]:
    """The 16 bytes of each id."""
    return [id_.int.to_bytes(16) for id_ in ids]


# Arrays are built at once, where psycopg would visit each element several times. An oid is that of the element.


def uuid_array(ids: Iterable[bytes]) -> Sent:
    """A uuid[] of the 16 bytes of each id."""
    return _of_equal(2950, np.frombuffer(b"".join(ids), "V16"))


def key_array(keys: Keys) -> Sent:
    """A uuid[] of keys of entities or relations."""
    return _of_equal(2950, np.asarray(keys, "S16").view("V16"))


def real_array(numbers: ArrayLike) -> Sent:
    """A real[] of numbers, of a matrix row by row."""
    return _of_equal(700, np.asarray(numbers, ">f4").ravel())


def text_array(texts: Iterable[str]) -> Sent:
    """A text[]; most of many repeat others."""
    texts = list(texts)
    items = {each: _text(each) for each in set(texts)}
    return _array(25, len(texts), b"".join([items[each] for each in texts]))


_NULL: Final = b"\xff" * 4
_EIGHT: Final = Struct("!iq")
_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_CELLS: Final[Mapping[str, tuple[int, Callable[[Any], bytes]]]] = {
    "uuid": (2950, lambda value: b"\0\0\0\x10" + value.bytes),
    "bigint": (20, partial(Struct("!iq").pack, 8)),
    "integer": (23, partial(Struct("!ii").pack, 4)),
    "float8": (701, partial(Struct("!id").pack, 8)),
    "boolean": (16, partial(Struct("!i?").pack, 1)),
    "timestamptz": (1184, lambda moment: _EIGHT.pack(8, (moment - _EPOCH) // _MICROSECOND)),
}
"""By type: its oid, and how a value is sent within an array. Others are sent as text, for a cast."""


def array(type_: str, values: Sequence[Any]) -> Sent:
    """An array of values of a type, any of which may be None; its type is that of its place in the statement."""
    of_element, cell = _CELLS.get(type_, (25, _text))
    if values[0] is None and values.count(None) == len(values):
        items = _NULL * len(values)
    else:
        items = b"".join([_NULL if value is None else cell(value) for value in values])
    return _array(of_element, len(values), items)


def _text(value: str) -> bytes:
    encoded = value.encode()
    return len(encoded).to_bytes(4) + encoded


def text_of_list(values: Sequence[Any]) -> str:
    """A list of texts or numbers as text, to be cast to an array."""
    if not values:
        return "{}"
    texts = (str(each).replace("\\", "\\\\").replace('"', '\\"') for each in values)
    return "{" + ",".join(f'"{each}"' for each in texts) + "}"


def _of_equal(of_element: int, values: NDArray[Any]) -> Sent:
    """An array of values of one length."""
    items = np.empty(len(values), [("length", ">i4"), ("value", values.dtype)])
    items["length"], items["value"] = values.dtype.itemsize, values
    return _array(of_element, len(values), items.tobytes())


def _array(of_element: int, count: int, items: bytes) -> Sent:
    return Sent(_HEAD.pack(1, 0, of_element, count, 1) + items)
