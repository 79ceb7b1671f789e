"""Records as JSON objects, the same bytes for the same record; a value that is its default is left out."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.model import Claim, Community, ElementRef, Mention
from graphsearch.model.stored import (
    KIND_OF,
    Attestation,
    Record,
    StoredEntity,
    StoredMemory,
    StoredMerge,
    StoredOutcome,
    StoredRelation,
)

Json = dict[str, Any]


def line_of(content: Mapping[str, Any]) -> bytes:
    """One line of a file."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def json_of(record: Record) -> Json:
    """The object of a record: its kind, and under it its fields."""
    kind = KIND_OF[type(record)]
    return {kind.value: _WRITERS.get(type(record), fields_of)(record)}


def _plain(value: Any) -> Any:
    """A value in JSON, in one form: times in UTC, whole numbers as stores give them back, objects sorted."""
    if value is None or isinstance(value, (str, bool)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, ElementRef):
        return [value.kind.value, value.id]
    if isinstance(value, Mapping):
        return {name: _plain(value[name]) for name in sorted(value)}
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else fields_of(value)


def _number(value: float) -> float:
    if isinstance(value, float):
        if value == 0:
            return 0.0
        written = repr(value)
        if "e+" in written:  # a database keeps it as a whole number
            return int(Decimal(written))
    return value


@cache
def defaults_of(kind: Any) -> tuple[tuple[str, Any], ...]:
    """The fields of a class with their defaults; `attrs.NOTHING` for one that is needed."""
    return tuple((field.name, field.default) for field in attrs.fields(kind))


@cache
def _real(kind: Any) -> frozenset[str]:
    """The fields that are real numbers, or lists of them: also where whole numbers were given."""
    return frozenset(field.name for field in attrs.fields(kind) if "float" in str(field.type))


def _reals(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_reals(each) for each in value]
    return value if value is None else float(value) + 0.0  # without the sign of zero


def fields_of(value: Any, *, without: frozenset[str] = frozenset()) -> Json:
    """The fields of a value that are not at their default."""
    found: Json = {}
    kind: Any = type(value)
    real = _real(kind)
    for name, default in defaults_of(kind):
        given = getattr(value, name)
        if name not in without and not (given is default or given == default):
            found[name] = _reals(given) if name in real else _plain(given)
    return found


_OWN: Final = frozenset({"memory_id"})


def _outcomes(outcomes: Iterable[StoredOutcome]) -> list[Any]:
    return [[each.session_id, each.outcome.value] for each in outcomes]


def _element(record: StoredEntity | StoredMemory | StoredRelation, fields: Json, **more: Any) -> Json:
    attestation = getattr(record, "attestation", None)
    learnt = {
        "signature": _attestation_json(attestation) if attestation else None,
        "outcomes": _outcomes(record.outcomes),
        "vector": None if record.vector is None else b64encode(record.vector.astype("<f2").tobytes()).decode(),
    }
    return {
        **fields,
        **{name: value for name, value in {**more, **learnt}.items() if value not in (None, [], {}, False, 0)},
    }


def _attestation_json(attestation: Attestation) -> Json:
    found = fields_of(attestation)
    return {
        name: [f"{code:016x}" for code in value] if isinstance(value, list) else value for name, value in found.items()
    }


def _entity_json(record: StoredEntity) -> Json:
    entity = record.entity
    return _element(
        record,
        fields_of(entity),
        given_type=None if record.given_type == entity.type else record.given_type,
        named=record.named,
        words={word: _reals(record.words[word]) for word in sorted(record.words)},
    ) | ({} if record.given_aliases == entity.aliases else {"given_aliases": list(record.given_aliases)})


def _memory_json(record: StoredMemory) -> Json:
    return _element(
        record,
        fields_of(record.memory),
        mentions=[fields_of(each, without=_OWN) for each in sorted(record.mentions, key=_mention_order)],
        claims=[fields_of(each, without=_OWN) for each in sorted(record.claims, key=_claim_order)],
        merges=record.merges,
    )


def _relation_json(record: StoredRelation) -> Json:
    return _element(
        record,
        fields_of(record.relation),
        folded=record.folded,
        given_ends=_plain(record.given_ends),
        lapsed_at=_plain(record.lapsed_at),
    )


def _merge_json(record: StoredMerge) -> Json:
    return {"number": record.number, **fields_of(record.merge), "held": record.held}


def _community_json(record: Community) -> Json:
    fields = fields_of(record, without=_UNLISTED)
    return fields if record.summary is None else {**fields, "summary": record.summary.as_json()}


_UNLISTED: Final = frozenset({"label", "summary"})
"""A label is built from names, a summary has a form of its own."""
_WRITERS: Final[Mapping[type, Callable[[Any], Json]]] = {
    Community: _community_json,
    StoredEntity: _entity_json,
    StoredMemory: _memory_json,
    StoredRelation: _relation_json,
    StoredMerge: _merge_json,
}


def _mention_order(mention: Mention) -> str:
    return json.dumps(fields_of(mention, without=_OWN))


def _claim_order(claim: Claim) -> str:
    return json.dumps(fields_of(claim, without=_OWN))
