"""The words that the lines of triplets share with a question: BM25 as a share of its greatest possible value."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats
from graphsearch.text.analyser import Analyser
from graphsearch.text.bm25 import K1, frequencies, saturated

KEPT: Final = 8_192
"""Most lines whose terms are cached: those of some hundred questions on different subjects."""


@attrs.frozen
class _Counts:
    """The terms of a line: their number, and the count of each by its hash in this process."""

    length: int
    by_hash: Mapping[int, int]

    def among(self, terms: Mapping[str, int]) -> dict[str, int]:
        """The counts of those of some terms that occur in the line; by term with its hash."""
        return {term: number for term, key in terms.items() if (number := self.by_hash.get(key))}


class LineTerms:
    """The terms of recently read lines, by hashes alone: no text is kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, _Counts] = OrderedDict()

    def counts(self, line: str, analyser: Analyser) -> _Counts:
        """The terms of a line."""
        key = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._kept.get(key)
        if known is None:
            found = frequencies(line, analyser)
            known = _Counts(sum(found.values()), {hash(term): number for term, number in found.items()})
            self._kept[key] = known
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return known


def coverage(
    lines: Sequence[str], rarity: Mapping[str, float], analyser: Analyser, kept: LineTerms | None = None
) -> Floats:
    """The share of a question's idf that each line covers, in [0, 1]: 1 has every term, in a line of average length.

    BM25 with its constant factor K1 + 1, so that one occurrence of a term in a line of average length counts in full.
    ``kept`` caches the terms of lines.
    """
    whole = sum(rarity.values())
    if not lines or not whole:
        return np.zeros(len(lines))
    known, hashes = kept or LineTerms(), {term: hash(term) for term in rarity}
    found = [known.counts(line, analyser) for line in lines]
    average = max(sum(each.length for each in found) / len(found), 1.0)
    shares = [_held(each.among(hashes), each.length, average, rarity) for each in found]
    return np.minimum((K1 + 1.0) * np.array(shares) / whole, 1.0)


def held(lines: Sequence[str], rarity: Mapping[str, float], analyser: Analyser, kept: LineTerms) -> Floats:
    """The share of some terms' idf that occurs in each line, in [0, 1], whatever its length; 0 without terms."""
    whole, hashes = sum(rarity.values()), {term: hash(term) for term in rarity}
    found = [kept.counts(line, analyser).among(hashes) for line in lines]
    return np.array([sum(rarity[term] for term in each) for each in found], np.float64) / (whole or 1.0)


def _held(counts: Mapping[str, int], length: int, average: float, rarity: Mapping[str, float]) -> float:
    return sum(rarity[term] * weight for term, weight in saturated(counts, length, average).items())
