"""The words of graphsearch as immutable values, checked when they are made.

Weights, scores and confidences are in [0, 1], higher is better. Distances are cosine distances in [0, 2], lower is
nearer. Times are timezone-aware; an open end of a period is None. Every class raises `InvalidInputError` that names
all faults of its input.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch import validation as check
from graphsearch.identity import entity_id, relation_id, snake_case

type_ = type  # `type` names a field below

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


# Converters pass on what they cannot convert: the checks that follow name it as a fault, along with all others.


def _type_name(value: str) -> str:
    return snake_case(value) if isinstance(value, str) else value


def _attributes(value: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        return value
    return MappingProxyType(dict(value)) if value else _NOTHING


def _words(value: Iterable[str]) -> tuple[str, ...]:
    """Without repetitions, in order: a set that keeps its first spelling."""
    if isinstance(value, str):
        return (value,)
    return tuple(dict.fromkeys(value)) if isinstance(value, Iterable) else value


def _labels(value: Iterable[str]) -> tuple[str, ...]:
    words = _words(value)
    return tuple(sorted(words)) if all(isinstance(word, str) for word in words) else words


def _kind(value: str) -> EdgeKind:
    return EdgeKind(value) if value in tuple(EdgeKind) else value  # type: ignore[return-value]


def _numbers(value: Iterable[float]) -> tuple[float, ...]:
    return tuple(value)


def _scopes(value: Iterable[Scope]) -> tuple[Scope, ...]:
    return tuple(value)


def _types(value: Iterable[str]) -> frozenset[str]:
    return frozenset(value)


def _mint_entity(entity: Entity) -> UUID:
    named = check.text("type", entity.type) is None and check.text("name", entity.name) is None
    return entity_id(entity.type, entity.name) if named else UUID(int=0)


def _mint_relation(relation: Relation) -> UUID:
    start = relation.valid_from
    datable = isinstance(relation.type, str) and (start is None or check.instant("valid_from", start) is None)
    return relation_id(relation.source_id, relation.type, relation.target_id, start) if datable else UUID(int=0)


class ElementKind(StrEnum):
    """What an id belongs to."""

    ENTITY = "entity"
    RELATION = "relation"
    MEMORY = "memory"


class EdgeKind(StrEnum):
    """Where a relation comes from, the surest first."""

    STRUCTURAL = "structural"
    """Asserted by data: a call in source code, a row of an import."""
    SEMANTIC = "semantic"
    """Read out of text."""
    LIFECYCLE = "lifecycle"
    """A state with a start and an end."""


class Outcome(Enum):
    """How a session ended; the value is what each surfaced element's weight moves towards."""

    ACCEPTED = 1.0
    REWORK = 0.5
    REJECTED = 0.0


class Action(StrEnum):
    """What a principal may be allowed to do to an element."""

    READ = "read"
    WRITE = "write"
    MERGE = "merge"
    FORGET = "forget"
    FEEDBACK = "feedback"


@attrs.frozen(order=True, cache_hash=True)
class Scope:
    """The wall: nothing is read or written without one, and there is no "all scopes"."""

    org_id: str
    project_id: str

    def __attrs_post_init__(self) -> None:
        check.refuse("scope", check.text("org_id", self.org_id), check.text("project_id", self.project_id))

    def __str__(self) -> str:
        return f"{self.org_id}/{self.project_id}"


@attrs.frozen(kw_only=True)
class RelationType:
    """What is known of a type of relation, in one scope. An unregistered type has these defaults.

    ``hop_scores`` is the score of an endpoint 1, 2, … hops away; beyond the table it is 0. ``half_life_days`` is
    None for a type that does not decay. ``functional``: a source has one target at a time. ``causal``: the source
    comes before the target in a prompt. ``skip``: relations of the type are left out of searches. ``state``: it lasts
    until something ends it. Of a functional or lasting type a relation does not age while it holds.
    """

    name: str = attrs.field(converter=_type_name)
    prior: float = 1.0
    half_life_days: float | None = None
    hop_scores: tuple[float, ...] = attrs.field(default=(1.0, 0.6, 0.35, 0.15), converter=_numbers)
    functional: bool = False
    causal: bool = False
    skip: bool = False
    state: bool = False

    @property
    def ages_by(self) -> float:
        """The half-life in days by which its relations are less fresh, infinite where they do not age."""
        if self.functional or self.state or self.half_life_days is None:
            return math.inf
        return self.half_life_days

    def __attrs_post_init__(self) -> None:
        half_life = self.half_life_days
        check.refuse(
            f"relation type {self.name!r}",
            check.text("name", self.name),
            check.unit("prior", self.prior),
            None if half_life is None else check.number("half_life_days", half_life, 1e-9),
            *(check.unit("each of hop_scores", score) for score in self.hop_scores),
        )


KNOWN_RELATION_TYPES: Final[Mapping[str, RelationType]] = MappingProxyType(
    {
        known.name: known
        for known in (
            RelationType(name="member_of", half_life_days=180, state=True),
            RelationType(name="reports_to", half_life_days=180, functional=True),
            RelationType(name="collaborated_with", prior=0.8, half_life_days=30),
            RelationType(name="works_with", prior=0.8, half_life_days=30, state=True),
            RelationType(name="mentioned_with", prior=0.5, half_life_days=14),
            RelationType(name="co_occurs", prior=0.5, half_life_days=14),
            RelationType(name="met_with", prior=0.5, half_life_days=7, skip=True),
            RelationType(name="lives_in", functional=True),
            RelationType(name="works_at", functional=True),
            RelationType(name="has_status", functional=True),
        )
    }
)

KNOWN_ENTITY_TYPES: Final = (
    *("person", "organisation", "place", "facility", "project", "tool", "concept", "date", "event", "quantity"),
    *("url", "file", "module", "class", "function"),
)


@attrs.frozen(kw_only=True)
class Entity:
    """A node. Its id is minted once from (type, normalised name), and kept when either is corrected later.

    The attributes ``source``, ``owner`` and ``sensitivity`` are what policies ask for by name; others reach them as
    tags.
    """

    type: str = attrs.field(converter=_type_name)
    name: str
    id: UUID = attrs.field(default=attrs.Factory(_mint_entity, takes_self=True))
    description: str = ""
    aliases: tuple[str, ...] = attrs.field(default=(), converter=_words)
    labels: tuple[str, ...] = attrs.field(default=(), converter=_labels)
    attributes: Mapping[str, Any] = attrs.field(default=_NOTHING, converter=_attributes, hash=False)
    importance_weight: float = 0.5
    feedback_weight: float = 0.5
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    created_at: datetime | None = None
    merged_into: UUID | None = None

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"entity {self.name!r}",
            check.text("type", self.type),
            check.text("name", self.name),
            check.text("description", self.description, empty=True),
            check.texts("aliases", self.aliases),
            check.texts("labels", self.labels),
            check.json_object("attributes", self.attributes),
            check.unit("importance_weight", self.importance_weight),
            check.unit("feedback_weight", self.feedback_weight),
            check.period(self.valid_from, self.valid_to),
            check.instant("created_at", self.created_at),
        )


@attrs.frozen(kw_only=True)
class Relation:
    """A typed, directed edge for one period, with the ids of the memories that prove it in ``evidence``."""

    source_id: UUID
    type: str = attrs.field(converter=_type_name)
    target_id: UUID
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    id: UUID = attrs.field(default=attrs.Factory(_mint_relation, takes_self=True))
    fact: str = ""
    kind: EdgeKind = attrs.field(default=EdgeKind.SEMANTIC, converter=_kind)
    confidence: float = 1.0
    labels: tuple[str, ...] = attrs.field(default=(), converter=_labels)
    attributes: Mapping[str, Any] = attrs.field(default=_NOTHING, converter=_attributes, hash=False)
    feedback_weight: float = 0.5
    evidence: tuple[str, ...] = attrs.field(default=(), converter=_labels)
    supported_at: datetime | None = None
    """When the newest of its memories occurred; freshness counts from it."""
    created_at: datetime | None = None
    retracted_at: datetime | None = None

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"relation {self.type!r}",
            check.text("type", self.type),
            check.text("fact", self.fact, empty=True),
            check.one_of("kind", self.kind, tuple(EdgeKind)),
            check.unit("confidence", self.confidence),
            check.texts("labels", self.labels),
            check.json_object("attributes", self.attributes),
            check.unit("feedback_weight", self.feedback_weight),
            check.texts("evidence", self.evidence),
            check.period(self.valid_from, self.valid_to),
            check.instant("supported_at", self.supported_at),
            check.instant("created_at", self.created_at),
            check.instant("retracted_at", self.retracted_at),
        )


@attrs.frozen(kw_only=True)
class Span:
    """Where in a memory's text something stands: characters [start, end)."""

    start: int
    end: int

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "span", None if 0 <= self.start <= self.end else f"0 <= start <= end, not {self.start}, {self.end}"
        )


@attrs.frozen(kw_only=True)
class Memory:
    """A stored text: an observation, a turn, a note; or a source file, whose own text is not kept."""

    id: str
    text: str = ""
    subject: str = ""
    speaker: str = ""
    session_id: str = ""
    position: int = 0
    occurred_at: datetime | None = None
    source: str = ""
    labels: tuple[str, ...] = attrs.field(default=(), converter=_labels)
    attributes: Mapping[str, Any] = attrs.field(default=_NOTHING, converter=_attributes, hash=False)
    feedback_weight: float = 0.5
    created_at: datetime | None = None

    def __attrs_post_init__(self) -> None:
        optional = ("text", "subject", "speaker", "session_id", "source")
        check.refuse(
            f"memory {self.id!r}",
            check.text("id", self.id),
            *(check.text(field, getattr(self, field), empty=True) for field in optional),
            check.number("position", self.position, 0),
            check.texts("labels", self.labels),
            check.json_object("attributes", self.attributes),
            check.unit("feedback_weight", self.feedback_weight),
            check.instant("occurred_at", self.occurred_at),
            check.instant("created_at", self.created_at),
        )


@attrs.frozen(kw_only=True)
class Mention:
    """An entity named in a memory; ``type`` is that of the entity as its text told, empty where it did not."""

    memory_id: str
    entity_id: UUID
    surface: str
    type: str = attrs.field(default="", converter=_type_name)
    span: Span | None = None
    confidence: float = 1.0

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"mention {self.surface!r}",
            check.text("memory_id", self.memory_id),
            check.text("surface", self.surface),
            check.text("type", self.type, empty=True),
            check.unit("confidence", self.confidence),
        )


@attrs.frozen(kw_only=True)
class Claim:
    """What one memory says. Claims are what is stored as truth; relations are the fold of their claims."""

    memory_id: str
    source_id: UUID
    type: str = attrs.field(converter=_type_name)
    target_id: UUID
    confidence: float
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    kind: EdgeKind = attrs.field(default=EdgeKind.SEMANTIC, converter=_kind)
    fact: str = ""
    span: Span | None = None
    extractor: str = ""

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"claim {self.type!r} of {self.memory_id!r}",
            check.text("memory_id", self.memory_id),
            check.text("type", self.type),
            check.one_of("kind", self.kind, tuple(EdgeKind)),
            check.unit("confidence", self.confidence),
            check.period(self.valid_from, self.valid_to),
            check.text("fact", self.fact, empty=True),
            check.text("extractor", self.extractor, empty=True),
        )


@attrs.frozen(kw_only=True, cache_hash=True)
class Principal:
    """Who asks, as the caller's authentication established it; ``projects`` are the scopes it belongs to."""

    id: str
    type: str = "User"
    attributes: Mapping[str, Any] = attrs.field(default=_NOTHING, converter=_attributes, hash=False)
    projects: tuple[Scope, ...] = attrs.field(default=(), converter=_scopes)

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"principal {self.id!r}",
            check.text("id", self.id),
            None if self.type.isidentifier() else f"type must be an identifier, not {self.type!r}",
            check.json_object("attributes", self.attributes),
        )


@attrs.frozen
class View:
    """What of a graph a question looks at: what held at ``as_of``, as known at ``known_at``.

    With ``since``, which must not be later, it is what held at any moment from then to ``as_of``. Relations below
    ``min_edge_confidence``, of a type in ``skipped_types``, or, where there are ``only_types``, of none of these, are
    left out before anything is counted. Those with a signature whose code is in ``refolded`` are kept whatever their
    period and confidence, since both are to be told anew from what may be seen.
    """

    as_of: datetime
    known_at: datetime
    min_edge_confidence: float = 0.5
    skipped_types: frozenset[str] = attrs.field(default=frozenset(), converter=_types)
    since: datetime | None = None
    only_types: frozenset[str] = attrs.field(default=frozenset(), converter=_types)
    refolded: frozenset[int] = frozenset()

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "view",
            check.instant("as_of", self.as_of),
            check.instant("known_at", self.known_at),
            check.unit("min_edge_confidence", self.min_edge_confidence),
            check.window(self.since, self.as_of),
        )

    @property
    def earliest(self) -> datetime:
        """The first moment that is looked at: ``since``, else ``as_of``."""
        return self.as_of if self.since is None else self.since

    def holds(self, start: datetime | None, end: datetime | None) -> bool:
        """Whether a period [start, end) covers ``as_of``, or with ``since`` any moment from then on."""
        return (start is None or start <= self.as_of) and (end is None or self.earliest < end)

    def known(self, created: datetime | None, retracted: datetime | None) -> bool:
        """Whether something created and perhaps retracted was known at ``known_at``."""
        return (created is None or created <= self.known_at) and (retracted is None or self.known_at < retracted)


@attrs.frozen
class TripletScore:
    """A triplet's score taken apart: ``proximity_part + importance_part + feedback_part == value`` (design 5.1).

    ``confidence``, ``freshness`` and ``prior`` are the least along the path and the relation itself; their product is
    ``strength``. ``hops`` is how far the nearer endpoint lies from where the search began.
    """

    value: float
    strength: float
    confidence: float
    freshness: float
    prior: float
    proximity: float
    importance: float
    feedback: float
    proximity_part: float
    importance_part: float
    feedback_part: float
    hops: int
    relevance: Mapping[str, float] = attrs.field(default=_NOTHING, hash=False)
    """What ``proximity`` is made of, by part, adding up to it; empty where it is one number."""


@attrs.frozen(kw_only=True)
class Triplet:
    """A relation with both of its entities, as found for one query."""

    source: Entity
    relation: Relation
    target: Entity
    score: TripletScore
    path: tuple[UUID, ...] = ()
    """Ids of the relations walked from where the search began to the nearer endpoint."""
