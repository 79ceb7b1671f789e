"""Exact searches in memory: by name, by text over postings, by vector over one matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from math import inf, sqrt
from operator import attrgetter
from typing import Final
from uuid import UUID

import numpy as np

from graphsearch.claims.naming import folded_name, refuse_limit, refuse_threshold, words_of
from graphsearch.columns import Floats, Hits, Keys
from graphsearch.model import ElementKind, NameMatch, SimilarName, SurfaceForm, Vector, View, validation
from graphsearch.protocols import Searching
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.in_memory.check import wrong_vector
from graphsearch.stores.in_memory.derived import table, visibility
from graphsearch.stores.in_memory.index import Rows, hits, importances
from graphsearch.stores.in_memory.name_index import NameIndex
from graphsearch.stores.in_memory.search import Matrix, Postings
from graphsearch.stores.in_memory.state import State

_NUMBER: Final = attrgetter("int")
"""Compares ids as numbers: the same order, but much faster than one by one in Python."""


class InMemorySearching(InMemoryScope, Searching):
    """Searches over indexes that the state caches while their inputs are unchanged."""

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        state = self._state
        own = state.entities.items
        found = [
            (place, NameMatch(name=name, entity_id=entity, alias=folded != folded_name(own[entity].name)))
            for place, name in enumerate(dict.fromkeys(names))
            for folded in [folded_name(name)]
            for entity in state.naming.index.entities.get(folded, ())
        ]
        return _by_entity(found)

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        state = self._state
        refuse_limit(limit)
        index, own = state.naming.index, state.entities.items
        found: list[tuple[int, NameMatch]] = []
        for place, word in enumerate(dict.fromkeys(words)):
            there = list(index.starting_with(word)) if prefix and word else [word]
            entities = frozenset[UUID]().union(*(index.words.get(each, frozenset()) for each in there))
            spelt = set(there)
            found += [
                (place, NameMatch(name=word, entity_id=entity, alias=alias))
                for entity in nsmallest(limit, entities, key=_NUMBER)
                for alias in [bool(own[entity].aliases) and spelt.isdisjoint(words_of([own[entity].name]))]
            ]
        return _by_entity(found)

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        index = self._state.naming.index
        refuse_threshold(threshold, limit)
        return {name: _similar(index, folded_name(name), threshold)[:limit] for name in names}

    async def surface_forms(
        self, entity_ids: Sequence[UUID], *, names: Sequence[str] | None = None, limit: int
    ) -> Sequence[SurfaceForm]:
        state = self._state
        refuse_limit(limit)
        wanted = None if names is None else set(map(folded_name, names))
        found: dict[tuple[UUID, str], set[str]] = {}
        for entity in set(entity_ids):
            for memory in state.mentioned.get(entity, ()):
                for mention in state.mentions[memory]:
                    if mention.entity_id == entity:
                        found.setdefault((entity, mention.surface), set()).add(memory)
        return [
            SurfaceForm(entity_id=entity, surface=surface, memory_ids=nsmallest(limit, memories))
            for (entity, surface), memories in sorted(found.items())
            if wanted is None or folded_name(surface) in wanted
        ]

    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        state, query = self._state, np.asarray(vector, np.float32)
        if query.ndim != 1 or (state.dimensions is not None and len(query) != state.dimensions):
            raise wrong_vector(state, query.size)
        norm = sqrt(query @ query)
        validation.refuse("query vector", None if 0.0 < norm < inf else "must be finite and not zero")
        matrix = state.once(_matrix, kind)
        if not len(matrix.rows):
            return _hits(state, kind, matrix.rows, np.empty(0))
        seen = visibility(state, kind).filter(view)
        visible = seen and seen(slice(None) if matrix.every else matrix.rows)
        return _hits(state, kind, *matrix.nearest(query / norm, limit, visible))

    async def search_lexical(self, kind: ElementKind, query: str, *, limit: int, view: View) -> Hits:
        state = self._state
        postings = state.once(_postings, kind)
        seen = visibility(state, kind).filter(view)
        return _hits(state, kind, *postings.best(state.analyser.terms(query), limit, seen and seen(slice(None))))

    async def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        state = self._state
        rows = np.unique(table(state, ElementKind.ENTITY).rows(list(ids)))
        seen = visibility(state, ElementKind.ENTITY).filter(view)
        rows = rows if seen is None else rows[seen(rows)]
        return _hits(state, ElementKind.ENTITY, rows, np.zeros(len(rows)))

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        state, rows = self._state, np.asarray(keys, np.int64)
        matrix = state.once(_matrix, kind)
        return matrix.of(rows) if len(matrix.rows) else np.zeros((len(rows), state.dimensions or 0), np.float32)

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        words = self._state.entities.words
        return {key: words[key] for key in ids if key in words}

    async def document_count(self, kind: ElementKind) -> int:
        return len(self._state.elements(kind).documents)

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        postings = self._state.once(_postings, kind)
        return [postings.containing(group) for group in groups]


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


def _postings(state: State, kind: ElementKind) -> Postings:
    return state.derive(Postings.build, table(state, kind), state.elements(kind).documents)


def _importance(state: State) -> Floats:
    return state.derive(importances, table(state, ElementKind.ENTITY))


def _hits(state: State, kind: ElementKind, rows: Rows, values: Floats) -> Hits:
    importance = state.once(_importance) if kind is ElementKind.ENTITY else None
    return hits(table(state, kind), rows, values, importance)
