"""Convert rows of Postgres to the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Codes, Floats, Keys, Mask
from graphsearch.model import (
    KNOWN_RELATION_TYPES,
    ElementKind,
    RelationType,
    View,
    validation,
)

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
