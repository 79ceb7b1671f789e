"""JSON objects as records: every field is checked, and an unknown kind or field is refused."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
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
from graphsearch.moving.record_writing import Json, defaults_of

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


def _outcomes(value: Any) -> list[StoredOutcome]:
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
    "outcomes": _reading("a list of pairs of a session and one of 0.0, 0.5, 1.0", _outcomes),
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


def _community_of(given: Json) -> Community:
    found: Community = made(Community, {"label": "", **given})
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
    RecordKind.COMMUNITY: _community_of,
    RecordKind.SESSION: lambda given: made(StoredSession, given),
    RecordKind.INJECTION: _injection_of,
}
