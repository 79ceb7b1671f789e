"""Exact indexes over one kind of elements: vectors as one matrix, and postings for BM25."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Floats, Mask
from graphsearch.columns.key_index import occurring
from graphsearch.model import ElementKind, Vector
from graphsearch.stores.in_memory.state import State
from graphsearch.stores.in_memory.tables import Rows, Table, table
from graphsearch.text.bm25 import K1, TermCounts, candidate_terms, dimension, grid, normal_length

Scores = NDArray[np.float32]

_NOISE: Final = np.float32(1e-5)
"""Far above the error of a float32 product of unit vectors."""
_BLOCK: Final = 64


@attrs.frozen(eq=False)
class Matrix:
    """The vectors of one kind, normalised: one matrix row per element that has one."""

    vectors: Vector
    rows: Rows
    """Table rows, ascending."""
    _latest: list[Any] = attrs.field(factory=lambda: [None, None], init=False)
    """The last query and its products: a question may look for its nearest elements several times."""

    @classmethod
    def build(cls, table: Table, vectors: Mapping[Any, NDArray[np.float16]]) -> Matrix:
        """Of all vectors of a kind."""
        rows = table.rows(vectors)
        if not len(rows):
            return cls(np.empty((0, 0), np.float32), rows)
        matrix = np.stack([vectors[table.ids[row]] for row in rows.tolist()]).astype(np.float32)
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        return cls(matrix, rows)

    def of(self, table_rows: Rows) -> Vector:
        """The vectors of some table rows; zeros if missing. At least one vector must exist."""
        places = np.searchsorted(self.rows, table_rows).clip(max=len(self.rows) - 1)
        found = self.vectors.take(places, axis=0)
        found[self.rows.take(places) != table_rows] = 0.0
        return found

    def nearest(self, query: Vector, limit: int, seen: Mask | None) -> tuple[Rows, Floats]:
        """Table rows and cosine distances of the nearest elements seen, ties by row."""
        similarity = self._products(query)
        if seen is not None:
            similarity = np.where(seen.take(self.rows), similarity, np.float32(-np.inf))
        near = _best(similarity, limit, margin=_NOISE)
        # A product of a whole matrix sums equal rows in different orders; these few are summed alike, to expose ties.
        exact = np.einsum("ij,j->i", self.vectors[near], query.astype(np.float64))
        distance = np.minimum(np.maximum(1.0 - exact, 0.0), 2.0)
        order = np.argsort(distance, kind="stable")[:limit]
        return self.rows[near[order]], distance[order]

    def _products(self, query: Vector) -> Scores:
        latest, products = self._latest
        if latest is None or not np.array_equal(latest, query):
            products = self.vectors @ query
            self._latest[:] = query, products
        found: Scores = products
        return found


@attrs.frozen(eq=False)
class Postings:
    """The documents of one kind: for each term, the table rows that contain it, ascending, and its weight there."""

    documents: int
    average: float
    """The length of documents that weights are computed by."""
    size: int
    """Table rows."""
    terms: Mapping[str, int]
    """Numbers from 0, in order of the terms' dimensions."""
    pointers: Rows
    """The entries of term t are ``[pointers[t], pointers[t + 1])``."""
    rows: NDArray[np.int32]
    weights: Scores

    @classmethod
    def build(
        cls, table: Table, documents: Mapping[Any, Mapping[str, float]], average: float | None = None
    ) -> Postings:
        """Of all documents of a kind, by their average length unless another one is given."""
        of_document = table.rows(documents).astype(np.int32)
        found = [documents[table.ids[row]] for row in of_document.tolist()]
        terms = {term: number for number, term in enumerate(sorted({*chain.from_iterable(found)}, key=dimension))}
        sizes = np.fromiter(map(len, found), np.int64, len(found))
        size = int(sizes.sum())
        term = np.fromiter(map(terms.__getitem__, chain.from_iterable(found)), np.int32, size)
        often = np.fromiter(chain.from_iterable(each.values() for each in found), np.float64, size)
        document = np.repeat(np.arange(len(found), dtype=np.int32), sizes)
        lengths: Floats = np.bincount(document, often, len(found)).astype(np.float64)
        average = average or grid(float(lengths.sum()) / max(len(found), 1))
        normal = K1 * normal_length(lengths, average)
        order = np.argsort(term, kind="stable")
        return cls(
            documents=len(found),
            average=average,
            size=len(table.ids),
            terms=terms,
            pointers=np.concatenate(([0], np.bincount(term, minlength=len(terms)).cumsum())),
            rows=of_document.take(document).take(order),
            weights=(often / (often + normal.take(document))).astype(np.float32).take(order),
        )

    def containing(self, terms: Sequence[str]) -> int:
        """The number of documents that contain all of some terms."""
        if not terms:
            return self.documents
        if not all(term in self.terms for term in terms):
            return 0
        rarest, *others = sorted((self.rows[self._entries(term)] for term in set(terms)), key=len)
        for rows in others:
            rarest = np.intersect1d(rarest, rows, assume_unique=True)
        return len(rarest)

    def best(
        self, requested: Sequence[str], limit: int, seen: Mask | None, counts: TermCounts | None
    ) -> tuple[Rows, Floats]:
        """Table rows and BM25 scores of the best elements seen for a question's terms, ties by row.

        Sums are of float32, in the order of the terms' dimensions, as an inner product of sparse vectors adds up. Only
        rows that have a term which selects candidates are touched.
        """
        wanted = sorted({term for term in requested if term in self.terms}, key=self.terms.__getitem__)
        entries = {term: self._entries(term) for term in wanted}
        known = counts or TermCounts(self.documents, {term: at.stop - at.start for term, at in entries.items()})
        selecting = candidate_terms({term: known.containing.get(term, 0) for term in wanted}, known.documents)
        if not selecting:
            return np.empty(0, np.int64), np.empty(0)
        rows = occurring(np.concatenate([self.rows[entries[term]] for term in selecting]), self.size)
        if seen is not None:
            rows = rows[seen.take(rows)]
        scores = np.zeros(self.size, np.float32)
        for term, at in entries.items():
            theirs, weights = self.rows[at], self.weights[at]
            if len(theirs) > _BLOCK * len(rows):
                places = np.searchsorted(theirs, rows).clip(max=len(theirs) - 1)
                places = places[theirs.take(places) == rows]
                theirs, weights = theirs.take(places), weights.take(places)
            scores[theirs] += np.float32(known.idf(term)) * weights
        scores = scores.take(rows)
        top = _best(scores, limit, margin=np.float32(0.0))
        order = np.argsort(-scores[top], kind="stable")[:limit]
        return rows[top[order]].astype(np.int64), scores[top[order]].astype(np.float64)

    def _entries(self, term: str) -> slice:
        number = self.terms[term]
        return slice(int(self.pointers[number]), int(self.pointers[number + 1]))


def _best(scores: Scores, limit: int, *, margin: np.float32) -> Rows:
    """The rows of the greatest finite scores, in order of row: all that may be among the first ``limit``."""
    if limit <= 0:
        return np.empty(0, np.int64)
    if limit < len(scores):
        few = scores
        if (blocks := len(scores) // _BLOCK) > 8 * limit:  # so many blocks have their greatest score at least here
            tops = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
            few = scores[scores >= np.partition(tops, blocks - limit)[blocks - limit]]
        least = np.partition(few, len(few) - limit)[len(few) - limit]
        if least > -np.inf:
            best: Rows = (scores >= least - margin).nonzero()[0]
            return best
    return np.flatnonzero(np.isfinite(scores))


# -- of a state ---------------------------------------------------------------------------------------------------


def matrix(state: State, kind: ElementKind) -> Matrix:
    """The vectors of a kind."""
    return state.derive(Matrix.build, table(state, kind), state.elements(kind).vectors)


def postings(state: State, kind: ElementKind, average: float | None = None) -> Postings:
    """The documents of a kind; by an average length in place of theirs if one is given."""
    if average is not None:
        return Postings.build(table(state, kind), state.elements(kind).documents, average)
    return state.derive(Postings.build, table(state, kind), state.elements(kind).documents)
