"""What a caller of `GraphSearchEngine.rank_entities` can ask for: the ranking, its weights, and the options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.access.request import Request
from graphsearch.model import validation as check

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
