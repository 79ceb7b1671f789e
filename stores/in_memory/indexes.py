"""Exact indexes over one kind of elements: vectors as one matrix, and postings for BM25."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Floats, Mask
from graphsearch.columns.key_index import occurring
from graphsearch.model import ElementKind, Vector
from graphsearch.stores.in_memory.columns import Listing, Rows, fresh_rows, listing, sorted_rows
from graphsearch.stores.in_memory.versions import Former, Version, made_of
from graphsearch.text.analyser import Analyser, plain_identifiers
from graphsearch.text.bm25 import (
    K1,
    TermCounts,
    candidate_terms,
    dimension,
    document,
    grid,
    normal_length,
    searchable_text,
)

Scores = NDArray[np.float32]

_NOISE: Final = np.float32(1e-5)
"""Far above the error of a float32 product of unit vectors."""
_BLOCK: Final = 64
_PLAIN: Final = 10_000
"""Characters of a text that has certainly not too many terms (`frequencies`)."""


@attrs.frozen(eq=False)
class Matrix:
    """The vectors of one kind, normalised: one matrix row per element that has one."""

    vectors: Vector
    rows: Rows
    """Their rows among the elements, ascending."""
    of: Rows
    """The marks of their keys."""
    _latest: list[Any] = attrs.field(factory=lambda: [None, None], init=False)
    """The last query and its products: a question may look for its nearest elements several times."""

    def take(self, rows: Rows) -> Vector:
        """The vectors of some elements; zeros if missing. At least one vector must exist."""
        places = np.searchsorted(self.rows, rows).clip(max=len(self.rows) - 1)
        found = self.vectors.take(places, axis=0)
        found[self.rows.take(places) != rows] = 0.0
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


@made_of("{}", "{}_vector")
def matrix(version: Version, kind: str, former: Former[Matrix] | None) -> Matrix:
    """The vectors of a kind."""
    vectors = f"{kind}_vector"
    keys = version.made(listing, vectors)
    rows = version.made(listing, kind).rows(keys.ids)
    if former is not None:
        changed = former.changed(vectors)
        if not len(changed):
            return Matrix(former.value.vectors, rows, keys.marks)
        origins = keys.origins(former.value.of, changed)
        if fresh := fresh_rows(keys, origins):  # not most: another model replaces all
            every = former.value.vectors.take(origins, axis=0)
            every[origins < 0] = _normal([row.value for row in version.some(vectors, fresh)])
            return Matrix(every, rows, keys.marks)
    return Matrix(_normal([row.value for row in version.some(vectors, keys.ids)]), rows, keys.marks)


def _normal(vectors: Sequence[Any]) -> Vector:
    if not vectors:
        return np.empty((0, 0), np.float32)
    every = np.stack(vectors).astype(np.float32)
    every /= np.linalg.norm(every, axis=1, keepdims=True)
    return every


# -- texts ------------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Texts:
    """The terms of elements: those of the row r are ``[pointers[r], pointers[r + 1])``."""

    of: Rows
    """The marks of their keys."""
    numbers: Mapping[int, int]
    """By the hash of a term: no word of what is forgotten stays here until it is brought up to date."""
    pointers: Rows
    terms: NDArray[np.int32]
    often: NDArray[np.float32]

    def take(self, rows: Rows) -> tuple[Rows, NDArray[np.int32], NDArray[np.float32]]:
        """The number of terms of some rows, and these with their frequencies."""
        begin, sizes = self.pointers.take(rows), np.diff(self.pointers).take(rows)
        places = np.repeat(begin - sizes.cumsum() + sizes, sizes) + np.arange(sizes.sum())
        return sizes, self.terms.take(places), self.often.take(places)


@made_of("{}", "words")
def texts(version: Version, kind: str, former: Former[Texts] | None) -> Texts:
    """The terms of all elements of a kind."""
    keys = version.made(listing, kind)
    worded = kind == ElementKind.ENTITY and version.size("words") > 0
    if former is not None and former.value.terms.size:
        changed = former.changed(kind, "words") if kind == ElementKind.ENTITY else former.changed(kind)
        origins = keys.origins(former.value.of, changed)
        if (fresh := fresh_rows(keys, origins)) is not None:
            known, kept = dict(former.value.numbers), np.flatnonzero(origins >= 0)
            words = {row.key: row for row in version.some("words", fresh)} if worded else {}
            new = _analysed(kind, version.some(kind, fresh), words, version.analyser, known)
            old = former.value.take(origins.take(kept))
            return _compact(_joined(keys, known, (kept, *old), (np.flatnonzero(origins < 0), *new)))
    known, every = {}, version.made(sorted_rows, kind)
    found = _analysed(kind, every, version.all("words") if worded else {}, version.analyser, known)
    return _joined(keys, known, (np.arange(len(keys.ids)), *found))


def _analysed(
    kind: str, stored: Sequence[Any], words: Mapping[Any, Any], analyser: Analyser, numbers: dict[int, int]
) -> tuple[Rows, NDArray[np.int32], NDArray[np.float32]]:
    """The number of terms of each element, and these with their frequencies; new terms get the next numbers."""
    rows, terms, often = list[int](), list[int](), list[float]()
    sizes, plain = np.zeros(len(stored), np.int64), list[int]()
    known: dict[str, tuple[int, ...]] = {}
    number = numbers.setdefault
    for row, each in enumerate(stored):
        text, own = searchable_text(getattr(each, kind)), words.get(each.key) if words else None
        found = None if own or len(text) > _PLAIN else plain_identifiers(text)
        if found is not None:  # most texts: each identifier is analysed once
            before = len(plain)
            for identifier in found:
                if (theirs := known.get(identifier)) is None:
                    every = analyser.terms(identifier)
                    theirs = known[identifier] = tuple(number(hash(term), len(numbers)) for term in every)
                plain += theirs
            sizes[row] = len(plain) - before
        else:
            counts = document(text, own.value if own else {}, analyser)
            terms += [number(hash(term), len(numbers)) for term in counts]
            often += counts.values()
            rows += [row] * len(counts)
    pairs, times = np.unique(
        np.repeat(np.arange(len(stored)), sizes) * (len(numbers) + 1) + np.array(plain, np.int64), return_counts=True
    )
    row_of, term_of = np.divmod(pairs, len(numbers) + 1)
    order = np.argsort(every_row := np.concatenate([row_of, np.array(rows, np.int64)]), kind="stable")
    return (
        np.bincount(every_row, minlength=len(stored)),
        np.concatenate([term_of, np.array(terms, np.int64)]).astype(np.int32).take(order),
        np.concatenate([times, np.array(often, np.float64)]).astype(np.float32).take(order),
    )


def _joined(keys: Listing, numbers: Mapping[int, int], *parts: tuple[Rows, Rows, Any, Any]) -> Texts:
    """Texts of parts, each with its rows, their numbers of terms, and these with their frequencies."""
    rows, sizes, terms, often = (np.concatenate(each) for each in zip(*parts, strict=True))
    every = np.zeros(len(keys.ids), np.int64)
    every[rows] = sizes
    if len(parts) > 1:
        order = np.argsort(np.repeat(rows, sizes), kind="stable")
        terms, often = terms.take(order), often.take(order)
    return Texts(keys.marks, numbers, np.concatenate(([0], every.cumsum())), terms, often)


def _compact(found: Texts) -> Texts:
    """Without the terms that no text has any more."""
    there = np.bincount(found.terms, minlength=len(found.numbers)) > 0
    if there.all():
        return found
    new = np.cumsum(there) - 1
    used = there.tolist()
    numbers = {term: int(new[number]) for term, number in found.numbers.items() if used[number]}
    return attrs.evolve(found, numbers=numbers, terms=new.take(found.terms).astype(np.int32))


@attrs.frozen(eq=False)
class Postings:
    """The documents of one kind: for each term, the rows that contain it, ascending, and its weight there."""

    documents: int
    average: float
    size: int
    terms: Mapping[int, int]
    """Their numbers by the hash of a term."""
    pointers: Rows
    rows: NDArray[np.int32]
    weights: Scores

    @classmethod
    def build(cls, found: Texts, average: float | None = None) -> Postings:
        """The postings of texts; by an average length in place of theirs if one is given."""
        sizes = np.diff(found.pointers)
        documents = int(np.count_nonzero(sizes))
        row = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        lengths: Floats = np.bincount(row, found.often, len(sizes)).astype(np.float64)
        average = average or grid(float(lengths.sum()) / max(documents, 1))
        normal = K1 * normal_length(lengths, average)
        order = np.argsort(found.terms, kind="stable")
        often = found.often.astype(np.float64)
        return cls(
            documents=documents,
            average=average,
            size=len(sizes),
            terms=found.numbers,
            pointers=np.concatenate(([0], np.bincount(found.terms, minlength=len(found.numbers)).cumsum())),
            rows=row.take(order),
            weights=(often / (often + normal.take(row))).astype(np.float32).take(order),
        )

    def containing(self, terms: Sequence[str]) -> int:
        """The number of documents that contain all of some terms."""
        if not terms:
            return self.documents
        if not all(hash(term) in self.terms for term in terms):
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
        wanted = sorted({term for term in requested if hash(term) in self.terms}, key=dimension)
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
        number = self.terms[hash(term)]
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


@made_of("{}", "words", lasts=False)
def postings(version: Version, kind: str, average: float | None) -> Postings:
    """The documents of a kind; by an average length in place of theirs if one is given."""
    return Postings.build(version.made(texts, kind), average)
