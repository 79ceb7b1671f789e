"""What a caller of `GraphSearchEngine.search` can ask for."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import TypedDict

import attrs

from graphsearch.access.gate import Gate
from graphsearch.model import validation as check
from graphsearch.protocols import Traversal
from graphsearch.scoring.triplet_score import LEAST_SHOWN


class SearchMode(StrEnum):
    """The modes that graphsearch knows by name; `INSIGHTS` and `SUMMARIES` are other names of two of them."""

    GRAPH_COMPLETION = "graph_completion"
    TRIPLET_COMPLETION = "triplet_completion"
    NEIGHBORHOOD = "neighborhood"
    NATURAL_LANGUAGE = "natural_language"
    SUMMARY = "summary"
    INSIGHTS = "neighborhood"
    SUMMARIES = "summary"


class UngatedSearchOptions(TypedDict, total=False):
    """The options of `SearchOptions` except for the gate."""

    mode: str
    seeds: int
    limit: int
    depth: int
    max_hops: int
    as_of: datetime | None
    since: datetime | None
    known_at: datetime | None
    min_edge_confidence: float
    skip_types: Collection[str] | None
    min_score: float
    diversity: float
    traversal: Traversal | str | None


class SearchOptions(UngatedSearchOptions, total=False):
    """The options of `GraphSearchEngine.search`.

    * ``mode``: a `SearchMode`, or the name of a mode of one's own.
    * ``seeds``: how many nearest entities to start from, and ``depth``: how many hops to go, 0 to 10; for modes that
      start from an embedding.
    * ``max_hops``: how many hops to go, 1 to 10; for modes that start from names.
    * ``limit``: how many triplets to return.
    * ``as_of`` and ``known_at``: the moment whose facts, and the moment whose knowledge, counts; the present if None.
    * ``since``: with it, what held at any moment from then to ``as_of`` counts, not only what held at ``as_of``.
    * ``min_edge_confidence``: relations less sure than this are left out, in [0, 1].
    * ``skip_types``: relations of these types are left out, in place of those of the types that the scope skips.
    * ``min_score``: the relevance floor, in [0, 1]; triplets and connections below it, or below 1e-6, are left out.
    * ``diversity``: 1 − λ of maximal marginal relevance over the lines of triplets, in [0, 1]; 0 is the order of the
      scores.
    * ``traversal``: "k_hop" or "pagerank" in place of the engine's traversal, or a `Traversal` of one's own.
    * ``gate``: who asks, which determines the visible elements; all are visible if None. Modes that call a language
      model require one: `ALLOW_ALL` if everything may be shown to it.
    """

    gate: Gate | None


@attrs.frozen(kw_only=True)
class SearchRequest:
    """One search, checked: a query and its `SearchOptions`, with their defaults."""

    query: str
    mode: str = SearchMode.GRAPH_COMPLETION
    seeds: int = 10
    limit: int = 10
    depth: int = 2
    max_hops: int = 3
    as_of: datetime | None = None
    since: datetime | None = None
    known_at: datetime | None = None
    min_edge_confidence: float = 0.5
    skip_types: Collection[str] | None = None
    min_score: float = 0.0
    diversity: float = 0.0
    traversal: Traversal | str | None = None
    gate: Gate | None = None

    @property
    def floor(self) -> float:
        """The least score that is shown."""
        return max(self.min_score, LEAST_SHOWN)

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "search",
            check.text("query", self.query, empty=True, longest=check.LONGEST_QUESTION),
            check.text("mode", self.mode),
            check.number("seeds", self.seeds, 1),
            check.number("limit", self.limit, 1),
            check.number("depth", self.depth, 0, 10),
            check.number("max_hops", self.max_hops, 1, 10),
            check.instant("as_of", self.as_of),
            check.window(self.since, self.as_of),
            check.instant("known_at", self.known_at),
            check.unit("min_edge_confidence", self.min_edge_confidence),
            None if self.skip_types is None or _are_names(self.skip_types) else "skip_types must be names, in a list",
            check.unit("min_score", self.min_score),
            check.unit("diversity", self.diversity),
        )


def _are_names(given: object) -> bool:
    return isinstance(given, list | tuple | set | frozenset) and all(isinstance(each, str) for each in given)
