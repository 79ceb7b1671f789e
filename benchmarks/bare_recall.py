"""The bare cost of recalling memories: BM25 over an inverted index and cosines over a matrix, fused, in numpy alone."""

from __future__ import annotations

from collections import defaultdict
from itertools import cycle
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.conversations import Conversations
from graphsearch.text.analyser import ENGLISH

CANDIDATES: Final = 200
BEST: Final = 10
K1: Final = 1.2
B: Final = 0.75

Rows = NDArray[np.intp]
Scores = NDArray[np.float64]


class BareRecall:
    """Answers the questions of conversations one by one: no policies, time, graph, sessions, weights or texts."""

    def __init__(self, conversations: Conversations, questions: int) -> None:
        self._vectors = conversations.vec
        self._postings, self._size = _postings(conversations), len(conversations.memories)
        self._turn = cycle([(ENGLISH.terms(text), vector) for text, vector, _ in conversations.queries(questions)])

    def recall(self) -> Rows:
        """The rows of the ten best memories."""
        terms, vector = next(self._turn)
        scores = np.zeros(self._size)
        for channel in (self._bm25(terms), (self._vectors @ vector).astype(np.float64)):
            best = np.argpartition(-channel, min(CANDIDATES, self._size - 1))[:CANDIDATES]
            found = channel[best]
            scores[best] += (found - found.mean()) / (found.std() or 1.0)
        best = np.argpartition(-scores, min(BEST, self._size - 1))[:BEST]
        ordered: Rows = best[np.argsort(-scores[best], kind="stable")]
        return ordered

    def _bm25(self, terms: list[str]) -> Scores:
        scores = np.zeros(self._size)
        for term in terms:
            if term in self._postings:
                rows, impacts = self._postings[term]
                scores[rows] += impacts
        return scores


def _postings(conversations: Conversations) -> dict[str, tuple[Rows, Scores]]:
    """For each term the memories that contain it, and its contributions to their scores."""
    rows: defaultdict[str, list[int]] = defaultdict(list)
    counts: defaultdict[str, list[int]] = defaultdict(list)
    lengths = np.zeros(len(conversations.memories))
    for row, memory in enumerate(conversations.memories):
        terms = ENGLISH.terms(memory.text)
        lengths[row] = len(terms)
        for term in dict.fromkeys(terms):
            rows[term].append(row)
            counts[term].append(terms.count(term))
    norm = K1 * (1.0 - B + B * lengths / lengths.mean())
    size = len(lengths)
    return {
        term: (
            np.array(found, np.intp),
            np.log1p((size - len(found) + 0.5) / (len(found) + 0.5))
            * np.array(counts[term])
            / (np.array(counts[term]) + norm[found]),
        )
        for term, found in rows.items()
    }
