"""The bare cost of a search in memory, by numpy arrays alone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SEEDS: Final = 10
HOPS: Final = 2
FAN_OUT: Final = 25
FRONTIER: Final = 500

Rows = NDArray[np.int64]


class BareMemory:
    """Exact vector search and a bounded walk over a workload; each call takes the next question."""

    def __init__(self, workload: Any, questions: int) -> None:
        self._vectors = workload.vec
        self._questions = [vector.astype(np.float32) for _, vector, _ in workload.queries(questions)]
        self._asked = 0
        strength = np.random.default_rng(1).random(workload.m)
        self._sides = [
            _Side(workload.src, workload.dst, strength, workload.n),
            _Side(workload.dst, workload.src, strength, workload.n),
        ]

    def scan(self) -> Rows:
        """The ten nearest entities, nearest first."""
        question = self._questions[self._asked % len(self._questions)]
        self._asked += 1
        likeness = self._vectors @ question
        best = np.argpartition(-likeness, SEEDS)[:SEEDS]
        nearest: Rows = best[np.argsort(-likeness[best])]
        return nearest

    def search(self) -> Rows:
        """A scan, and the relations within two hops of its results."""
        frontier, relations = self.scan(), []
        for _ in range(HOPS):
            steps = [side.strongest(frontier) for side in self._sides]
            relations += [met for met, _ in steps]
            frontier = np.unique(np.concatenate([far for _, far in steps]))[:FRONTIER]
        return np.concatenate(relations)


class _Side:
    """Relations indexed by the entity at one of their ends, strongest first: compressed sparse rows."""

    def __init__(self, near: Rows, far: Rows, strength: NDArray[np.float64], entities: int) -> None:
        self._relations = np.lexsort((-strength, near))
        self._far = far[self._relations]
        self._first = np.searchsorted(near[self._relations], np.arange(entities + 1))

    def strongest(self, frontier: Rows) -> tuple[Rows, Rows]:
        """At most 25 relations per entity, and the entities at their other ends."""
        first = self._first[frontier]
        counts = np.minimum(self._first[frontier + 1] - first, FAN_OUT)
        places = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return self._relations[places], self._far[places]
