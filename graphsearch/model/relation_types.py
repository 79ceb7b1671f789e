"""Types of relations and of entities, and the properties of those that are known from the start."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import attrs

from graphsearch.model import validation as check
from graphsearch.model.validation import as_tuple, type_name


class EdgeKind(StrEnum):
    """The origin of a relation, the most reliable first."""

    STRUCTURAL = "structural"
    """Asserted by data: a call in source code, a row of an import."""
    SEMANTIC = "semantic"
    """Extracted from text."""
    LIFECYCLE = "lifecycle"
    """A state with a start and an end."""


@attrs.frozen(kw_only=True)
class RelationType:
    """The properties of a type of relation in one scope. An unregistered type has the defaults.

    ``hop_scores`` is the score of an endpoint 1, 2, … hops away; beyond the table it is 0. ``half_life_days`` is
    None for a type that does not decay. ``functional``: a source has one target at a time. ``causal``: the source is
    printed before the target in a prompt. ``skip``: searches leave out relations of the type. ``state``: the relation
    holds until something ends it. Relations of a functional or state type do not age while they hold.
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
    def ages_by(self) -> float:
        """The half-life of the freshness of its relations, in days; infinite if they do not age."""
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
