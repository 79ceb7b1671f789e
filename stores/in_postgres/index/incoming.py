"""The columns of a batch in the temporary tables that it is copied into."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.claims.naming import cells_of, folded_name, words_of
from graphsearch.columns import Codes
from graphsearch.model import Claim, ElementKind, Entity, Memory, Mention, Relation, RelationType
from graphsearch.model.signatures import Signature

Column: TypeAlias = Sequence[Any] | NDArray[Any]
Columns: TypeAlias = Mapping[str, Column]
"""Columns of values by name."""


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


Proof = TypeVar("Proof", Mention, Claim)
Root = Callable[[UUID], UUID]
Endpoint = tuple[UUID, datetime]
"""The copied columns of an end of relations, 8 bytes each, and when it was created."""

_NO_TYPES: Final[Mapping[UUID, str]] = MappingProxyType({})

ENTITY: Final = Incoming.of(
    "incoming_entity",
    "id uuid, name_hash bigint, signature bigint, named boolean, importance_weight float8, "
    "feedback_weight float8, valid_from timestamptz, valid_to timestamptz, "
    "created_at timestamptz, merged_into uuid, embedding halfvec, aliases text[], "
    "labels text[], attributes jsonb, type text, given_type text, name text, folded_name text, "
    "description text",
)
NAMING: Final = Incoming.of(
    "incoming_naming",
    "id uuid, name text, folded_name text, name_hash bigint, aliases text[]",
)
LOOKUP: Final = Incoming.of(
    "incoming_lookup",
    "id uuid, names text[], terms text[], sizes integer[], ordinals integer[], positions integer[]",
)
WORD: Final = "w "
TRIGRAM: Final = "t "
"""The prefixes of lookup terms."""
ALIAS: Final = Incoming.of("incoming_alias", "entity_id uuid, ordinal integer, name text, hash bigint")
MEMORY: Final = Incoming.of(
    "incoming_memory",
    "id text, text text, subject text, speaker text, session_id text, position bigint, "
    "occurred_at timestamptz, zone integer, source text, labels text[], attributes jsonb, feedback_weight float8, "
    "created_at timestamptz, signature bigint",
)
MENTION: Final = Incoming.of(
    "incoming_mention",
    "memory_id text, ordinal integer, entity_id uuid, surface text, type text, surface_hash bigint, "
    "span_start bigint, span_end bigint, confidence float8, original_entity_id uuid",
)
CLAIM: Final = Incoming.of(
    "incoming_claim",
    "memory_id text, ordinal integer, source_id uuid, type text, target_id uuid, confidence float8, "
    "valid_from timestamptz, valid_to timestamptz, kind text, fact text, span_start bigint, "
    "span_end bigint, extractor text, ceiling float8, original_source_id uuid, original_target_id uuid",
)
RELATION: Final = Incoming.of(
    "incoming_relation",
    "id uuid, source_id uuid, target_id uuid, signature bigint, confidence float8, weight float8, "
    "feedback_weight float8, folded boolean, valid_from timestamptz, valid_to timestamptz, "
    "supported_at timestamptz, created_at timestamptz, retracted_at timestamptz, "
    "source_columns uuid, target_columns uuid, kind text, "
    "labels text[], evidence text[], attributes jsonb, type text, fact text",
)
"""Here and above, fixed-length and repetitive columns come first, which is faster on both sides."""


def _id_type(kind: ElementKind) -> str:
    return "text" if kind is ElementKind.MEMORY else "uuid"


_DOCUMENT: Final = "length float8, terms text[], frequencies real[]"

DOCUMENTS: Final = {
    kind: Incoming.of(f"incoming_{kind}_document", f"id {_id_type(kind)}, {_DOCUMENT}") for kind in ElementKind
}
CHANGED: Final = {
    kind: Incoming.of(
        f"changed_{kind}",
        f"id {_id_type(kind)}, {_DOCUMENT}, old_length float8, old_terms text[], replaces boolean",
    )
    for kind in ElementKind
}
"""The incoming documents that differ from the stored ones, with these."""
VECTORS: Final = {
    kind: Incoming.of(f"incoming_{kind}_embedding", f"id {_id_type(kind)}, embedding halfvec") for kind in ElementKind
}
SHADOWS: Final = {
    kind: Incoming.of(f"incoming_{kind}_shadow", f"id {_id_type(kind)}, digest uuid, embedding halfvec")
    for kind in ElementKind
}
"""Vectors of the next model."""


@lru_cache(maxsize=65_536)
def code_of(signature: Signature) -> int:
    """The code of a signature, cached: thousands of elements share a handful."""
    return signature.code


def name_hashes(folded: Iterable[str]) -> Codes:
    """A signed 64-bit hash of each folded name."""
    digests = b"".join([hashlib.blake2b(name.encode(), digest_size=8).digest() for name in folded])
    return np.frombuffer(digests, ">i8").astype(np.int64)


def columns_of(table: Incoming, rows: Iterable[Sequence[Any]]) -> Columns:
    """The columns of a table, from its rows."""
    found = list(zip(*rows, strict=True)) or [()] * len(table.columns)
    return dict(zip(table.columns, found, strict=True))


def _read(elements: Sequence[Any], *names: str) -> dict[str, Column]:
    """Attributes of elements, one column each."""
    return {name: list(map(attrgetter(name), elements)) for name in names}


def _created(elements: Sequence[Any], now: datetime) -> Column:
    return [element.created_at or now for element in elements]


def entity_columns(
    entities: Sequence[Entity],
    codes: Column,
    now: datetime,
    named: Collection[UUID] = (),
    given_types: Mapping[UUID, str] = _NO_TYPES,
    embedding: Column | None = None,
) -> Columns:
    """For `ENTITY`. Entities in ``named`` are marked; ``given_types`` differ from the shown ones."""
    folded = [folded_name(entity.name) for entity in entities]
    read = _read(
        entities,
        *("id", "type", "name", "description", "aliases", "labels", "attributes", "importance_weight"),
        *("feedback_weight", "valid_from", "valid_to", "merged_into"),
    )
    given = [given_types.get(entity.id, entity.type) for entity in entities] if given_types else read["type"]
    return {
        **read,
        "given_type": given,
        "embedding": [None] * len(entities) if embedding is None else embedding,
        "named": [entity.id in named for entity in entities] if named else [False] * len(entities),
        "folded_name": folded,
        "name_hash": name_hashes(folded),
        "created_at": _created(entities, now),
        "signature": codes,
    }


def alias_columns(entities: Iterable[Entity]) -> Columns:
    """For `ALIAS`."""
    rows = [
        (entity.id, ordinal, folded_name(alias))
        for entity in entities
        for ordinal, alias in enumerate(entity.aliases, 1)
    ]
    hashes = name_hashes(folded for _, _, folded in rows)
    return columns_of(ALIAS, ((*row, code) for row, code in zip(rows, hashes, strict=True)))


def naming_columns(entities: Sequence[Entity]) -> Columns:
    """For `NAMING`."""
    folded = [folded_name(entity.name) for entity in entities]
    return {**_read(entities, "id", "name", "aliases"), "folded_name": folded, "name_hash": name_hashes(folded)}


def lookup_row(key: UUID, names: Sequence[str]) -> Sequence[Any]:
    """For `LOOKUP`: a word once, for the first name that contains it; a trigram for every name."""
    found = {(WORD + word, 0): (at, 0) for at in reversed(range(len(names))) for word in words_of([names[at]])}
    rows = [(term, size, ordinal, position) for (term, size), (ordinal, position) in found.items()]
    rows += [
        (TRIGRAM + cell.trigram, cell.size, at, cell.position)
        for at, name in enumerate(names)
        for cell in cells_of(folded_name(name))
    ]
    folded = tuple(map(folded_name, names))
    return (key, folded, *zip(*sorted(rows), strict=True)) if rows else (key, folded, (), (), (), ())


def memory_columns(memories: Sequence[Memory], codes: Column, now: datetime) -> Columns:
    """For `MEMORY`."""
    return {
        **_read(memories, "id", "text", "subject", "speaker", "session_id", "position", "occurred_at", "source"),
        **_read(memories, "labels", "attributes", "feedback_weight"),
        "zone": [_zone(each.occurred_at) for each in memories],
        "created_at": _created(memories, now),
        "signature": codes,
    }


def _zone(moment: datetime | None) -> int:
    """The whole minutes east of UTC of a moment as it was given."""
    offset = moment and moment.utcoffset()
    return int(offset.total_seconds() // 60) if offset else 0


def mention_columns(mentions: Iterable[Mention], root: Root | None = None) -> Columns:
    """For `MENTION`, of mentions as they were written; ``root`` maps an entity to the one it was merged into.

    They are without repeats, and numbered within their memory so that the same mentions make the same rows.
    """
    numbered = list(_numbered(mentions, _mention_order))
    hashes = name_hashes(f"{each.type}\0{each.surface}" for _, each in numbered)
    rows = []
    for (ordinal, each), code in zip(numbered, hashes, strict=True):
        now, written = _meant(each.entity_id, root)
        form = (each.surface, each.type, code)
        rows.append((each.memory_id, ordinal, now, *form, *_ends(each), each.confidence, written))
    return columns_of(MENTION, rows)


def claim_columns(claims: Iterable[Claim], root: Root | None = None) -> Columns:
    """For `CLAIM`, of claims as they were written: without repeats, numbered within their memory."""
    rows = []
    for ordinal, each in _numbered(claims, _claim_order):
        source, target = _meant(each.source_id, root), _meant(each.target_id, root)
        written = (None, None) if source[1] is target[1] is None else (each.source_id, each.target_id)
        period = (each.valid_from, each.valid_to)
        head = (each.memory_id, ordinal, source[0], each.type, target[0], each.confidence, *period)
        rows.append((*head, str(each.kind), each.fact, *_ends(each), each.extractor, each.ceiling, *written))
    return columns_of(CLAIM, rows)


def _meant(written: UUID, root: Root | None) -> tuple[UUID, UUID | None]:
    """The entity merged into, and the written one if different."""
    now = written if root is None else root(written)
    return now, None if now == written else written


def _ends(proof: Mention | Claim) -> tuple[int | None, int | None]:
    return (proof.span.start, proof.span.end) if proof.span else (None, None)


def _numbered(proofs: Iterable[Proof], order: Callable[[Proof], Any]) -> Iterator[tuple[int, Proof]]:
    ordinals: dict[str, int] = {}
    for proof in sorted(set(proofs), key=order):
        ordinal = ordinals[proof.memory_id] = ordinals.get(proof.memory_id, -1) + 1
        yield ordinal, proof


def _mention_order(mention: Mention) -> Any:
    return (mention.memory_id, mention.entity_id, mention.surface, mention.type, str(mention.span), mention.confidence)


def _claim_order(claim: Claim) -> Any:
    ends = (claim.source_id, claim.type, claim.target_id)
    period = (str(claim.valid_from), str(claim.valid_to))
    content = (claim.confidence, claim.kind, claim.fact, str(claim.span), claim.extractor, claim.ceiling)
    return (claim.memory_id, *ends, *period, *content)


def relation_columns(
    relations: Sequence[Relation],
    codes: Column,
    now: datetime,
    types: Mapping[str, RelationType],
    *,
    folded: bool,
    ends: Mapping[UUID, Endpoint],
) -> Columns:
    """For `RELATION`. The weight is the confidence × the prior of the type, and orders the steps of a walk.

    ``ends`` are the entities whose columns are copied to relations that are not older.
    """
    read = _read(
        relations,
        *("id", "source_id", "type", "target_id", "valid_from", "valid_to", "fact", "confidence", "labels"),
        *("attributes", "feedback_weight", "evidence", "supported_at", "retracted_at"),
    )
    priors = {name: types[name].prior if name in types else 1.0 for name in set(read["type"])}
    created = _created(relations, now)
    return {
        **read,
        **{f"{end}_columns": _copied(read[f"{end}_id"], created, ends) for end in ("source", "target")},
        "kind": [str(relation.kind) for relation in relations],
        "weight": np.array(read["confidence"]) * [priors[name] for name in read["type"]],
        "created_at": created,
        "folded": [folded] * len(relations),
        "signature": codes,
    }


def _copied(ids: Column, created: Column, ends: Mapping[UUID, Endpoint]) -> Column:
    if not ends:
        return [None] * len(ids)
    found = [ends.get(id_) for id_ in ids]
    return [end[0] if end and end[1] <= at else None for end, at in zip(found, created, strict=True)]


def document_row(key: Any, counts: Mapping[str, float]) -> Sequence[Any]:
    """For `DOCUMENTS`; a text without terms has length 0."""
    return (key, sum(counts.values()), tuple(counts), tuple(counts.values()))
