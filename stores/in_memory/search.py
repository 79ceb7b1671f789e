"""Exact search in memory: by vector over one matrix, by BM25 over postings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Floats, Mask
from graphsearch.model import Vector
from graphsearch.stores.in_memory.index import Rows, Table
from graphsearch.text.bm25 import candidate_terms, dimension, grid, idf, saturated

_NOISE = np.float32(1e-5)  # far above the error of a float32 product of unit vectors


@attrs.frozen(eq=False)
class Matrix:
    """The vectors of one kind, normalised: one matrix row per element that has one."""

    vectors: Vector
    rows: Rows
    """Table rows, ascending."""
    every: bool
    """Whether every element of the table has a vector."""

    @classmethod
    def build(cls, table: Table, vectors: Mapping[Any, NDArray[np.float16]]) -> Matrix:
        """Of all vectors of a kind."""
        rows = np.sort(table.rows(vectors))
        if not len(rows):
            return cls(np.empty((0, 0), np.float32), rows, every=False)
        matrix = np.stack([vectors[table.ids[row]] for row in rows]).astype(np.float32)
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        return cls(matrix, rows, every=len(rows) == len(table.ids))

    def of(self, table_rows: Rows) -> Vector:
        """The vectors of some table rows; zeros if missing. At least one vector must exist."""
        if self.every:
            return self.vectors[table_rows]
        found = np.zeros((len(table_rows), self.vectors.shape[1]), np.float32)
        places = np.searchsorted(self.rows, table_rows).clip(max=len(self.rows) - 1)
        there = self.rows[places] == table_rows
        found[there] = self.vectors[places[there]]
        return found

    def nearest(self, query: Vector, limit: int, visible: Mask | None) -> tuple[Rows, Floats]:
        """Table rows and cosine distances of the nearest visible elements, ties by row."""
        similarity = self.vectors @ query
        if visible is not None:
            similarity[~visible] = -np.inf
        near = _best(similarity, limit, margin=_NOISE)
        # A product of a whole matrix sums equal rows in different orders; these few are summed alike, to expose ties.
        exact = np.einsum("ij,j->i", self.vectors[near], query.astype(np.float64))
        distance = np.minimum(np.maximum(1.0 - exact, 0.0), 2.0)
        order = np.lexsort((near, distance))[:limit]
        return self.rows[near[order]], distance[order]


@attrs.frozen(eq=False)
class Postings:
    """The documents of one kind: for each term, the table rows that contain it and its weight there."""

    documents: int
    size: int
    """Table rows."""
    entries: Mapping[str, tuple[Rows, NDArray[np.float32]]]

    @classmethod
    def build(cls, table: Table, documents: Mapping[Any, Mapping[str, float]]) -> Postings:
        """Of all documents of a kind."""
        lengths = {key: sum(document.values()) for key, document in documents.items()}
        average = grid(sum(lengths.values()) / max(len(lengths), 1))
        found: dict[str, tuple[list[int], list[float]]] = {}
        for row in np.sort(table.rows(documents)).tolist():
            key = table.ids[row]
            for term, weight in saturated(documents[key], lengths[key], average).items():
                rows, weights = found.setdefault(term, ([], []))
                rows.append(row)
                weights.append(weight)
        entries = {
            term: (np.array(rows, np.int64), np.array(weights, np.float32)) for term, (rows, weights) in found.items()
        }
        return cls(len(documents), len(table.ids), entries)

    def containing(self, terms: Sequence[str]) -> int:
        """The number of documents that contain all of some terms."""
        if not terms:
            return self.documents
        if not all(term in self.entries for term in terms):
            return 0
        rarest, *others = sorted((self.entries[term][0] for term in set(terms)), key=len)
        for rows in others:
            rarest = np.intersect1d(rarest, rows, assume_unique=True)
        return len(rarest)

    def best(self, requested: Sequence[str], limit: int, visible: Mask | None) -> tuple[Rows, Floats]:
        """Table rows and BM25 scores of the best visible elements for a question's terms, ties by row.

        Sums are of float32, in the order of the terms' dimensions, as an inner product of sparse vectors adds up.
        """
        wanted = sorted({term for term in requested if term in self.entries}, key=dimension)
        containing = {term: len(self.entries[term][0]) for term in wanted}
        scores = np.zeros(self.size, np.float32)
        for term in wanted:
            rows, weights = self.entries[term]
            scores[rows] += np.float32(idf(self.documents, containing[term])) * weights
        candidates = np.zeros(self.size, np.bool_)
        for term in candidate_terms(containing, self.documents):
            candidates[self.entries[term][0]] = True
        if visible is not None:
            candidates &= visible
        (rows,) = candidates.nonzero()
        scores = scores[rows]
        top = _best(scores, limit, margin=np.float32(0.0))
        order = np.lexsort((top, -scores[top]))[:limit]
        return rows[top[order]], scores[top[order]].astype(np.float64)


def _best(scores: NDArray[np.float32], limit: int, *, margin: np.float32) -> Rows:
    """The rows of the greatest finite scores, unordered: all that may be among the first ``limit``."""
    if limit <= 0:
        return np.empty(0, np.int64)
    if limit < len(scores):
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        if least > -np.inf:
            best: Rows = (scores >= least - margin).nonzero()[0]
            return best
    return np.flatnonzero(np.isfinite(scores))
