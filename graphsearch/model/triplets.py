"""A relation with both of its entities and a score, as a search finds it."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import attrs

from graphsearch.model.converters import NOTHING
from graphsearch.model.elements import Entity, Relation


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
    relevance: Mapping[str, float] = attrs.field(default=NOTHING, hash=False)
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
