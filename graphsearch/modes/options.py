"""What a caller of `GraphSearchEngine.search` can ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from enum import StrEnum

import attrs

from graphsearch.access.reader import ReadingOptions, Request
from graphsearch.model import validation as check
from graphsearch.protocols import Traversal
from graphsearch.ranking.triplets.triplet_score import LEAST_SHOWN


class SearchMode(StrEnum):
    """The modes that graphsearch knows by name; `INSIGHTS` and `SUMMARIES` are other names of two of them."""

    GRAPH_COMPLETION = "graph_completion"
    TRIPLET_COMPLETION = "triplet_completion"
    NEIGHBORHOOD = "neighborhood"
    NATURAL_LANGUAGE = "natural_language"
    SUMMARY = "summary"
    INSIGHTS = "neighborhood"
    SUMMARIES = "summary"


@attrs.frozen(kw_only=True)
class SearchRequest(Request):
    """One search, checked.

    * ``mode``: a `SearchMode`, or the name of a mode of one's own.
    * ``seeds``: how many nearest entities to start from, and ``depth``: how many hops to go, 0 to 10; for modes that
      start from an embedding.
    * ``max_hops``: how many hops to go, 1 to 10; for modes that start from names.
    * ``since``: with it, what held at any moment from then to ``as_of`` counts, not only what held at ``as_of``.
    * ``min_edge_confidence``: relations less sure than this are left out, in [0, 1].
    * ``skip_types``: relations of these types are left out, in place of those of the types that the scope skips.
    * ``traversal``: "k_hop" or "pagerank" in place of the engine's traversal, or a `Traversal` of one's own.

    Results are triplets, and connections; those that score less than 1e-6 are left out. Modes that call a language
    model require a ``gate``: `ALLOW_ALL` if everything may be shown to it.
    """

    verb = "search"

    mode: str = SearchMode.GRAPH_COMPLETION
    seeds: int = 10
    depth: int = 2
    max_hops: int = 3
    since: datetime | None = None
    min_edge_confidence: float = 0.5
    skip_types: Collection[str] | None = None
    traversal: Traversal | str | None = None

    @property
    def floor(self) -> float:
        """The least score that is shown."""
        return max(self.min_score, LEAST_SHOWN)

    def reading(self) -> ReadingOptions:
        """What of it decides on the snapshot that answers it."""
        return {
            **super().reading(),
            "min_edge_confidence": self.min_edge_confidence,
            "skip_types": self.skip_types,
            "since": self.since,
        }

    def faults(self) -> Iterator[str | None]:
        """What is wrong with a search."""
        yield check.text("mode", self.mode)
        yield check.number("seeds", self.seeds, 1)
        yield check.number("depth", self.depth, 0, 10)
        yield check.number("max_hops", self.max_hops, 1, 10)
        yield check.window(self.since, self.as_of)
        yield check.unit("min_edge_confidence", self.min_edge_confidence)
        yield None if self.skip_types is None or _are_names(self.skip_types) else "skip_types must be names, in a list"


def _are_names(given: object) -> bool:
    return isinstance(given, list | tuple | set | frozenset) and all(isinstance(each, str) for each in given)
