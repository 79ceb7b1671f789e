"""A relation with both of its entities and a score, as a search finds it."""

from __future__ import annotations

from uuid import UUID

import attrs

from graphsearch.model.elements import Entity, Relation
from graphsearch.model.scores import ScorePart, TripletScore


@attrs.frozen(kw_only=True)
class Triplet:
    """A relation with both of its entities, as found for one query.

    * ``breakdown``: all that goes into the score.
    * ``path``: ids of the relations walked from where the search began to the nearer endpoint.
    """

    source: Entity
    relation: Relation
    target: Entity
    breakdown: TripletScore
    path: tuple[UUID, ...] = ()

    @property
    def score(self) -> float:
        """How well it answers the query, in [0, 1]."""
        return self.breakdown.value

    @property
    def parts(self) -> tuple[ScorePart, ...]:
        """The parts that add up to the score."""
        return self.breakdown.parts
