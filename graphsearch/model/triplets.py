"""A relation with both of its entities as a search finds it, and its score: named parts that add up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model.elements import Entity, Relation, Scope
from graphsearch.model.validation import NOTHING

_ZERO: Final = 1e-9


@attrs.frozen(kw_only=True)
class ScorePart:
    """One named part of a score: value × weight = contribution; the contributions of all parts add up to the score.

    Triplets, recalled memories, ranked entities and explanations have them as ``parts``.
    """

    name: str
    value: float
    weight: float

    @classmethod
    def adding(cls, name: str, value: float, contribution: float) -> ScorePart:
        """The part with a contribution. Where its value is near 0, the contribution is its value, with weight 1."""
        if value > _ZERO:
            return cls(name=name, value=value, weight=contribution / value)
        return cls(name=name, value=contribution, weight=1.0)

    @property
    def contribution(self) -> float:
        """What it adds to the score."""
        return self.value * self.weight


@attrs.frozen
class TripletScore:
    """All that goes into the score of a triplet: ``proximity_part + importance_part + feedback_part == value``.

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
    relevance: Mapping[str, float] = attrs.field(default=NOTHING, hash=False)
    """What ``proximity`` is made of, by part, adding up to it; empty where it is one number."""

    @property
    def parts(self) -> tuple[ScorePart, ...]:
        """Proximity, or what it is made of, then importance and feedback; a weight is what a value of 1 would add."""
        near = _ratio(self.proximity_part, self.proximity)
        proximity = self.relevance or {"proximity": self.proximity}
        return (
            *(ScorePart(name=name, value=value, weight=near) for name, value in proximity.items()),
            ScorePart(name="importance", value=self.importance, weight=_ratio(self.importance_part, self.importance)),
            ScorePart(name="feedback", value=self.feedback, weight=_ratio(self.feedback_part, self.feedback)),
        )


def _ratio(part: float, value: float) -> float:
    return part / value if value else 0.0


@attrs.frozen(kw_only=True)
class Triplet:
    """A relation with both of its entities, as found for one query.

    * ``breakdown``: all that goes into the score.
    * ``path``: ids of the relations walked from where the search began to the nearer endpoint.
    * ``origins``: the scopes that it comes from, each with the ids of the memories that prove it there, in the answer
      of a `FederatedEngine`; else empty.
    * ``own_ids``: the id of the relation in those of the scopes that have it under another one: see `id_in`.
    """

    source: Entity
    relation: Relation
    target: Entity
    breakdown: TripletScore
    path: tuple[UUID, ...] = ()
    origins: Mapping[Scope, tuple[str, ...]] = attrs.field(default=NOTHING, hash=False)
    own_ids: Mapping[Scope, UUID] = attrs.field(default=NOTHING, hash=False, repr=False)

    @property
    def score(self) -> float:
        """How well it answers the query, in [0, 1]."""
        return self.breakdown.value

    @property
    def parts(self) -> tuple[ScorePart, ...]:
        """The parts that add up to the score."""
        return self.breakdown.parts

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes that it comes from, in the answer of a `FederatedEngine`; else empty."""
        return tuple(self.origins)

    def id_in(self, scope: Scope) -> UUID:
        """The id of the relation in one of its scopes.

        Ids follow from how a relation begins. That of an answer of several scopes follows from what is visible; a scope
        in which something hidden began the relation stores it under another one.
        """
        return self.own_ids.get(scope, self.relation.id)
