"""What a caller of `GraphSearchEngine.rank_entities` can ask for."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs

from graphsearch.access.gate import Gate
from graphsearch.model import validation as check
from graphsearch.ranking.strategies import Ranking, RankingWeights


class RankOptions(TypedDict, total=False):
    """The options of `GraphSearchEngine.rank_entities`.

    * ``ranking``: a `Ranking`, and ``weights`` in place of those that it has.
    * ``limit``: how many entities to return; ``candidates``: of how many, those that the searches put first, the other
      factors are looked at.
    * ``min_score``: entities that score less are left out, in [0, 1].
    * ``diversity``: 1 − λ of maximal marginal relevance over names and descriptions, in [0, 1]; 0 is the order of the
      scores.
    * ``as_of`` and ``known_at``: the moment whose facts, and the moment whose knowledge, counts; the present if None.
    * ``gate``: who asks, which determines the visible elements; all are visible if None.
    """

    ranking: str
    weights: RankingWeights | None
    limit: int
    candidates: int
    min_score: float
    diversity: float
    as_of: datetime | None
    known_at: datetime | None
    gate: Gate | None


@attrs.frozen(kw_only=True)
class RankRequest:
    """One ranking of entities, checked: a query and its `RankOptions`, with their defaults."""

    query: str
    ranking: str = Ranking.QUESTION_AWARE
    weights: RankingWeights | None = None
    limit: int = 5
    candidates: int = 20
    min_score: float = 0.0
    diversity: float = 0.0
    as_of: datetime | None = None
    known_at: datetime | None = None
    gate: Gate | None = None

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "ranking",
            check.text("query", self.query, empty=True),
            check.one_of("ranking", self.ranking, tuple(map(str, Ranking))),
            check.number("limit", self.limit, 1),
            check.number("candidates", self.candidates, 1),
            check.unit("min_score", self.min_score),
            check.unit("diversity", self.diversity),
            check.instant("as_of", self.as_of),
            check.instant("known_at", self.known_at),
        )
