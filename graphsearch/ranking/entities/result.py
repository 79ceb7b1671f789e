"""What a ranking of entities answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import attrs

from graphsearch.display.printing import Displayed, hidden, print_listing
from graphsearch.model import ElementKind, Entity, Scope, ScorePart
from graphsearch.question.analysis import Analysis
from graphsearch.ranking.entities.strategies import RankedEntity, Years
from graphsearch.ranking.fusion import Part
from graphsearch.text.rendering import entity_name, safe_text


@attrs.frozen(kw_only=True)
class FoundEntity:
    """An entity with its score in [0, 1], taken apart.

    ``ranked`` has the factors, which add up to its relevance, and the two parts of the score. ``channels`` has what
    the searches made of the original score: rank from 1, score, weight and contribution, by channel. ``scopes``: those
    that know it, in the answer of a `FederatedEngine`; else empty.
    """

    entity: Entity
    ranked: RankedEntity
    channels: Mapping[str, Part]
    scopes: tuple[Scope, ...] = ()

    @property
    def score(self) -> float:
        """(1 − φ) · relevance / best + φ · feedback."""
        return self.ranked.score

    @property
    def parts(self) -> tuple[ScorePart, ...]:
        """The parts that add up to the score: the factors, scaled, and feedback."""
        return self.ranked.parts

    @property
    def factors(self) -> tuple[ScorePart, ...]:
        """Value × weight = contribution, adding up to the relevance."""
        return self.ranked.factors

    @property
    def connections(self) -> int:
        """How many relations it has that may be seen (see `graphsearch.ranking.entities.ranker.connections`)."""
        return self.ranked.candidate.connections

    @property
    def connected_names(self) -> tuple[str, ...]:
        """At most ten names that it is connected with, by the most reliable relations first."""
        return self.ranked.connected_names

    @property
    def relation_types(self) -> tuple[str, ...]:
        """The types of its relations, the most frequent first."""
        return self.ranked.candidate.relation_types

    @property
    def dates(self) -> tuple[Years, ...]:
        """The periods that are known of it, in years."""
        return self.ranked.candidate.years


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
        return print_listing(
            self.query,
            f"{self.ranking}, as of {self.as_of:%Y-%m-%d}",
            f"{len(self.entities)} of the {self.found} entities found",
            hidden(self.denied),
            head=("entity", "type", "connected with"),
            rows=[(each.score, _described(each)) for each in self.entities],
            reason=self.reason,
        )


def _described(found: FoundEntity) -> tuple[str, str, str]:
    """Name, type, and the names that it is connected with."""
    return entity_name(found.entity), found.entity.type, ", ".join(map(safe_text, found.connected_names))
