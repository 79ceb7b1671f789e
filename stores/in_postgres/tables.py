"""The tables of rows: their columns with their types, and how a row is read from them and written to them.

The columns of an element are the attributes of its class; what a table copies or derives from them is named here. Every
statement that reads, writes or removes rows of a kind is made of its table (`read.rows`, `write.port`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final

import attrs
import numpy as np

from graphsearch.claims.naming import folded_name
from graphsearch.model import (
    Claim,
    EdgeKind,
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
)
from graphsearch.model.codec import decode, encode
from graphsearch.model.proposals import Proposal
from graphsearch.model.stored import StoredMerge, StoredOutcome
from graphsearch.model.validation import hydrated
from graphsearch.protocols.rows import (
    ClaimRow,
    CommunityRow,
    EntityRow,
    Entry,
    MemberRow,
    MemoryRow,
    MentionRow,
    RelationRow,
)

Values = Sequence[Any]

_SQL: Final[Mapping[str, str]] = {
    "UUID": "uuid",
    "str": "text",
    "EdgeKind": "text",
    "int": "bigint",
    "float": "float8",
    "bool": "boolean",
    "datetime": "timestamptz",
    "tuple[str, ...]": "text[]",
    "tuple[float, ...]": "float8[]",
    "Mapping[str, Any]": "jsonb",
}
"""The type of a column by the type of an attribute."""
_SELECTED: Final[Mapping[str, str]] = {
    "text[]": "nullif(e.{}, '{{}}')",
    "jsonb": "nullif(e.{}, '{{}}')",
    "halfvec": "halfvec_send(e.{})",
}
"""How columns are read: most lists and attributes are empty, and decoding an empty one takes as long as a row."""
_HEAD: Final = 4
"""Bytes before the numbers of a halfvec: how many there are, and two unused ones."""


def columns_of(made: type[Any], *without: str) -> dict[str, str]:
    """The columns of the attributes of a class, in order."""
    fields = [field for field in attrs.fields(made) if field.name not in without]
    return {field.name: _SQL[str(field.type).removesuffix(" | None")] for field in fields}


@attrs.frozen(eq=False, kw_only=True)
class Table:
    """The table of a kind of row."""

    name: str
    columns: Mapping[str, str]
    """Types by name, of what a row is read from."""
    row: Callable[[Values], Any]
    """A row from the values of its columns."""
    values: Callable[[Any], Values]
    """The values of a row's columns, then those of the derived ones."""
    derived: Mapping[str, str] = MappingProxyType({})
    """Columns that are written only."""
    key: Sequence[str] = ("id",)
    kept: frozenset[str] = frozenset()
    """Columns that writing a stored row again leaves alone."""
    added: frozenset[str] = frozenset()
    """Columns to which writing a stored row again adds."""
    scoped: bool = False
    """Whether its key begins with the hash of the scope."""

    @property
    def selected(self) -> str:
        """The columns of rows ``e``."""
        own = [_SELECTED.get(type_, "e.{}").format(name) for name, type_ in self.columns.items()]
        return ", ".join(own)

    @property
    def written(self) -> Mapping[str, str]:
        """The columns that a row is written to."""
        return {**self.columns, **self.derived}


# -- values --------------------------------------------------------------------------------------------------------

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_READING: Final[Mapping[str, Callable[[Any], Any]]] = {
    "text[]": lambda values: tuple(values or ()),
    "float8[]": tuple,
    "jsonb": lambda value: MappingProxyType(value) if value else _NOTHING,
}


@lru_cache(maxsize=65_536)
def name_hash(folded: str) -> int:
    """A signed 64-bit hash of a folded name."""
    return int.from_bytes(hashlib.blake2b(folded.encode(), digest_size=8).digest(), "big", signed=True)


def _made(made: type[Any], columns: Mapping[str, str]) -> Callable[..., Any]:
    """What makes an object of a class of the values of columns, and other attributes.

    It was validated when it was written. Validating it again would double the time of a read, so it is made as `copy`
    does: without its initialiser.
    """
    names = list(columns)
    converted = [(name, _READING[type_]) for name, type_ in columns.items() if type_ in _READING]
    converted += [(field.name, EdgeKind) for field in attrs.fields(made) if str(field.type) == "EdgeKind"]

    def build(values: Values, **others: Any) -> Any:
        fields = dict(zip(names, values, strict=False))
        for name, convert in converted:
            fields[name] = convert(fields[name])
        return hydrated(made, fields | others)

    return build


def _span(start: int | None, end: int | None) -> Span | None:
    return None if start is None or end is None else Span(start=start, end=end)


def _ends_of(span: Span | None) -> tuple[int | None, int | None]:
    return (span.start, span.end) if span else (None, None)


# -- elements ------------------------------------------------------------------------------------------------------

_ENTITY: Final = columns_of(Entity)
_entity, _entity_values = _made(Entity, _ENTITY), attrgetter(*_ENTITY)


def _entity_row(values: Values) -> EntityRow:
    *given, named, signature = values[len(_ENTITY) :]
    return EntityRow(_entity(values), given[0], tuple(given[1] or ()), named, signature)


def _values_of_entity(row: EntityRow) -> Values:
    folded = folded_name(row.entity.name)
    given = (row.given_type, row.given_aliases, row.named, row.signature)
    return [*_entity_values(row.entity), *given, folded, name_hash(folded)]


_MEMORY: Final = columns_of(Memory, "facts", "entities")  # a giver states the two
_memory, _memory_values = _made(Memory, _MEMORY), attrgetter(*_MEMORY)


def _memory_row(values: Values) -> MemoryRow:
    merges, signature, zone = values[len(_MEMORY) :]
    memory = _memory(values, facts=(), entities=())
    if zone and memory.occurred_at:
        moment = memory.occurred_at.astimezone(timezone(timedelta(minutes=zone)))
        memory = _memory(values, facts=(), entities=(), occurred_at=moment)
    return MemoryRow(memory, merges, signature)


def _values_of_memory(row: MemoryRow) -> Values:
    return [*_memory_values(row.memory), row.merges, row.signature, _zone(row.memory.occurred_at)]


def _zone(moment: datetime | None) -> int:
    """The whole minutes east of UTC of a moment as it was given."""
    offset = moment and moment.utcoffset()
    return int(offset.total_seconds() // 60) if offset else 0


_RELATION: Final = columns_of(Relation)
_relation, _relation_values = _made(Relation, _RELATION), attrgetter(*_RELATION)
_GIVEN: Final = {"original_source_id": "uuid", "original_target_id": "uuid"}
"""The ends that were written, where merges moved them."""


def _relation_row(values: Values) -> RelationRow:
    folded, source, target, lapsed_at, signature = values[len(_RELATION) :]
    given = None if source is None else (source, target)
    return RelationRow(_relation(values), folded, given, lapsed_at, signature)


def _values_of_relation(row: RelationRow) -> Values:
    given = row.given or (None, None)
    return [*_relation_values(row.relation), row.folded, *given, row.lapsed_at, row.signature]


_MENTION: Final = columns_of(Mention, "entity_id", "span")
_mention, _mention_values = _made(Mention, _MENTION), attrgetter(*_MENTION)


def _mention_row(values: Values) -> MentionRow:
    start, end, shown, written, *others = values[len(_MENTION) :]
    mention = _mention(values, entity_id=written or shown, span=_span(start, end))
    return MentionRow(mention, shown, *others)


def _values_of_mention(row: MentionRow) -> Values:
    each = row.mention
    written = None if each.entity_id == row.entity_id else each.entity_id
    own = (*_mention_values(each), *_ends_of(each.span), row.entity_id, written)
    code = name_hash(f"{each.type}\0{each.surface}")
    return [*own, row.ordinal, row.created_at, row.occurred_at, row.signature, code]


_CLAIM: Final = columns_of(Claim, "source_id", "target_id", "span")
_claim, _claim_values = _made(Claim, _CLAIM), attrgetter(*_CLAIM)


def _claim_row(values: Values) -> ClaimRow:
    start, end, source, target, *written, ordinal, occurred_at, signature = values[len(_CLAIM) :]
    given = {"source_id": written[0] or source, "target_id": written[1] or target}
    claim = _claim(values, **given, span=_span(start, end))
    return ClaimRow(claim, (source, target), ordinal, occurred_at, signature)


def _values_of_claim(row: ClaimRow) -> Values:
    each = row.claim
    written = (each.source_id, each.target_id)
    given = (None, None) if written == row.ends else written
    own = (*_claim_values(each), *_ends_of(each.span), *row.ends, *given)
    return [*own, row.ordinal, row.occurred_at, row.signature]


_SPAN: Final = {"span_start": "bigint", "span_end": "bigint"}
_MERGE: Final = columns_of(Merge, "source_name", "target_name")
_merge_values = attrgetter(*_MERGE)

# -- what goes with elements ---------------------------------------------------------------------------------------

_TYPE: Final = columns_of(RelationType)
_type, _type_values = _made(RelationType, _TYPE), attrgetter(*_TYPE)
_INJECTION: Final = columns_of(Injection, "elements")
_injection_values = attrgetter(*_INJECTION)


def _injection_row(values: Values) -> Entry:
    pairs = zip(values[-2] or (), values[-1] or (), strict=True)
    elements = tuple(ElementRef(ElementKind(kind), key) for kind, key in pairs)
    fields = dict(zip(_INJECTION, values, strict=False))
    return Entry(values[0], Injection(**fields, elements=elements))


def _values_of_injection(row: Entry) -> Values:
    elements = row.value.elements
    return [*_injection_values(row.value), [str(kind) for kind, _ in elements], [key for _, key in elements]]


def _values_of_proposal(row: Entry) -> Values:
    each = row.value
    return [each.id, each.created_at, str(each.state), each.decided_at, json.dumps(encode(each))]


def _vector(packed: bytes | None) -> Any:
    return None if packed is None else np.frombuffer(packed, ">f2", offset=_HEAD).astype(np.float16)


def _entries(name: str, columns: Mapping[str, str], key: int, value: Callable[[Any], Any], **others: Any) -> Table:
    """A table of a key of some columns, and a value of the others as they are."""
    names = list(columns)

    def row(values: Values) -> Entry:
        return Entry(values[0] if key == 1 else tuple(values[:key]), value(values[key:]))

    others.setdefault("values", lambda row: [*((row.key,) if key == 1 else row.key), row.value][: len(columns)])
    return Table(name=name, columns=columns, key=names[:key], row=row, **others)


def _of_kind(kind: ElementKind) -> Mapping[str, Table]:
    """The tables of the vectors of a kind; `index` writes them."""
    key = "text" if kind is ElementKind.MEMORY else "uuid"
    columns = {"id": key, "embedding": "halfvec"}
    return {
        f"{kind}_vector": _entries(f"{kind}_embedding", columns, 1, lambda own: _vector(own[0])),
        f"{kind}_shadow": _entries(f"{kind}_shadow", columns, 1, lambda own: _vector(own[0])),
    }


_LINK: Final = columns_of(MemoryLink)

TABLES: Final[Mapping[str, Table]] = {
    "entity": Table(
        name="entity",
        columns=_ENTITY | {"given_type": "text", "given_aliases": "text[]", "named": "boolean", "signature": "bigint"},
        derived={"folded_name": "text", "name_hash": "bigint"},
        row=_entity_row,
        values=_values_of_entity,
        kept=frozenset({"feedback_weight", "created_at"}),
        scoped=True,
    ),
    "memory": Table(
        name="memory",
        columns=_MEMORY | {"merges": "integer", "signature": "bigint", "zone": "integer"},
        row=_memory_row,
        values=_values_of_memory,
        kept=frozenset({"feedback_weight", "created_at"}),
    ),
    "relation": Table(
        name="relation",
        columns=_RELATION | {"folded": "boolean", **_GIVEN, "lapsed_at": "timestamptz", "signature": "bigint"},
        derived={"weight": "float8", "source_columns": "uuid", "target_columns": "uuid"},
        row=_relation_row,
        values=_values_of_relation,
        kept=frozenset({"feedback_weight", "created_at"}),
    ),
    "mention": Table(
        name="mention",
        columns=_MENTION
        | {**_SPAN, "entity_id": "uuid", "original_entity_id": "uuid", "ordinal": "integer"}
        | {"created_at": "timestamptz", "occurred_at": "timestamptz", "signature": "bigint"},
        derived={"surface_hash": "bigint"},
        row=_mention_row,
        values=_values_of_mention,
        key=("memory_id", "ordinal"),
    ),
    "claim": Table(
        name="claim",
        columns=_CLAIM
        | {**_SPAN, "source_id": "uuid", "target_id": "uuid", **_GIVEN, "ordinal": "integer"}
        | {"occurred_at": "timestamptz", "signature": "bigint"},
        row=_claim_row,
        values=_values_of_claim,
        key=("memory_id", "ordinal"),
    ),
    "merge": Table(
        name="merge",
        columns=_MERGE | {"number": "integer", "held": "bigint"},
        row=lambda values: StoredMerge(Merge(**dict(zip(_MERGE, values, strict=False))), *values[len(_MERGE) :]),
        values=lambda row: [*_merge_values(row.merge), row.number, row.held],
    ),
    "community": Table(
        name="community",
        columns={"id": "uuid", "density": "float8", "summary": "jsonb"},
        row=lambda values: CommunityRow(*values),
        values=lambda row: [row.id, float(row.density), row.summary],
    ),
    "member": Table(
        name="community_member",
        columns={"entity_id": "uuid", "community_id": "uuid", "strength": "float8", "place": "integer"},
        row=lambda values: MemberRow(*values),
        values=lambda row: [row.entity_id, row.community_id, float(row.strength), row.place],
        key=("entity_id",),
    ),
    "link": Table(
        name="memory_link",
        columns=_LINK,
        row=lambda values: Entry(tuple(values[:3]), MemoryLink(**dict(zip(_LINK, values, strict=True)))),
        values=lambda row: attrgetter(*_LINK)(row.value),
        key=("from_id", "to_id", "type"),
    ),
    "distinct": _entries("distinct_pair", {"low_id": "uuid", "high_id": "uuid"}, 2, lambda _: None),
    "outcome": Table(
        name="outcome",
        columns={"kind": "text", "element_id": "text", "session_id": "text", "seq": "integer", "outcome": "float8"},
        row=lambda each: Entry(
            tuple(each[:3]), StoredOutcome(session_id=each[2], seq=each[3], outcome=Outcome(each[4]))
        ),
        values=lambda row: [*row.key, row.value.seq, row.value.outcome.value],
        key=("kind", "element_id", "session_id"),
    ),
    "injection": Table(
        name="injection",
        columns=_INJECTION | {"element_kinds": "text[]", "element_ids": "text[]"},
        row=_injection_row,
        values=_values_of_injection,
    ),
    "session": _entries("session", {"id": "text", "principal": "text"}, 1, lambda own: own[0]),
    "proposal": Table(
        name="proposal",
        columns={
            "id": "uuid",
            "created_at": "timestamptz",
            "state": "text",
            "decided_at": "timestamptz",
            "content": "json",
        },
        row=lambda values: Entry(values[0], decode(Proposal, values[-1])),
        values=_values_of_proposal,
    ),
    "counter": _entries("counter", {"name": "text", "number": "bigint"}, 1, lambda own: own[0]),
    "type": Table(
        name="relation_type",
        columns=_TYPE,
        row=lambda values: Entry(values[0], _type(values)),
        values=lambda row: _type_values(row.value),
        key=("name",),
    ),
    "words": _entries(
        "entity_words",
        {"id": "uuid", "words": "jsonb"},
        1,
        lambda own: own[0] or _NOTHING,
        values=lambda row: [row.key, row.value],
    ),
    **_of_kind(ElementKind.ENTITY),
    **_of_kind(ElementKind.RELATION),
    **_of_kind(ElementKind.MEMORY),
}
"""By kind of row."""

SIGNATURES: Final = Table(
    name="signature",
    columns={"code": "bigint", "content": "jsonb", "shared": "boolean", "users": "bigint"},
    row=tuple,
    values=tuple,
    key=("code",),
    kept=frozenset({"content", "shared"}),
    added=frozenset({"users"}),
)
"""Contents of signatures, and how many elements have each."""
NUMBERS: Final = Table(
    name="tally",
    columns={"kind": "text", "rows": "bigint"},
    row=tuple,
    values=tuple,
    key=("kind",),
    added=frozenset({"rows"}),
)
"""The numbers of rows of kinds."""
