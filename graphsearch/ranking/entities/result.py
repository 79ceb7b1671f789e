"""What a ranking of entities answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import attrs

from graphsearch.display.printing import Displayed, hidden, print_listing
from graphsearch.model import ElementKind, Entity, Scope, ScorePart
from graphsearch.question.analysis import Analysis
from graphsearch.ranking.fusion import Part
from graphsearch.text.rendering import entity_name, safe_text


class Years(NamedTuple):
    """Years from the first to the last, both included; an open end is None."""

    first: int | None
    last: int | None

    def meet(self, other: Years) -> bool:
        """Whether the two have a year in common."""
        starts_late = self.first is not None and other.last is not None and self.first > other.last
        ends_early = self.last is not None and other.first is not None and self.last < other.first
        return not (starts_late or ends_early)


@attrs.frozen(kw_only=True)
class FoundEntity:
    """An entity with its score in [0, 1], taken apart.

    * ``original``: what the searches made of it, any number ≥ 0; the sum of its ``channels``: rank from 1, score,
      weight and contribution.
    * ``connections``: how many relations it has that may be seen (see `graphsearch.ranking.entities.examining`), with
      at most ten ``connected_names``, by the most reliable relations first, and all ``relation_types``, the most
      frequent first. ``dates``: the periods that are known of it, in years.
    * ``factors``: value × weight = contribution, adding up to the ``relevance``, in [0, 1].
    * ``relevance_part`` and ``feedback_part``: (1 − φ) · relevance / best and φ · feedback, which are the score.
    * ``scopes``: those that know it, in the answer of a `FederatedEngine`; else empty.
    """

    entity: Entity
    original: float
    channels: Mapping[str, Part] = attrs.field(factory=dict)
    connections: int = 0
    connected_names: tuple[str, ...] = ()
    relation_types: tuple[str, ...] = ()
    dates: tuple[Years, ...] = ()
    factors: tuple[ScorePart, ...] = ()
    relevance: float = 0.0
    relevance_part: float = 0.0
    feedback_part: float = 0.0
    scopes: tuple[Scope, ...] = ()

    @property
    def score(self) -> float:
        """(1 − φ) · relevance / best + φ · feedback."""
        return self.relevance_part + self.feedback_part

    @property
    def parts(self) -> tuple[ScorePart, ...]:
        """The parts that add up to the score: the factors, scaled, and feedback."""
        scale = self.relevance_part / self.relevance if self.relevance else 0.0
        own = (ScorePart(name=each.name, value=each.value, weight=each.weight * scale) for each in self.factors)
        return (*own, ScorePart.adding("feedback", self.entity.feedback_weight, self.feedback_part))


@attrs.frozen(kw_only=True)
class RankResult(Displayed):
    """The entities that a question asks for, best first; equal scores always in the same order.

    * ``found``: how many entities the searches found, of which the first ``candidates`` were looked at.
    * ``denied``: distinct elements that the gate hid, by kind. For the caller, never for a prompt.
    * ``reason``: why there is no entity; empty where there is one.
    * ``timings``: milliseconds by stage. ``scopes``: those that were searched, of a `FederatedEngine`; else empty.
    """

    query: str
    ranking: str
    entities: tuple[FoundEntity, ...]
    analysis: Analysis
    as_of: datetime
    known_at: datetime
    found: int
    denied: Mapping[ElementKind, int]
    reason: str
    timings: Mapping[str, float] = attrs.field(eq=False)
    scopes: tuple[Scope, ...] = ()

    def __str__(self) -> str:
        rows = [
            (each.score, (entity_name(each.entity), each.entity.type, ", ".join(map(safe_text, each.connected_names))))
            for each in self.entities
        ]
        return print_listing(
            self.query,
            f"{self.ranking}, as of {self.as_of:%Y-%m-%d}",
            f"{len(self.entities)} of the {self.found} entities found",
            hidden(self.denied),
            head=("entity", "type", "connected with"),
            rows=rows,
            reason=self.reason,
        )
