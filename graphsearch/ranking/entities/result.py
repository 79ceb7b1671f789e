"""What a caller of `GraphSearchEngine.rank_entities` can ask for, and what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

import attrs

from graphsearch.access.reader import Request
from graphsearch.display.printing import Displayed, hidden, print_listing
from graphsearch.model import ElementKind, Entity, Scope, ScorePart
from graphsearch.model import validation as check
from graphsearch.question.analysis import Analysis
from graphsearch.ranking.scores import Part
from graphsearch.text.rendering import entity_name, safe_text

_SLACK: Final = 1e-9  # 0.1 + 0.2 + 0.7 exceeds 1 in floating point


class Ranking(StrEnum):
    """The rankings, by the factors they use in addition to the original score."""

    RRF = "rrf"
    """None."""
    CONNECTION = "connection"
    """The number of connections of an entity."""
    TEMPORAL = "temporal"
    """Connections, and whether it fits the requested years."""
    MULTI_FACTOR = "multi_factor"
    """These, and the share of the question in its texts."""
    QUESTION_AWARE = "question_aware"
    """These, and whether its type answers the type of question."""


@attrs.frozen(kw_only=True)
class RankingWeights:
    """The weights of the factors, in [0, 1], together at most 1; the original score has the rest."""

    connection: float = 0.0
    temporal: float = 0.0
    query_match: float = 0.0
    entity_type: float = 0.0

    def __attrs_post_init__(self) -> None:
        each = attrs.asdict(self)
        faults = [fault for name, value in each.items() if (fault := check.unit(name, value))]
        if not faults and (total := sum(each.values())) > 1.0 + _SLACK:
            faults = [f"the weights must add up to at most 1, not {total:g}"]
        check.refuse("ranking weights", *faults)

    @property
    def original(self) -> float:
        """The weight left by the others."""
        return max(0.0, 1.0 - self.connection - self.temporal - self.query_match - self.entity_type)


WEIGHTS: Final[Mapping[Ranking, RankingWeights]] = {
    Ranking.RRF: RankingWeights(),
    Ranking.CONNECTION: RankingWeights(connection=0.3),
    Ranking.TEMPORAL: RankingWeights(connection=0.2, temporal=0.3),
    Ranking.MULTI_FACTOR: RankingWeights(connection=0.15, temporal=0.25, query_match=0.25),
    Ranking.QUESTION_AWARE: RankingWeights(connection=0.15, temporal=0.20, query_match=0.20, entity_type=0.15),
}


def weights_for(ranking: Ranking, *, named: bool, dated: bool) -> RankingWeights:
    """The weights of a ranking for a question, by whether that names an entity, and a time.

    QUESTION_AWARE uses connections and the words of fields only if an entity is named: how well known an entity is does
    not indicate that it is the described one, and the original score contains its words already. Without a time all
    entities fit equally well, which orders nothing; the original score has that weight, so that connections and words
    do not gain on it.
    """
    weights = WEIGHTS[ranking]
    if ranking is not Ranking.QUESTION_AWARE:
        return weights
    if not named:
        weights = attrs.evolve(weights, connection=0.0, query_match=0.0)
    return weights if dated else attrs.evolve(weights, temporal=0.0)


@attrs.frozen(kw_only=True)
class RankRequest(Request):
    """One ranking of entities, checked.

    * ``ranking``: a `Ranking`, and ``weights`` in place of those that it has.
    * ``candidates``: of how many entities, those that the searches put first, the other factors are looked at.

    Results are entities; their ``diversity`` is that of names and descriptions.
    """

    verb = "ranking"

    limit: int = 5
    ranking: str = Ranking.QUESTION_AWARE
    weights: RankingWeights | None = None
    candidates: int = 20

    def faults(self) -> Iterator[str | None]:
        """What is wrong with a ranking."""
        yield check.one_of("ranking", self.ranking, tuple(map(str, Ranking)))
        yield check.number("candidates", self.candidates, 1)


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
    * ``connections``: how many relations it has that may be seen (see `graphsearch.ranking.entities.ranker`), with
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
