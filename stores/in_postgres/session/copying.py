"""Parameters in the format of the server, where psycopg does not know their type, or takes several times as long."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
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


class Packed(bytes):
    """A value in the server's format, of whatever type its place in the statement has."""

    @classmethod
    def json(cls, value: Mapping[str, Any]) -> Self:
        """Attributes as jsonb, which begins with a version; most are empty, and psycopg takes eight times as long."""
        return cls(b"\1" + json.dumps(dict(value), ensure_ascii=False, default=dict).encode() if value else b"\1{}")

    @classmethod
    def halfvec(cls, value: NDArray[Any]) -> Self:
        """A vector as halfvec, which psycopg does not know: its length and two unused bytes, then its numbers."""
        return cls(len(value).to_bytes(2, "big") + b"\0\0" + value.astype(">f2").tobytes())


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


class _PackedDumper(Dumper):
    """Hands a value to psycopg as it is."""

    format = Format.BINARY

    def dump(self, obj: Packed) -> bytes:
        """The bytes, unchanged."""
        return bytes(obj)


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
    """Let a connection take these values and arrays as parameters."""
    connection.adapters.register_dumper(Packed, _PackedDumper)
    for each in (UuidArray, TextArray, RealArray):
        connection.adapters.register_dumper(each, _ArrayDumper)
