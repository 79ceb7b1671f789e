"""Entities, relations and their types, memories, mentions and claims: immutable, and validated when they are created.

Weights, scores and confidences are in [0, 1], higher is better. Distances are cosine distances in [0, 2], lower is
nearer. Times are timezone-aware; an open end of a period is None. Every class raises one
`InvalidInputError` that lists all faults of its input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from enum import Enum, StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.model import validation as check
from graphsearch.model.facts import Fact, NamedEntity
from graphsearch.model.identity import entity_id, relation_id
from graphsearch.model.validation import NOTHING, as_tuple, checked, distinct, read_only, sorted_distinct, type_name

type_ = type  # `type` names a field below
LONGEST_SCOPE_NAME: Final = 255
"""The most bytes of a part of a scope."""


class EdgeKind(StrEnum):
    """The origin of a relation, the most reliable first."""

    STRUCTURAL = "structural"
    """Asserted by data: a call in source code, a row of an import."""
    SEMANTIC = "semantic"
    """Extracted from text."""
    LIFECYCLE = "lifecycle"
    """A state with a start and an end."""


_EDGE_KINDS: Final = tuple(EdgeKind)
_kind: Final = partial(check.one_of, choices=_EDGE_KINDS)


def _edge_kind(value: str) -> EdgeKind:
    return EdgeKind(value) if value in _EDGE_KINDS else value  # type: ignore[return-value]


def _mint_entity(entity: Entity) -> UUID:
    named = check.text("type", entity.type) is None and check.text("name", entity.name) is None
    return entity_id(entity.type, entity.name) if named else UUID(int=0)


def _mint_relation(relation: Relation) -> UUID:
    start = relation.valid_from
    datable = isinstance(relation.type, str) and (start is None or check.instant("valid_from", start) is None)
    return relation_id(relation.source_id, relation.type, relation.target_id, start) if datable else UUID(int=0)


class ElementKind(StrEnum):
    """The kind of element that an id identifies."""

    ENTITY = "entity"
    RELATION = "relation"
    MEMORY = "memory"


class Outcome(Enum):
    """How a session ended; the feedback weights of what was surfaced move towards the value."""

    ACCEPTED = 1.0
    REWORK = 0.5
    REJECTED = 0.0


_scope_name: Final = partial(check.key, longest=LONGEST_SCOPE_NAME)


@attrs.frozen(order=True, cache_hash=True)
@checked("scope", org_id=_scope_name, project_id=_scope_name)
class Scope:
    """The isolation boundary of all data: every read and write has exactly one scope, and there is no "all scopes"."""

    org_id: str
    project_id: str

    def __str__(self) -> str:
        return f"{self.org_id}/{self.project_id}"


@attrs.frozen(kw_only=True)
@checked("entity {0.name!r}", check.ordered, type=check.name, name=check.name)
class Entity:
    """A node. Its id is derived once from (type, normalised name), and kept when either is corrected later.

    Policies read the attributes ``source``, ``owner`` and ``sensitivity`` by name, and all others as tags.
    """

    type: str = attrs.field(converter=type_name)
    name: str
    id: UUID = attrs.field(default=attrs.Factory(_mint_entity, takes_self=True))
    description: str = ""
    aliases: tuple[str, ...] = attrs.field(default=(), converter=distinct)
    labels: tuple[str, ...] = attrs.field(default=(), converter=sorted_distinct)
    attributes: Mapping[str, Any] = attrs.field(default=NOTHING, converter=read_only, hash=False)
    importance_weight: float = 0.5
    feedback_weight: float = 0.5
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    created_at: datetime | None = None
    merged_into: UUID | None = None


@attrs.frozen(kw_only=True)
@checked("relation {0.type!r}", check.ordered, type=check.name, kind=_kind, evidence=check.texts)
class Relation:
    """A typed, directed edge for one period, with the ids of the memories that prove it in ``evidence``."""

    source_id: UUID
    type: str = attrs.field(converter=type_name)
    target_id: UUID
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    id: UUID = attrs.field(default=attrs.Factory(_mint_relation, takes_self=True))
    fact: str = ""
    kind: EdgeKind = attrs.field(default=EdgeKind.SEMANTIC, converter=_edge_kind)
    confidence: float = 1.0
    labels: tuple[str, ...] = attrs.field(default=(), converter=sorted_distinct)
    attributes: Mapping[str, Any] = attrs.field(default=NOTHING, converter=read_only, hash=False)
    feedback_weight: float = 0.5
    evidence: tuple[str, ...] = attrs.field(default=(), converter=sorted_distinct)
    supported_at: datetime | None = None
    """When the newest of its memories occurred; freshness counts from it."""
    created_at: datetime | None = None
    retracted_at: datetime | None = None


_FLAGS: Final = ("functional", "causal", "skip", "state")


@attrs.frozen(kw_only=True)
@checked(
    "relation type {0.name!r}", name=check.key, half_life_days=partial(check.number, low=1e-9), hop_scores=check.units
)
class RelationType:
    """The properties of a type of relation in one scope. An unregistered type has the defaults.

    ``hop_scores[n]`` is the score of an entity n hops from the nearest anchor: ``hop_scores[0]`` that of an anchor
    itself, ``hop_scores[1]`` that of what is one hop away; beyond the table it is 0. A triplet takes the score of
    its farther endpoint. ``half_life_days`` is None for a type that does not decay. ``functional``: a source has
    one target at a time. ``causal``: the source is printed before the target in a prompt, or after it for a known
    type from effect to cause such as "caused_by". ``skip``: searches leave out relations of the type. ``state``:
    the relation holds until something ends it. Relations of a functional or state type do not age while they hold.
    """

    name: str = attrs.field(converter=type_name)
    prior: float = 1.0
    half_life_days: float | None = None
    hop_scores: tuple[float, ...] = attrs.field(default=(1.0, 0.6, 0.35, 0.15), converter=as_tuple)
    functional: bool = False
    causal: bool = False
    skip: bool = False
    state: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of its properties that are true, of those that are true or false."""
        return tuple(flag for flag in _FLAGS if getattr(self, flag))

    @property
    def effect_first(self) -> bool:
        """Whether it is causal from effect to cause, as "caused_by" is: then the target is printed first."""
        return self.causal and self.name in _EFFECT_FIRST

    @property
    def ages_by(self) -> float:
        """The half-life of the freshness of its relations, in days; infinite if they do not age."""
        if self.functional or self.state or self.half_life_days is None:
            return math.inf
        return self.half_life_days


_CAUSE_FIRST: Final = (
    *("causes", "leads_to", "led_to", "results_in"),
    *("enables", "prevents", "triggers", "contributes_to"),
)
_EFFECT_FIRST: Final = (
    *("caused_by", "results_from", "due_to", "enabled_by", "prevented_by", "triggered_by"),
    *("calls", "imports", "inherits_from"),  # what code builds on is printed before it
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
            *(RelationType(name=name, functional=True) for name in ("has_status", "deadline", "budget", "priority")),
            *(RelationType(name=name, causal=True) for name in (*_CAUSE_FIRST, *_EFFECT_FIRST)),
        )
    }
)

KNOWN_ENTITY_TYPES: Final = (
    *("person", "organisation", "place", "facility", "project", "tool", "concept", "date", "event", "quantity"),
    *("thing", "url", "file", "module", "class", "function"),
)


@attrs.frozen(kw_only=True)
@checked("span", lambda each: f"0 <= start <= end, not {each.start}, {each.end}" if each.start > each.end else None)
class Span:
    """A range of characters in the text of a memory: [start, end)."""

    start: int
    end: int


@attrs.frozen(kw_only=True)
@checked(
    "memory {0.id!r}",
    id=check.key,
    session_id=check.key,
    subject=check.line,
    source=check.line,
    speaker=check.name,
    facts=Fact,
    entities=NamedEntity,
)
class Memory:
    """A stored text: an observation, a conversation turn, a note; or a source file, whose text is not stored.

    ``facts`` and ``entities`` are what its giver states of it. They are no part of what is stored: an ingest turns them
    into claims and mentions.
    """

    id: str
    text: str = ""
    subject: str = ""
    speaker: str = ""
    session_id: str = ""
    position: int = 0
    occurred_at: datetime | None = None
    source: str = ""
    labels: tuple[str, ...] = attrs.field(default=(), converter=sorted_distinct)
    attributes: Mapping[str, Any] = attrs.field(default=NOTHING, converter=read_only, hash=False)
    feedback_weight: float = 0.5
    created_at: datetime | None = None
    facts: tuple[Fact, ...] = attrs.field(default=(), converter=as_tuple, eq=False)
    entities: tuple[NamedEntity, ...] = attrs.field(default=(), converter=as_tuple, eq=False)


@attrs.frozen(kw_only=True)
@checked("mention {0.surface!r}", memory_id=check.key, surface=check.name, type=check.name, span=Span)
class Mention:
    """The name of an entity in a memory; ``type`` is the entity's type according to the text, empty if none."""

    memory_id: str
    entity_id: UUID
    surface: str
    type: str = attrs.field(default="", converter=type_name)
    span: Span | None = None
    confidence: float = 1.0


@attrs.frozen(kw_only=True)
@checked(
    "claim {0.type!r} of {0.memory_id!r}", check.ordered, memory_id=check.key, type=check.name, kind=_kind, span=Span
)
class Claim:
    """A statement of one memory. Claims are the stored truth; relations are folded from them.

    ``ceiling``, in [0, 1], is the confidence above which it proves nothing: all claims with this ceiling or a lower one
    never give a relation more than that together, however many there are.
    """

    memory_id: str
    source_id: UUID
    type: str = attrs.field(converter=type_name)
    target_id: UUID
    confidence: float
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    kind: EdgeKind = attrs.field(default=EdgeKind.SEMANTIC, converter=_edge_kind)
    fact: str = ""
    span: Span | None = None
    extractor: str = ""
    ceiling: float = 1.0
