"""Records as JSON objects, the same bytes for the same record; a value that is its default is left out.

What is read is checked: an unknown kind or field is refused.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.errors import InvalidInputError
from graphsearch.model import (
    Claim,
    Community,
    CommunitySummary,
    ElementKind,
    ElementRef,
    Entity,
    Injection,
    Memory,
    MemoryLink,
    Mention,
    Merge,
    Outcome,
    Relation,
    RelationType,
    Span,
    validation,
)
from graphsearch.model.stored import (
    KIND_OF,
    Attestation,
    Counter,
    DistinctPair,
    Record,
    RecordKind,
    StoredEntity,
    StoredMemory,
    StoredMerge,
    StoredOutcome,
    StoredRelation,
    StoredSession,
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
    StoredMerge: lambda record: {"number": record.number, **fields_of(record.merge), "held": record.held},
}


def _mention_order(mention: Mention) -> str:
    return json.dumps(fields_of(mention, without=_OWN))


def _claim_order(claim: Claim) -> str:
    return json.dumps(fields_of(claim, without=_OWN))


Parser = Callable[[str, Any], Any]
"""Of a field's name and its value."""


def object_of(line: bytes) -> Json:
    """The object of a line. Raises `InvalidInputError`."""
    try:
        content = validation.parse_json(line)
    except ValueError as error:
        raise InvalidInputError("line", [f"is not valid JSON in UTF-8: {error}"]) from error
    if not isinstance(content, dict):
        raise InvalidInputError("line", ["must be an object"])
    return content


def record_of(content: Json) -> Record:
    """The record of an object. Raises `InvalidInputError` for a foreign kind or field, and for what no store holds."""
    kind, fields = next(iter(content.items())) if len(content) == 1 else ("", None)
    if kind not in _READERS:
        known = ", ".join(_READERS)
        raise InvalidInputError("line", [f"must be an object with one key of {known}"])
    if not isinstance(fields, dict):
        raise InvalidInputError(kind, ["must be an object"])
    try:
        record: Record = _READERS[RecordKind(kind)](dict(fields))
    except (TypeError, AttributeError, OverflowError) as error:
        raise InvalidInputError(kind, [f"has fields of the wrong kind: {error}"]) from error
    return record


def _as_is(_: str, value: Any) -> Any:
    return value


def _reading(what: str, make: Callable[[Any], Any]) -> Parser:
    """A parser that refuses what ``make`` fails on, or makes None of, as not being ``what``."""

    def read(name: str, value: Any) -> Any:
        try:
            found = make(value)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise InvalidInputError(name, [f"must be {what}, not {value!r}"]) from error
        if found is None:
            raise InvalidInputError(name, [f"must be {what}, not {value!r}"])
        return found

    return read


def _moment(value: Any) -> datetime | None:
    found = datetime.fromisoformat(value)
    return None if found.tzinfo is None else found.astimezone(UTC)


def _outcomes_of(value: Any) -> list[StoredOutcome]:
    return [
        StoredOutcome(session_id=session_id, seq=seq, outcome=_OUTCOMES[outcome])
        for seq, (session_id, outcome) in enumerate(value, 1)
    ]


def _references(value: Any) -> list[ElementRef] | None:
    if any(validation.text("id", key) for _, key in value):
        return None
    return [ElementRef(ElementKind(kind), key) for kind, key in value]


_uuid = _reading("a UUID", UUID)
_time = _reading("a time with its offset", _moment)
_list = _reading("a list", lambda value: value if isinstance(value, list) else None)
_object = _reading("an object", lambda value: value if isinstance(value, dict) else None)
_uuids = _reading("a list of UUIDs", lambda value: [*map(UUID, value)] if isinstance(value, list) else None)
_pair = _reading("two ids", lambda value: (UUID(value[0]), UUID(value[1])) if len(value) == 2 else None)  # noqa: PLR2004 - a source and a target
_codes = _reading(
    "a list of hexadecimal numbers",
    lambda value: [int(each, 16) for each in value] if isinstance(value, list) else None,
)
_vector = _reading(
    "float16 numbers in base64",
    lambda value: np.frombuffer(b64decode(value, validate=True), "<f2").astype(np.float16),
)


def _attestation(name: str, value: Any) -> Attestation:
    return Attestation(**_parsed(name, _object(name, value), {**_ATTESTATION}))


def _summary(name: str, value: Any) -> CommunitySummary:
    return CommunitySummary.from_json(_object(name, value))


def _span(name: str, value: Any) -> Span:
    return Span(**_parsed(name, _object(name, value), {"start": _as_is, "end": _as_is}))


_OUTCOMES: Final = {each.value: each for each in Outcome}
_ATTESTATION: Final[Mapping[str, Parser]] = {
    "evidence": _codes,
    "influences": _codes,
    "shared": _as_is,
    "typed": _as_is,
}
_BY_NAME: Final[Mapping[str, Parser]] = {
    **dict.fromkeys(("id", "source_id", "target_id", "merged_into", "entity_id", "low_id", "high_id"), _uuid),
    **dict.fromkeys(("valid_from", "valid_to", "created_at", "occurred_at", "supported_at"), _time),
    **dict.fromkeys(("retracted_at", "undone_at", "lapsed_at"), _time),
    **dict.fromkeys(("aliases", "labels", "evidence", "given_aliases", "strengths", "hop_scores"), _list),
    **dict.fromkeys(("attributes", "words"), _object),
    **dict.fromkeys(("members", "top"), _uuids),
    "elements": _reading("a list of pairs of a kind of element and an id", _references),
    "span": _span,
    "summary": _summary,
}
"""How fields are read, by name; others as they are."""
_TEXT_IDS: Final[Mapping[str, Parser]] = {**_BY_NAME, "id": _as_is}
"""Of memories, sessions and injections."""


@cache
def _parsers(kind: Any, *, textual: bool = False) -> Mapping[str, Parser]:
    by_name = _TEXT_IDS if textual else _BY_NAME
    return {field.name: by_name.get(field.name, _as_is) for field in attrs.fields(kind)}


def _parsed(subject: str, given: Json, parsers: Mapping[str, Parser]) -> Json:
    """The parsed fields; raise `InvalidInputError` with every fault."""
    faults = [f"has no field {name!r}" for name in sorted(given.keys() - parsers.keys())]
    found: Json = {}
    for name, value in given.items():
        if name in parsers:
            try:
                found[name] = None if value is None else parsers[name](name, value)
            except InvalidInputError as error:
                faults.append(str(error))
    validation.refuse(subject, *faults)
    return found


def made(kind: Any, given: Json, **known: Any) -> Any:
    """A value of a class; raise `InvalidInputError` for a field that it needs or does not have."""
    textual = kind in {Memory, StoredSession, Injection}
    parsers = {name: each for name, each in _parsers(kind, textual=textual).items() if name not in known}
    fields = _parsed(kind.__name__.lower(), given, parsers)
    needed = [name for name, default in defaults_of(kind) if default is attrs.NOTHING and name not in {*fields, *known}]
    validation.refuse(kind.__name__.lower(), *(f"needs the field {name!r}" for name in needed))
    return kind(**fields, **known)


def _taken(given: Json, parsers: Mapping[str, Parser]) -> Json:
    """Some fields, parsed and taken out of the others; one that is not stated is not there, and never null."""
    found = {name: given.pop(name) for name in parsers if name in given}
    validation.refuse("record", *(f"{name} must not be null" for name, value in found.items() if value is None))
    return _parsed("record", found, parsers)


_LEARNT: Final[Mapping[str, Parser]] = {
    "outcomes": _reading("a list of pairs of a session and one of 0.0, 0.5, 1.0", _outcomes_of),
    "vector": _vector,
}


def _entity_of(given: Json) -> StoredEntity:
    own = {"given_type": _as_is, "given_aliases": _list, "named": _as_is, "words": _object}
    taken = _taken(given, {**own, **_LEARNT, "signature": _attestation})
    entity: Entity = made(Entity, given)
    origin = {"given_type": entity.type, "given_aliases": entity.aliases, **taken}
    return StoredEntity(entity=entity, attestation=origin.pop("signature", Attestation()), **origin)


def _memory_of(given: Json) -> StoredMemory:
    taken = _taken(given, {"mentions": _list, "claims": _list, "merges": _as_is, **_LEARNT})
    memory: Memory = made(Memory, given)
    proofs: Json = {
        name: [made(kind, dict(_object(name, each)), memory_id=memory.id) for each in taken.pop(name, ())]
        for name, kind in (("mentions", Mention), ("claims", Claim))
    }
    return StoredMemory(memory=memory, **proofs, **taken)


def _relation_of(given: Json) -> StoredRelation:
    own = {"folded": _as_is, "given_ends": _pair, "lapsed_at": _time}
    taken = _taken(given, {**own, **_LEARNT, "signature": _attestation})
    attestation = taken.pop("signature", Attestation())
    return StoredRelation(relation=made(Relation, given), attestation=attestation, **taken)


def _merge_of(given: Json) -> StoredMerge:
    taken = _taken(given, {"number": _as_is, "held": _as_is})
    validation.refuse("merge", *(f"needs the field {name!r}" for name in ("number", "held") if name not in taken))
    return StoredMerge(merge=made(Merge, given), **taken)


def _injection_of(given: Json) -> Injection:
    found: Injection = made(Injection, given)
    validation.refuse(
        "injection",
        validation.key("id", found.id),
        validation.key("session_id", found.session_id),
        validation.text("principal", found.principal),
        validation.moment("created_at", found.created_at),
        validation.count("tokens", found.tokens),
    )
    return found


def _link_of(given: Json) -> MemoryLink:
    found: MemoryLink = made(MemoryLink, given)
    validation.refuse("link", validation.moment("created_at", found.created_at))
    return found


_READERS: Final[Mapping[str, Callable[[Json], Any]]] = {
    RecordKind.RELATION_TYPE: lambda given: made(RelationType, given),
    RecordKind.COUNTER: lambda given: made(Counter, given),
    RecordKind.MERGE: _merge_of,
    RecordKind.ENTITY: _entity_of,
    RecordKind.MEMORY: _memory_of,
    RecordKind.RELATION: _relation_of,
    RecordKind.DISTINCT: lambda given: made(DistinctPair, given),
    RecordKind.LINK: _link_of,
    RecordKind.COMMUNITY: lambda given: made(Community, {"label": "", **given}),
    RecordKind.SESSION: lambda given: made(StoredSession, given),
    RecordKind.INJECTION: _injection_of,
}
