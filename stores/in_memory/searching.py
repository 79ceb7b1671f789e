"""Exact search in memory: by vector, by BM25, and by name."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from datetime import datetime
from heapq import nsmallest
from math import inf, sqrt
from operator import attrgetter
from typing import Final
from uuid import UUID

import numpy as np

from graphsearch._support.concurrency import in_slices
from graphsearch.claims.naming import folded_name, refuse_limit, refuse_threshold, words_of
from graphsearch.columns import Hits, Keys
from graphsearch.model import ElementKind, Named, NameMatch, SimilarName, SurfaceForm, Vector, View, validation
from graphsearch.protocols import Searching
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.in_memory.indexes import matrix, postings
from graphsearch.stores.in_memory.naming import NameIndex
from graphsearch.stores.in_memory.state import State
from graphsearch.stores.in_memory.tables import hits, table, visibility
from graphsearch.stores.shared.vectors import wrong_length
from graphsearch.text.bm25 import TermCounts

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

    async def named(self, names: Sequence[str], words: Sequence[str], *, limit: int, view: View) -> Named:
        state = self._state
        having = state.naming.index.words
        common = [word for word in words if len(having.get(word, ())) >= limit]
        few = [word for word in words if word not in common]
        matches = [*await self.find_names(names), *await self.find_name_words(few, limit=limit)]
        held = await self.locate([match.entity_id for match in matches], view=view)
        ids = table(state, ElementKind.ENTITY).ids
        entities = state.entities.those([ids[row] for row in held.keys.tolist()])
        return Named(matches=matches, hits=held, entities=entities, common=common)

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
        vectors = await self._once(matrix, kind)
        if not len(vectors.rows):
            return hits(state, kind, vectors.rows)
        return hits(state, kind, *vectors.nearest(query / norm, limit, visibility(state, kind).seen(view)))

    async def search_lexical(
        self, kind: ElementKind, query: str, *, limit: int, view: View, counts: TermCounts | None = None
    ) -> Hits:
        state = self._state
        documents, seen = await self._once(postings, kind), visibility(state, kind).seen(view)
        if counts and counts.average and counts.average != documents.average:
            documents = await self._once(postings, kind, counts.average)
        return hits(state, kind, *documents.best(state.analyser.terms(query), limit, seen, counts))

    async def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        state = self._state
        visible = await self._once(visibility, ElementKind.ENTITY)
        rows = visible.among(view, table(state, ElementKind.ENTITY).rows(ids))
        return hits(state, ElementKind.ENTITY, rows)

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        state, rows = self._state, np.asarray(keys, np.int64)
        found = await self._once(matrix, kind)
        return found.of(rows) if len(found.rows) else np.zeros((len(rows), state.dimensions or 0), np.float32)

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        words = self._state.entities.words
        return {key: words[key] for key in ids if key in words}

    async def document_count(self, kind: ElementKind) -> int:
        return len(self._state.elements(kind).documents)

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        documents = await self._once(postings, kind)
        return [documents.containing(group) for group in groups]


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
