"""What an engine answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import attrs

from graphsearch.model import ElementKind, Entity, Relation, Triplet
from graphsearch.query.anchors import Anchor


@attrs.frozen(kw_only=True)
class SearchResult:
    """The answer to one question.

    * ``triplets``: best first; equal scores always in the same order.
    * ``found``: how many relations were scored, of which ``triplets`` are the best.
    * ``denied``: distinct elements that the gate hid, by kind. For the caller, never for a prompt.
    * ``left_out``: relations of the seeds that the view left out, by reason (see `GraphStore.left_out`).
    * ``timings``: milliseconds by stage.
    * ``prompt_order``: places of the ``triplets`` in the order to print them in, causes before effects; None where
      that is the order they have.
    """

    query: str
    mode: str
    triplets: tuple[Triplet, ...]
    anchors: tuple[Anchor, ...]
    as_of: datetime
    known_at: datetime
    found: int
    denied: Mapping[ElementKind, int]
    left_out: Mapping[str, int]
    timings: Mapping[str, float] = attrs.field(eq=False)
    prompt_order: tuple[int, ...] | None = None

    @property
    def provenance(self) -> Mapping[UUID, tuple[str, ...]]:
        """The memories behind each relation shown, by relation id."""
        return {triplet.relation.id: triplet.relation.evidence for triplet in self.triplets}


@attrs.frozen(kw_only=True)
class Path:
    """A way from one entity to another.

    ``relations[i]`` joins ``entities[i]`` and ``entities[i + 1]``, in either direction. ``strength`` is least
    confidence × least freshness × least prior along it.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    strength: float

    @property
    def hops(self) -> int:
        """Number of relations."""
        return len(self.relations)


@attrs.frozen(kw_only=True)
class Explanation:
    """Why a relation was shown, or why it was not.

    ``rank`` counts from 1. Without a ``triplet``, ``reason`` says what kept the relation out; with one, it says so too
    when the rank lies beyond what was asked for.
    """

    relation_id: UUID
    query: str
    mode: str
    triplet: Triplet | None
    rank: int | None
    of: int
    reason: str

    def factors(self) -> list[tuple[str, float, float, float]]:
        """(factor, value, weight, contribution) of the score; the contributions add up to it."""
        if self.triplet is None:
            return []
        score = self.triplet.score
        named = (
            ("proximity", score.proximity, score.proximity_part),
            ("importance", score.importance, score.importance_part),
            ("feedback", score.feedback, score.feedback_part),
        )
        return [(name, value, part / value if value else 0.0, part) for name, value, part in named]

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        score = None if self.triplet is None else attrs.asdict(self.triplet.score)
        return {
            "relation_id": str(self.relation_id),
            "query": self.query,
            "mode": self.mode,
            "rank": self.rank,
            "of": self.of,
            "reason": self.reason,
            "score": score,
        }
