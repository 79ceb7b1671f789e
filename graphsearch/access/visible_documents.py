"""The words of everything that somebody may see, and a cache of them from one question to the next."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.text.bm25 import TermCounts, grid

KEPT: Final = 50_000
"""Most texts whose words are in a cache, those of all principals together. More are read anew for each question."""


@attrs.frozen(eq=False)
class VisibleDocuments:
    """The statistics of BM25 over the visible texts of one kind of elements that have a term."""

    count: int
    average: float
    """The average length, as BM25 takes it."""
    containing: Mapping[str, Collection[int]]
    """The numbers of the documents that have a term."""

    @staticmethod
    def of(documents: Iterable[Mapping[str, float]]) -> VisibleDocuments:
        """Of the frequencies of each term of the texts."""
        filled = [each for each in documents if each]
        containing: defaultdict[str, set[int]] = defaultdict(set)
        for number, each in enumerate(filled):
            for term in each:
                containing[term].add(number)
        average = grid(sum(sum(each.values()) for each in filled) / max(len(filled), 1))
        return VisibleDocuments(len(filled), average, dict(containing))

    def having(self, group: Sequence[str]) -> int:
        """The number of documents that have all of some terms, of which there may be none."""
        if not group:
            return self.count
        return len(set.intersection(*(set(self.containing.get(term, ())) for term in group)))

    def counts(self, terms: Iterable[str]) -> TermCounts:
        """The numbers that the rarity of terms is computed from."""
        return TermCounts(self.count, {term: len(self.containing.get(term, ())) for term in terms}, self.average)


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
        if version != self._version or found.count > KEPT:
            return
        self._kept[shown] = found
        while sum(each.count for each in self._kept.values()) > KEPT:
            self._kept.popitem(last=False)
