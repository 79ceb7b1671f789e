"""What a batch looks like in the temporary tables that it is copied into: elements to rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import numpy as np

from graphsearch.columns import Mask
from graphsearch.identity import normalise_name
from graphsearch.model import Claim, ElementKind, Entity, Memory, Mention, Relation, RelationType
from graphsearch.records import Vector
from graphsearch.signature import Signature
from graphsearch.stores.in_postgres.copying import Incoming

Row = Sequence[Any]

ENTITY: Final = Incoming(
    "incoming_entity",
    {
        "id": "uuid",
        "type": "text",
        "name": "text",
        "description": "text",
        "aliases": "text[]",
        "labels": "text[]",
        "attributes": "jsonb",
        "importance_weight": "float8",
        "feedback_weight": "float8",
        "valid_from": "timestamptz",
        "valid_to": "timestamptz",
        "created_at": "timestamptz",
        "merged_into": "uuid",
        "signature": "bigint",
    },
)
NAME: Final = Incoming("incoming_name", {"entity_id": "uuid", "ordinal": "integer", "name": "text", "hash": "bigint"})
MEMORY: Final = Incoming(
    "incoming_memory",
    {
        "id": "text",
        "text": "text",
        "subject": "text",
        "speaker": "text",
        "session_id": "text",
        "position": "bigint",
        "occurred_at": "timestamptz",
        "source": "text",
        "labels": "text[]",
        "attributes": "jsonb",
        "feedback_weight": "float8",
        "created_at": "timestamptz",
        "signature": "bigint",
    },
)
MENTION: Final = Incoming(
    "incoming_mention",
    {
        "memory_id": "text",
        "ordinal": "integer",
        "entity_id": "uuid",
        "surface": "text",
        "span_start": "bigint",
        "span_end": "bigint",
        "confidence": "float8",
    },
)
CLAIM: Final = Incoming(
    "incoming_claim",
    {
        "memory_id": "text",
        "ordinal": "integer",
        "source_id": "uuid",
        "type": "text",
        "target_id": "uuid",
        "confidence": "float8",
        "valid_from": "timestamptz",
        "valid_to": "timestamptz",
        "kind": "text",
        "fact": "text",
        "span_start": "bigint",
        "span_end": "bigint",
        "extractor": "text",
    },
)
RELATION: Final = Incoming(
    "incoming_relation",
    {
        "id": "uuid",
        "source_id": "uuid",
        "type": "text",
        "target_id": "uuid",
        "valid_from": "timestamptz",
        "valid_to": "timestamptz",
        "fact": "text",
        "kind": "text",
        "confidence": "float8",
        "weight": "float8",
        "labels": "text[]",
        "attributes": "jsonb",
        "feedback_weight": "float8",
        "evidence": "text[]",
        "supported_at": "timestamptz",
        "created_at": "timestamptz",
        "retracted_at": "timestamptz",
        "folded": "boolean",
        "signature": "bigint",
    },
)


def _id_type(kind: ElementKind) -> str:
    return "text" if kind is ElementKind.MEMORY else "uuid"


DOCUMENTS: Final = {
    kind: Incoming(
        f"incoming_{kind}_document",
        {"id": _id_type(kind), "length": "integer", "terms": "text[]", "frequencies": "integer[]"},
    )
    for kind in ElementKind
}
VECTORS: Final = {
    kind: Incoming(f"incoming_{kind}_embedding", {"id": _id_type(kind), "embedding": "halfvec"}) for kind in ElementKind
}


@lru_cache(maxsize=65_536)
def code_of(signature: Signature) -> int:
    """The signature's code, remembered: thousands of elements share a handful."""
    return signature.code


def folded_name(name: str) -> str:
    """The form in which names are looked up."""
    return normalise_name(name).casefold()


def name_hash(folded: str) -> int:
    """A signed 64-bit number made of a folded name."""
    return int.from_bytes(hashlib.blake2b(folded.encode(), digest_size=8).digest(), "big", signed=True)


def entity_row(entity: Entity, code: int, now: datetime) -> Row:
    """For `ENTITY`."""
    return (
        *(entity.id, entity.type, entity.name, entity.description, entity.aliases, entity.labels, entity.attributes),
        *(entity.importance_weight, entity.feedback_weight, entity.valid_from, entity.valid_to),
        *(entity.created_at or now, entity.merged_into, code),
    )


def name_rows(entities: Iterable[Entity]) -> Iterator[Row]:
    """For `NAME`."""
    for entity in entities:
        for ordinal, name in enumerate((entity.name, *entity.aliases)):
            folded = folded_name(name)
            yield (entity.id, ordinal, folded, name_hash(folded))


def memory_row(memory: Memory, code: int, now: datetime) -> Row:
    """For `MEMORY`."""
    return (
        *(memory.id, memory.text, memory.subject, memory.speaker, memory.session_id, memory.position),
        *(memory.occurred_at, memory.source, memory.labels, memory.attributes, memory.feedback_weight),
        *(memory.created_at or now, code),
    )


def mention_rows(mentions: Iterable[Mention]) -> Iterator[Row]:
    """For `MENTION`: without repetitions, numbered within their memory so that the same mentions make the same rows."""
    for ordinal, mention in _numbered(mentions):
        start, end = (mention.span.start, mention.span.end) if mention.span else (None, None)
        yield (mention.memory_id, ordinal, mention.entity_id, mention.surface, start, end, mention.confidence)


def claim_rows(claims: Iterable[Claim]) -> Iterator[Row]:
    """For `CLAIM`: without repetitions, numbered within their memory."""
    for ordinal, claim in _numbered(claims):
        start, end = (claim.span.start, claim.span.end) if claim.span else (None, None)
        yield (
            *(claim.memory_id, ordinal, claim.source_id, claim.type, claim.target_id, claim.confidence),
            *(claim.valid_from, claim.valid_to, claim.kind, claim.fact, start, end, claim.extractor),
        )


def _numbered(proofs: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    ordinals: dict[str, int] = {}
    for proof in sorted(dict.fromkeys(proofs), key=repr):
        ordinal = ordinals[proof.memory_id] = ordinals.get(proof.memory_id, -1) + 1
        yield ordinal, proof


def relation_row(
    relation: Relation, code: int, now: datetime, types: Mapping[str, RelationType], *, folded: bool
) -> Row:
    """For `RELATION`. Its weight is its confidence × the prior of its type, which decides what a walk takes first."""
    known = types.get(relation.type)
    return (
        *(relation.id, relation.source_id, relation.type, relation.target_id, relation.valid_from, relation.valid_to),
        *(relation.fact, relation.kind, relation.confidence, relation.confidence * (known.prior if known else 1.0)),
        *(relation.labels, relation.attributes, relation.feedback_weight, relation.evidence, relation.supported_at),
        *(relation.created_at or now, relation.retracted_at, folded, code),
    )


def document_row(key: Any, counts: Mapping[str, int]) -> Row:
    """For `DOCUMENTS`; a text without terms has length 0."""
    return (key, sum(counts.values()), tuple(counts), tuple(counts.values()))


def vector_rows(vectors: Mapping[Any, Vector]) -> Iterator[Row]:
    """For `VECTORS`, in order of id: as halfvec has it, length, two unused bytes, float16 numbers in network order."""
    keys = sorted(vectors, key=lambda key: getattr(key, "int", key))
    rows = np.array([vectors[key] for key in keys]).astype(">f2")
    head = rows.shape[1].to_bytes(2, "big") + b"\0\0"
    return ((key, head + row.tobytes()) for key, row in zip(keys, rows, strict=True))


def refuse_vectors(vectors: Mapping[UUID | str, Vector]) -> tuple[list[str], set[int]]:
    """Every fault of some vectors, and the lengths that occur."""
    faults: list[str] = []
    of: dict[tuple[int, ...], list[UUID | str]] = {}
    for key, vector in vectors.items():
        of.setdefault(np.shape(vector), []).append(key)
    for shape, keys in of.items():
        if len(shape) != 1 or not shape[0]:
            faults += [f"vector of {key}: must be one row of numbers, not of shape {shape}" for key in keys]
            continue
        with np.errstate(over="ignore"):
            rounded = np.array([vectors[key] for key in keys]).astype(np.float16)
        finite: Mask = np.count_nonzero(np.isfinite(rounded), axis=1) == shape[0]
        full: Mask = np.count_nonzero(rounded, axis=1) > 0
        for row in np.flatnonzero(~(finite & full)):
            must = "must not be zero" if finite[row] else "must be finite, also as float16"
            faults.append(f"vector of {keys[row]}: {must}")
    return faults, {shape[0] for shape in of if len(shape) == 1 and shape[0]}
