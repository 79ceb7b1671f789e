"""Records of a scope as it is stored: what another store needs to give the same answers and to continue from there.

An element is recorded as it is shown, with its origins next to it; what a store derives (documents, postings, indexes)
is not recorded. Records of a kind are in order of their ``key``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.model import validation as check
from graphsearch.model.communities import Community
from graphsearch.model.elements import Claim, Entity, Memory, Mention, Outcome, Relation, RelationType
from graphsearch.model.reports import Injection, MemoryLink, Merge
from graphsearch.model.validation import as_tuple, checked

Key: TypeAlias = tuple[str, ...]
"""What records of a kind are sorted and found by, unique within it."""
HalfVector: TypeAlias = NDArray[np.float16]

UNKNOWN_CODE: Final = 0
"""The code of a signature that a retracted relation still names, and that nothing has any more."""

_NO_WORDS: Final[Mapping[str, float]] = MappingProxyType({})


class RecordKind(StrEnum):
    """The kinds of records, in the order in which they are loaded."""

    RELATION_TYPE = "relation_type"
    COUNTER = "counter"
    MERGE = "merge"
    ENTITY = "entity"
    MEMORY = "memory"
    RELATION = "relation"
    DISTINCT = "distinct"
    LINK = "link"
    COMMUNITY = "community"
    SESSION = "session"
    INJECTION = "injection"


def _counts(field: str, numbers: Mapping[str, int]) -> str | None:
    return check.mapping(field, numbers) or next(
        (fault for name, each in numbers.items() if (fault := check.count(name, each))), None
    )


@attrs.frozen(kw_only=True)
@checked(
    "settings",
    lambda each: "give embedder and dimensions together" if bool(each.embedder) != bool(each.dimensions) else None,
    alpha=partial(check.number, low=1e-9, high=1 - 1e-9),
    dimensions=check.dimensions,
    merges=check.integer,
    counts=_counts,
    vectors=_counts,
)
class ScopeSettings:
    """The settings of a scope.

    ``alpha`` is the share of one outcome in a feedback weight, ``merges`` the number of merges ever made,
    ``id_key`` the secret by which ingest mints ids; without one a load leaves that of the scope. ``counts`` are the
    numbers of records by kind, with "mentions", "claims" and "outcomes", and ``vectors`` those of vectors by kind of
    element.
    """

    analyser: str
    alpha: float = 0.1
    embedder: str | None = None
    dimensions: int | None = None
    merges: int = 0
    id_key: UUID | None = None
    counts: Mapping[str, int] = attrs.field(factory=dict)
    vectors: Mapping[str, int] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
@checked("outcome", session_id=check.key, seq=partial(check.integer, low=1), outcome=Outcome)
class StoredOutcome:
    """One outcome in an element's feedback history; ``seq`` counts from 1."""

    session_id: str
    seq: int
    outcome: Outcome


_codes: Final = partial(check.each_of, check.count)


@attrs.frozen(kw_only=True)
@checked("signature", evidence=_codes, influences=_codes)
class Attestation:
    """What the signature of an element names: codes of signatures, as `Signature.code` makes them.

    See `graphsearch.model.signatures.Signature`. `UNKNOWN_CODE` stands for a signature that does not exist any more.
    """

    evidence: tuple[int, ...] = attrs.field(default=(), converter=as_tuple)
    influences: tuple[int, ...] = attrs.field(default=(), converter=as_tuple)
    shared: bool = False
    typed: bool = False


NOT_ATTESTED: Final = Attestation()


def _outcomes(_: str, outcomes: tuple[StoredOutcome, ...]) -> str | None:
    if len({each.session_id for each in outcomes}) < len(outcomes):
        return "a session has two outcomes for one element"
    counted = sorted(each.seq for each in outcomes) == list(range(1, len(outcomes) + 1))
    return None if counted else "the seq of outcomes must count from 1, without gaps"


def _vector(field: str, vector: HalfVector) -> str | None:
    if vector.ndim != 1 or not len(vector):
        return f"{field} must be one row of numbers"
    return None if np.isfinite(vector).all() and vector.any() else f"{field} must be finite, and not zero"


def _words(_: str, words: Mapping[str, float]) -> str | None:
    faults = (check.text("a word", word) or check.number(word, each, 0, 1e6) for word, each in words.items())
    return next((fault for fault in faults if fault), None)


def _is_dated(_: str, element: Entity | Memory | Relation) -> str | None:
    return check.moment("created_at", element.created_at)


@attrs.frozen(kw_only=True, eq=False)
@checked(
    "entity {0.entity.id}",
    entity=_is_dated,
    given_aliases=check.texts,
    words=_words,
    outcomes=_outcomes,
    vector=_vector,
)
class StoredEntity:
    """An entity as it is shown, with its current feedback weight, and where its type and names come from."""

    entity: Entity
    given_type: str
    given_aliases: tuple[str, ...] = attrs.field(default=(), converter=as_tuple)
    named: bool = False
    """Whether it exists through its mentions alone."""
    words: Mapping[str, float] = _NO_WORDS
    """As in `Batch.words`, as stored."""
    attestation: Attestation = NOT_ATTESTED
    outcomes: tuple[StoredOutcome, ...] = attrs.field(default=(), converter=as_tuple)
    """In order of ``seq``."""
    vector: HalfVector | None = None


def _owns(stored: StoredMemory) -> str | None:
    owners = {each.memory_id for each in stored.mentions} | {each.memory_id for each in stored.claims}
    return None if owners <= {stored.memory.id} else "its mentions and claims must be its own"


@attrs.frozen(kw_only=True, eq=False)
@checked("memory {0.memory.id!r}", _owns, memory=_is_dated, merges=check.integer, outcomes=_outcomes, vector=_vector)
class StoredMemory:
    """A memory with its mentions and claims as they were written, before any of their entities was merged."""

    memory: Memory
    mentions: tuple[Mention, ...] = attrs.field(default=(), converter=as_tuple)
    claims: tuple[Claim, ...] = attrs.field(default=(), converter=as_tuple)
    merges: int = 0
    """The number of merges ever made when its mentions and claims were last written."""
    outcomes: tuple[StoredOutcome, ...] = attrs.field(default=(), converter=as_tuple)
    vector: HalfVector | None = None


@attrs.frozen(kw_only=True, eq=False)
@checked("relation {0.relation.id}", relation=_is_dated, outcomes=_outcomes, vector=_vector)
class StoredRelation:
    """A relation as it is shown, with its current feedback weight, and what merges and claims made of it."""

    relation: Relation
    folded: bool = False
    """Whether claims prove it; else it was asserted, or is retracted."""
    given_ends: tuple[UUID, UUID] | None = None
    """The source and the target that it was asserted with, if these were merged since."""
    lapsed_at: datetime | None = None
    """When it had been retracted before a merge revived it."""
    attestation: Attestation = NOT_ATTESTED
    outcomes: tuple[StoredOutcome, ...] = attrs.field(default=(), converter=as_tuple)
    vector: HalfVector | None = None


def _held(field: str, value: object) -> str | None:
    whole = isinstance(value, int) and -(2**63) <= value < 2**63
    return None if whole else f"{field} must be a whole number of 64 bits, not {value!r}"


@attrs.frozen
@checked("merge {0.merge.id}", number=partial(check.integer, low=1), held=_held)
class StoredMerge:
    """A merge, its number in the scope from 1, and how many of the mentions and claims it moved are its own."""

    merge: Merge
    number: int
    held: int

    @property
    def key(self) -> UUID:
        """The id of the merge."""
        return self.merge.id


@attrs.frozen(kw_only=True)
@checked("counter")
class Counter:
    """A counter of the scope (`Batch.counters`)."""

    name: str
    number: int


@attrs.frozen(kw_only=True)
@checked("pair", lambda pair: None if pair.low_id < pair.high_id else "the lower id comes first")
class DistinctPair:
    """Two entities marked as distinct, not duplicates; ``low_id`` is the lower id."""

    low_id: UUID
    high_id: UUID


@attrs.frozen(kw_only=True)
@checked("session", id=check.key)
class StoredSession:
    """A session, and the principal who opened it."""

    id: str
    principal: str


Record: TypeAlias = (
    RelationType
    | Counter
    | StoredMerge
    | StoredEntity
    | StoredMemory
    | StoredRelation
    | DistinctPair
    | MemoryLink
    | Community
    | StoredSession
    | Injection
)

_KINDS: Final[Mapping[type[Any], tuple[RecordKind, Callable[[Any], Key]]]] = {
    RelationType: (RecordKind.RELATION_TYPE, lambda each: (each.name,)),
    Counter: (RecordKind.COUNTER, lambda each: (each.name,)),
    StoredMerge: (RecordKind.MERGE, lambda each: (f"{each.number:010d}",)),
    StoredEntity: (RecordKind.ENTITY, lambda each: (str(each.entity.id),)),
    StoredMemory: (RecordKind.MEMORY, lambda each: (each.memory.id,)),
    StoredRelation: (RecordKind.RELATION, lambda each: (str(each.relation.id),)),
    DistinctPair: (RecordKind.DISTINCT, lambda each: (str(each.low_id), str(each.high_id))),
    MemoryLink: (RecordKind.LINK, lambda each: (each.from_id, each.to_id, each.type)),
    Community: (RecordKind.COMMUNITY, lambda each: (str(each.id),)),
    StoredSession: (RecordKind.SESSION, lambda each: (each.id,)),
    Injection: (RecordKind.INJECTION, lambda each: (each.id,)),
}
KIND_OF: Final[Mapping[type, RecordKind]] = MappingProxyType({each: kind for each, (kind, _) in _KINDS.items()})


def key_of(record: Record) -> Key:
    """The key of a record."""
    return _KINDS[type(record)][1](record)
