"""The words of everything that somebody may see, and a cache of them from one question to the next."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np

from graphsearch.columns import Floats
from graphsearch.text.bm25 import TermCounts, grid, saturated

KEPT: Final = 50_000
"""Most texts in a cache, those of all principals together. More are read anew for each question."""

Document = Mapping[str, float]
"""The frequency of each term of a text."""


@attrs.frozen(eq=False, slots=False)
class VisibleDocuments:
    """The visible texts of one kind of elements, by id, and the statistics of BM25 over those that have a term."""

    by_id: Mapping[Any, Document]

    @cached_property
    def count(self) -> int:
        """The number of documents with a term."""
        return sum(map(bool, self.by_id.values()))

    @cached_property
    def _containing(self) -> Mapping[str, int]:
        """The number of documents by term."""
        return Counter(term for each in self.by_id.values() for term in each)

    @cached_property
    def _average(self) -> float:
        """The average length of documents, as BM25 takes it."""
        return grid(sum(sum(each.values()) for each in self.by_id.values()) / max(self.count, 1))

    def having(self, group: Sequence[str]) -> int:
        """The number of documents that have all of some terms, of which there may be none."""
        if len(group) == 1:
            return self._containing.get(group[0], 0)
        wanted = set(group)
        return sum(wanted <= each.keys() for each in self.by_id.values() if each)

    def scores(self, documents: Sequence[Document], terms: Sequence[str], counts: TermCounts | None = None) -> Floats:
        """The BM25 of some of the documents for the terms of a question; NaN for those that have none of them.

        ``counts`` replace those of the documents.
        """
        known = counts or TermCounts(self.count, self._containing)
        rarity = {term: known.idf(term) for term in dict.fromkeys(terms)}
        values = []
        for each in documents:
            wanted = {term: each[term] for term in rarity if term in each}
            weights = saturated(wanted, sum(each.values()), self._average) if wanted else {}
            values.append(sum(rarity[term] * weight for term, weight in weights.items()) if weights else np.nan)
        return np.array(values, np.float64)


class DocumentCache:
    """What principals may see of one scope at its latest version.

    Another version replaces all of it: nothing forgotten survives the next question. Cached are the answers of gates
    that know what determines their decisions (`BoundGate.question`), unless a decision failed.
    """

    def __init__(self) -> None:
        self._version: Hashable = None
        self._kept: OrderedDict[Hashable, VisibleDocuments] = OrderedDict()

    def known(self, shown: Hashable, version: Hashable) -> VisibleDocuments | None:
        """What was kept for a gate and a kind, at this version."""
        if version != self._version:
            self._kept.clear()
            self._version = version
        if shown in self._kept:
            self._kept.move_to_end(shown)
        return self._kept.get(shown)

    def keep(self, shown: Hashable, version: Hashable, found: VisibleDocuments) -> None:
        """Keep what was read at a version, unless a question has met another version since; drop the least used."""
        if version != self._version or len(found.by_id) > KEPT:
            return
        self._kept[shown] = found
        while sum(len(each.by_id) for each in self._kept.values()) > KEPT:
            self._kept.popitem(last=False)
