"""Plain BM25 over texts: the baseline that any search must beat.

Robertson and Zaragoza (2009) with Lucene's idf, k1 1.2 and b 0.75, as in `graphsearch.text.bm25`. Unlike the
search of a store it uses the exact average length, since its texts never change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from graphsearch.columns import Mask
from graphsearch.text.analyser import ENGLISH, Analyser
from graphsearch.text.bm25 import frequencies, idf, saturated


class PlainBM25:
    """Ranks the rows of a list of texts for a question; ``analyser`` splits texts and questions into terms."""

    def __init__(self, texts: Sequence[str], *, analyser: Analyser = ENGLISH) -> None:
        self._analyser = analyser
        self._count = len(texts)
        counted = [frequencies(text, analyser) for text in texts]
        lengths = [sum(each.values()) for each in counted]
        average = max(sum(lengths) / max(len(lengths), 1), 1.0)
        self._postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for row, (counts, length) in enumerate(zip(counted, lengths, strict=True)):
            for term, weight in saturated(counts, length, average).items():
                self._postings[term].append((row, weight))

    def rank(self, question: str, *, limit: int, among: Mask | None = None) -> list[int]:
        """The rows that share a term with the question, best first, ties by row; at most ``limit``.

        ``among`` marks the rows that may be ranked, one value for each text. Statistics are of all texts.
        """
        scores = np.zeros(self._count)
        for term in dict.fromkeys(self._analyser.terms(question)):
            if found := self._postings.get(term):
                rows, weights = zip(*found, strict=True)
                scores[list(rows)] += idf(self._count, len(rows)) * np.array(weights)
        if among is not None:
            scores[~among] = 0.0
        order = np.argsort(-scores, kind="stable")[:limit]
        return [int(row) for row in order if scores[row] > 0.0]
