"""Exact search in memory: by vector over one matrix, by BM25 over postings."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from datetime import datetime
from heapq import nsmallest
from math import inf, sqrt
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch._support.concurrency import in_slices
from graphsearch.claims.naming import folded_name, refuse_limit, refuse_threshold, words_of
from graphsearch.columns import Floats, Hits, Keys, Mask
from graphsearch.model import ElementKind, NameMatch, SimilarName, SurfaceForm, Vector, View, validation
from graphsearch.protocols import Searching
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.in_memory.naming import NameIndex
from graphsearch.stores.in_memory.state import State
from graphsearch.stores.in_memory.tables import Rows, Table, hits, importances, table, visibility
from graphsearch.stores.shared.vectors import wrong_length
from graphsearch.text.bm25 import TermCounts, candidate_terms, dimension, grid, saturated

_NOISE = np.float32(1e-5)  # far above the error of a float32 product of unit vectors


@attrs.frozen(eq=False)
class Matrix:
    """The vectors of one kind, normalised: one matrix row per element that has one."""

    vectors: Vector
    rows: Rows
    """Table rows, ascending."""

    @classmethod
    def build(cls, table: Table, vectors: Mapping[Any, NDArray[np.float16]]) -> Matrix:
        """Of all vectors of a kind."""
        rows = np.sort(table.rows(vectors))
        if not len(rows):
            return cls(np.empty((0, 0), np.float32), rows)
        matrix = np.stack([vectors[table.ids[row]] for row in rows]).astype(np.float32)
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        return cls(matrix, rows)

    def of(self, table_rows: Rows) -> Vector:
        """The vectors of some table rows; zeros if missing. At least one vector must exist."""
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
    average: float
    """The length of documents that weights are computed by."""
    size: int
    """Table rows."""
    entries: Mapping[str, tuple[Rows, NDArray[np.float32]]]

    @classmethod
    def build(
        cls, table: Table, documents: Mapping[Any, Mapping[str, float]], average: float | None = None
    ) -> Postings:
        """Of all documents of a kind, by their average length unless another one is given."""
        lengths = {key: sum(document.values()) for key, document in documents.items()}
        average = average or grid(sum(lengths.values()) / max(len(lengths), 1))
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
        return cls(len(documents), average, len(table.ids), entries)

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

    def best(
        self, requested: Sequence[str], limit: int, visible: Mask | None, counts: TermCounts | None
    ) -> tuple[Rows, Floats]:
        """Table rows and BM25 scores of the best visible elements for a question's terms, ties by row.

        Sums are of float32, in the order of the terms' dimensions, as an inner product of sparse vectors adds up.
        """
        wanted = sorted({term for term in requested if term in self.entries}, key=dimension)
        known = counts or TermCounts(self.documents, {term: len(self.entries[term][0]) for term in wanted})
        scores = np.zeros(self.size, np.float32)
        for term in wanted:
            rows, weights = self.entries[term]
            scores[rows] += np.float32(known.idf(term)) * weights
        candidates = np.zeros(self.size, np.bool_)
        for term in candidate_terms({term: known.containing.get(term, 0) for term in wanted}, known.documents):
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


_NUMBER: Final = attrgetter("int")
"""Compares ids as numbers: the same order, but much faster than one by one in Python."""


class InMemorySearching(InMemoryScope, Searching):
    """Searches over indexes that the state caches while their inputs are unchanged."""

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        return await in_slices(_named(self._state, names))

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        state = self._state
        refuse_limit(limit)
        if not state.naming.index.words:
            return []
        return await in_slices(_worded(state, words, limit, prefix=prefix))

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        index = self._state.naming.index
        refuse_threshold(threshold, limit)
        if not index.similar:
            return {name: [] for name in names}
        return await in_slices(_all_similar(index, names, threshold, limit))

    async def surface_forms(
        self, entity_ids: Sequence[UUID], *, names: Sequence[str] | None = None, limit: int
    ) -> Sequence[SurfaceForm]:
        state = self._state
        refuse_limit(limit)
        wanted = None if names is None else set(map(folded_name, names))
        found: dict[tuple[UUID, str], set[str]] = {}
        originals = state.merging.originals
        for entity in set(entity_ids):
            moved = state.entities.items[entity].merged_into if entity in state.entities.items else None
            for memory in _mentioning(state, entity):
                for mention in originals[memory].mentions if moved else state.mentions[memory]:
                    if mention.entity_id == entity:
                        found.setdefault((entity, mention.surface), set()).add(memory)
        return [
            SurfaceForm(entity_id=entity, surface=surface, memory_ids=nsmallest(limit, memories))
            for (entity, surface), memories in sorted(found.items())
            if wanted is None or folded_name(surface) in wanted
        ]

    async def first_written(
        self, entity_ids: Sequence[UUID], *, limit: int
    ) -> Mapping[UUID, Sequence[tuple[datetime, str]]]:
        state = self._state
        refuse_limit(limit)
        found = {}
        for entity in set(entity_ids):
            memories = (state.memories.items[id_] for id_ in _mentioning(state, entity))
            written = ((memory.created_at, memory.id) for memory in memories if memory.created_at)
            if first := nsmallest(limit, written):
                found[entity] = first
        return found

    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        state, query = self._state, np.asarray(vector, np.float32)
        if query.ndim != 1 or (state.dimensions is not None and len(query) != state.dimensions):
            raise wrong_length(query.size, state.embedder, state.dimensions)
        norm = sqrt(query @ query)
        validation.refuse("query vector", None if 0.0 < norm < inf else "must be finite and not zero")
        matrix = await self._once(_matrix, kind)
        if not len(matrix.rows):
            return _hits(state, kind, matrix.rows, np.empty(0))
        seen = visibility(state, kind).filter(view)
        visible = seen and seen(matrix.rows)
        return _hits(state, kind, *matrix.nearest(query / norm, limit, visible))

    async def search_lexical(
        self, kind: ElementKind, query: str, *, limit: int, view: View, counts: TermCounts | None = None
    ) -> Hits:
        state = self._state
        postings = await self._once(_postings, kind)
        if counts and counts.average and counts.average != postings.average:
            postings = await self._once(_postings, kind, counts.average)
        seen = visibility(state, kind).filter(view)
        terms = state.analyser.terms(query)
        return _hits(state, kind, *postings.best(terms, limit, seen and seen(slice(None)), counts))

    async def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        state = self._state
        seen = (await self._once(visibility, ElementKind.ENTITY)).filter(view)
        rows = np.unique(table(state, ElementKind.ENTITY).rows(list(ids)))
        rows = rows if seen is None else rows[seen(rows)]
        return _hits(state, ElementKind.ENTITY, rows, np.zeros(len(rows)))

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        state, rows = self._state, np.asarray(keys, np.int64)
        matrix = await self._once(_matrix, kind)
        return matrix.of(rows) if len(matrix.rows) else np.zeros((len(rows), state.dimensions or 0), np.float32)

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        words = self._state.entities.words
        return {key: words[key] for key in ids if key in words}

    async def document_count(self, kind: ElementKind) -> int:
        return len(self._state.elements(kind).documents)

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        postings = await self._once(_postings, kind)
        return [postings.containing(group) for group in groups]


def _named(state: State, names: Iterable[str]) -> Generator[None, None, list[NameMatch]]:
    """The entities of each name, in steps."""
    own, found = state.entities.items, list[tuple[int, NameMatch]]()
    for place, name in enumerate(dict.fromkeys(names)):
        folded = folded_name(name)
        for entity in state.naming.index.entities.get(folded, ()):
            alias = folded != folded_name(own[entity].name)
            found.append((place, NameMatch(name=name, entity_id=entity, alias=alias)))
        yield
    return _by_entity(found)


def _worded(state: State, words: Iterable[str], limit: int, *, prefix: bool) -> Generator[None, None, list[NameMatch]]:
    """The entities with each word in a name, in steps."""
    index, own, found = state.naming.index, state.entities.items, list[tuple[int, NameMatch]]()
    for place, word in enumerate(dict.fromkeys(words)):
        there = list(index.starting_with(word)) if prefix and word else [word]
        entities = frozenset[UUID]().union(*(index.words.get(each, frozenset()) for each in there))
        spelt = set(there)
        for entity in nsmallest(limit, entities, key=_NUMBER):
            alias = bool(own[entity].aliases) and spelt.isdisjoint(words_of([own[entity].name]))
            found.append((place, NameMatch(name=word, entity_id=entity, alias=alias)))
        yield
    return _by_entity(found)


def _all_similar(
    index: NameIndex, names: Iterable[str], threshold: float, limit: int
) -> Generator[None, None, dict[str, list[SimilarName]]]:
    """The entities of names similar to each, in steps."""
    found: dict[str, list[SimilarName]] = {}
    for name in names:
        found[name] = _similar(index, folded_name(name), threshold)[:limit]
        yield
    return found


def _by_entity(found: Sequence[tuple[int, NameMatch]]) -> list[NameMatch]:
    """Matches in order of the entities' ids, then of their positions."""
    return [match for _, match in sorted(found, key=lambda each: (each[1].entity_id.int, each[0]))]


def _similar(index: NameIndex, folded: str, threshold: float) -> list[SimilarName]:
    best: dict[UUID, tuple[float, str]] = {}
    for name, score in sorted(index.like(folded, threshold), key=lambda each: (-each[1], each[0])):
        for entity in index.entities[name]:
            best.setdefault(entity, (score, name))
    found = [SimilarName(name=name, entity_id=entity, similarity=score) for entity, (score, name) in best.items()]
    return sorted(found, key=lambda each: (-each.similarity, each.entity_id))


def _matrix(state: State, kind: ElementKind) -> Matrix:
    return state.derive(Matrix.build, table(state, kind), state.elements(kind).vectors)


def _postings(state: State, kind: ElementKind, average: float | None = None) -> Postings:
    if average is not None:
        return Postings.build(table(state, kind), state.elements(kind).documents, average)
    return state.derive(Postings.build, table(state, kind), state.elements(kind).documents)


def _importance(state: State) -> Floats:
    return state.derive(importances, table(state, ElementKind.ENTITY))


def _mentioning(state: State, entity: UUID) -> Collection[str]:
    """The memories that mention an entity; of a merged one, those that mentioned it by its own id."""
    root, originals = entity, state.merging.originals
    while (known := state.entities.items.get(root)) and known.merged_into:
        root = known.merged_into
    memories = state.mentioned.get(root, ())
    if root == entity:
        return memories
    moved = ((id_, originals[id_].mentions) for id_ in memories if id_ in originals)
    return [id_ for id_, mentions in moved if any(each.entity_id == entity for each in mentions)]


def _hits(state: State, kind: ElementKind, rows: Rows, values: Floats) -> Hits:
    importance = state.once(_importance) if kind is ElementKind.ENTITY else None
    return hits(table(state, kind), rows, values, importance)
