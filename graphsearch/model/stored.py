"""Records of a scope as it is stored: what another store needs to give the same answers and to continue from there.

An element is recorded as it is shown, with its origins next to it; what a store derives (documents, postings, indexes)
is not recorded. Records of a kind are in order of their ``key``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.model import validation as check
from graphsearch.model.communities import Community
from graphsearch.model.elements import Claim, Entity, Memory, Mention, Outcome, Relation, RelationType
from graphsearch.model.reports import Injection, MemoryLink, Merge
from graphsearch.model.validation import as_tuple

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


@attrs.frozen(kw_only=True)
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

    def __attrs_post_init__(self) -> None:
        bound = (self.embedder is None) == (self.dimensions is None)
        check.refuse(
            "settings",
            check.text("analyser", self.analyser),
            check.number("alpha", self.alpha, 1e-9, 1 - 1e-9),
            None if bound else "embedder and dimensions must be given together",
            None if self.embedder is None else check.text("embedder", self.embedder),
            None if self.dimensions is None else check.dimensions(self.dimensions),
            check.count("merges", self.merges) or check.number("merges", self.merges, 0, 2**31 - 1),
            *(check.count(name, each) for name, each in (*self.counts.items(), *self.vectors.items())),
            None if self.id_key is None else check.identifier("id_key", self.id_key),
        )


@attrs.frozen(kw_only=True)
class StoredOutcome:
    """One outcome in an element's feedback history; ``seq`` counts from 1."""

    session_id: str
    seq: int
    outcome: Outcome

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "outcome",
            check.key("session_id", self.session_id),
            check.count("seq", self.seq) or check.number("seq", self.seq, 1, 2**31 - 1),
            check.optional("outcome", self.outcome, Outcome),
        )


@attrs.frozen(kw_only=True)
class Attestation:
    """What the signature of an element names: codes of signatures, as `Signature.code` makes them.

    See `graphsearch.model.signatures.Signature`. `UNKNOWN_CODE` stands for a signature that does not exist any more.
    """

    evidence: tuple[int, ...] = attrs.field(default=(), converter=as_tuple)
    influences: tuple[int, ...] = attrs.field(default=(), converter=as_tuple)
    shared: bool = False
    typed: bool = False

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "signature",
            *(check.count("each of evidence", code) for code in self.evidence),
            *(check.count("each of influences", code) for code in self.influences),
            check.truth("shared", self.shared),
            check.truth("typed", self.typed),
        )


NOT_ATTESTED: Final = Attestation()


def _outcome_faults(outcomes: tuple[StoredOutcome, ...]) -> list[str | None]:
    sessions, seqs = {each.session_id for each in outcomes}, sorted(each.seq for each in outcomes)
    return [
        None if len(sessions) == len(outcomes) else "a session has two outcomes for one element",
        None if seqs == list(range(1, len(outcomes) + 1)) else "the seq of outcomes must count from 1, without gaps",
    ]


def _vector_fault(vector: HalfVector | None) -> str | None:
    if vector is None:
        return None
    if vector.ndim != 1 or not len(vector):
        return "vector must be one row of numbers"
    return None if np.isfinite(vector).all() and vector.any() else "vector must be finite, and not zero"


@attrs.frozen(kw_only=True, eq=False)
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

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"entity {self.entity.id}",
            check.text("given_type", self.given_type),
            check.texts("given_aliases", self.given_aliases),
            check.truth("named", self.named),
            check.moment("created_at", self.entity.created_at),
            *(check.text("a word", word) or check.number(word, each, 0, 1e6) for word, each in self.words.items()),
            *_outcome_faults(self.outcomes),
            _vector_fault(self.vector),
        )

    @property
    def key(self) -> Key:
        """Its id."""
        return (str(self.entity.id),)


@attrs.frozen(kw_only=True, eq=False)
class StoredMemory:
    """A memory with its mentions and claims as they were written, before any of their entities was merged."""

    memory: Memory
    mentions: tuple[Mention, ...] = attrs.field(default=(), converter=as_tuple)
    claims: tuple[Claim, ...] = attrs.field(default=(), converter=as_tuple)
    merges: int = 0
    """The number of merges ever made when its mentions and claims were last written."""
    outcomes: tuple[StoredOutcome, ...] = attrs.field(default=(), converter=as_tuple)
    vector: HalfVector | None = None

    def __attrs_post_init__(self) -> None:
        own = {each.memory_id for each in self.mentions} | {each.memory_id for each in self.claims} <= {self.memory.id}
        check.refuse(
            f"memory {self.memory.id!r}",
            check.moment("created_at", self.memory.created_at),
            check.count("merges", self.merges) or check.number("merges", self.merges, 0, 2**31 - 1),
            None if own else "its mentions and claims must be its own",
            *_outcome_faults(self.outcomes),
            _vector_fault(self.vector),
        )

    @property
    def key(self) -> Key:
        """Its id."""
        return (self.memory.id,)


@attrs.frozen(kw_only=True, eq=False)
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

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"relation {self.relation.id}",
            check.moment("created_at", self.relation.created_at),
            check.truth("folded", self.folded),
            check.instant("lapsed_at", self.lapsed_at),
            *_outcome_faults(self.outcomes),
            _vector_fault(self.vector),
        )

    @property
    def key(self) -> Key:
        """Its id."""
        return (str(self.relation.id),)


@attrs.frozen(kw_only=True)
class StoredMerge:
    """A merge, its number in the scope from 1, and how many of the mentions and claims it moved are its own."""

    merge: Merge
    number: int
    held: int

    def __attrs_post_init__(self) -> None:
        merge = self.merge
        check.refuse(
            f"merge {merge.id}",
            *(check.identifier(name, getattr(merge, name)) for name in ("id", "source_id", "target_id")),
            *(check.count(name, getattr(merge, name)) for name in ("mentions", "claims", "relations")),
            check.moment("created_at", merge.created_at),
            check.instant("undone_at", merge.undone_at),
            check.count("number", self.number) or check.number("number", self.number, 1, 2**31 - 1),
            check.number("held", self.held, -(2**63), 2**63 - 1),
            None if isinstance(self.held, int) else "held must be a whole number",
            "an entity cannot be merged into itself" if merge.source_id == merge.target_id else None,
        )

    @property
    def key(self) -> Key:
        """Its number, in ten digits."""
        return (f"{self.number:010d}",)


@attrs.frozen(kw_only=True)
class Counter:
    """A counter of the scope (`Batch.counters`)."""

    name: str
    number: int

    def __attrs_post_init__(self) -> None:
        check.refuse("counter", check.text("name", self.name), check.count("number", self.number))

    @property
    def key(self) -> Key:
        """Its name."""
        return (self.name,)


@attrs.frozen(kw_only=True)
class DistinctPair:
    """Two entities marked as distinct, not duplicates; ``low_id`` is the lower id."""

    low_id: UUID
    high_id: UUID

    def __attrs_post_init__(self) -> None:
        faults = [check.identifier(name, getattr(self, name)) for name in ("low_id", "high_id")]
        check.refuse("pair", *faults, None if any(faults) or self.low_id < self.high_id else "the lower id comes first")

    @property
    def key(self) -> Key:
        """Both ids."""
        return (str(self.low_id), str(self.high_id))


@attrs.frozen(kw_only=True)
class StoredSession:
    """A session, and the principal who opened it."""

    id: str
    principal: str

    def __attrs_post_init__(self) -> None:
        check.refuse("session", check.key("id", self.id), check.text("principal", self.principal))

    @property
    def key(self) -> Key:
        """Its id."""
        return (self.id,)


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

KIND_OF: Final[Mapping[type, RecordKind]] = MappingProxyType(
    {
        RelationType: RecordKind.RELATION_TYPE,
        Counter: RecordKind.COUNTER,
        StoredMerge: RecordKind.MERGE,
        StoredEntity: RecordKind.ENTITY,
        StoredMemory: RecordKind.MEMORY,
        StoredRelation: RecordKind.RELATION,
        DistinctPair: RecordKind.DISTINCT,
        MemoryLink: RecordKind.LINK,
        Community: RecordKind.COMMUNITY,
        StoredSession: RecordKind.SESSION,
        Injection: RecordKind.INJECTION,
    }
)


def key_of(record: Record) -> Key:
    """The key of a record."""
    if isinstance(record, RelationType):
        return (record.name,)
    if isinstance(record, MemoryLink):
        return (record.from_id, record.to_id, record.type)
    if isinstance(record, Community):
        return (str(record.id),)
    if isinstance(record, Injection):
        return (record.id,)
    return record.key
