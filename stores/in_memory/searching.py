"""Exact search in memory: by vector, by BM25, and by name."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from heapq import nsmallest
from uuid import UUID

import numpy as np

from graphsearch._support.concurrency import in_slices
from graphsearch.claims.naming import best_first, folded_name, refuse_limit, refuse_threshold, words_of
from graphsearch.columns import Hits, Keys
from graphsearch.model import ElementKind, Named, NameMatch, SimilarName, Vector, View
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.in_memory.columns import BY_NUMBER, hits, listing, visibility
from graphsearch.stores.in_memory.indexes import matrix, postings
from graphsearch.stores.in_memory.reading import once
from graphsearch.stores.in_memory.rows import Likeness, folded_names, likeness_of
from graphsearch.stores.in_memory.versions import Version
from graphsearch.stores.writer.vectors import unit_vector
from graphsearch.text.bm25 import TermCounts


class InMemorySearching(InMemoryScope):
    """Searches over indexes of rows, and over columns that are made once a version."""

    # -- by name ---------------------------------------------------------------------------------------------------

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        version, folded = self._version, {name: folded_name(name) for name in names}
        found = await self.keys_of(version, "entity", "name", folded.values())
        matches = list[NameMatch]()
        for name, spelling in folded.items():
            for row in version.some("entity", found[spelling]):
                alias = spelling != folded_name(row.entity.name)
                matches.append(NameMatch(name=name, entity_id=row.key, alias=alias))
        return _by_entity(matches)

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        refuse_limit(limit)
        version, spelt = self._version, {word: [word] for word in words}
        if prefix:
            every = sorted(await self._all_words(version))
            ends = {word: (bisect_left(every, word), bisect_left(every, f"{word}\U0010ffff")) for word in spelt if word}
            spelt = {word: every[slice(*ends.get(word, (0, 0)))] for word in spelt}
        found = await self.keys_of(version, "entity", "word", {each for there in spelt.values() for each in there})
        return _by_entity([match for word in spelt for match in _worded(version, word, spelt[word], found, limit)])

    async def _all_words(self, version: Version) -> Collection[str]:
        """The words of all names, and perhaps of some that were changed since."""
        index = await self.index(version, "entity", "word")
        others = version.all("entity") if index is None else version.replaced("entity")
        own = () if index is None else index.values()
        return {*own, *(word for row in others.values() for name in folded_names(row) for word in words_of([name]))}

    async def named(self, names: Sequence[str], words: Sequence[str], *, limit: int, view: View) -> Named:
        async with self.snapshot():
            having = await self.keys_of(self._version, "entity", "word", words)
            common = [word for word in words if len(having[word]) >= limit]
            few = [word for word in words if word not in common]
            matches = [*await self.find_names(names), *await self.find_name_words(few, limit=limit)]
            held = await self.locate([match.entity_id for match in matches], view=view)
            entities = await self.elements(ElementKind.ENTITY, held.keys)
        return Named(matches=matches, hits=held, entities=entities, common=common)

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        version, folded = self._version, {name: folded_name(name) for name in names}
        refuse_threshold(threshold, limit)
        index = await self.index(version, "entity", "like")
        others = version.all("entity") if index is None else version.replaced("entity")
        changed = {name for row in others.values() for name in folded_names(row)}
        alike = await in_slices(_likenesses(index, changed, dict.fromkeys(folded.values()), threshold))
        found = await self.keys_of(version, "entity", "name", {name for scores in alike.values() for name in scores})
        return {name: _best_of(alike[spelling], found)[:limit] for name, spelling in folded.items()}

    # -- by vector and by text -------------------------------------------------------------------------------------

    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        version = self._version
        query = unit_vector(vector, version.scope.embedder, version.scope.dimensions)
        vectors, seen = await once(version, matrix, kind), (await once(version, visibility, kind)).seen(view)
        if not len(vectors.rows):
            return hits(version, kind, vectors.rows)
        return hits(version, kind, *vectors.nearest(query, limit, seen))

    async def search_lexical(
        self, kind: ElementKind, query: str, *, limit: int, view: View, counts: TermCounts | None = None
    ) -> Hits:
        version = self._version
        documents, seen = await once(version, postings, kind, None), (await once(version, visibility, kind)).seen(view)
        if counts and counts.average and counts.average != documents.average:
            documents = await once(version, postings, kind, counts.average)
        return hits(version, kind, *documents.best(self.analyser.terms(query), limit, seen, counts))

    async def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        version = self._version
        visible = await once(version, visibility, ElementKind.ENTITY)
        rows = visible.among(view, version.made(listing, ElementKind.ENTITY).rows(ids))
        return hits(version, ElementKind.ENTITY, rows)

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        version, rows = self._version, np.asarray(keys, np.int64)
        found = await once(version, matrix, kind)
        return found.take(rows) if len(found.rows) else np.zeros((len(rows), version.scope.dimensions or 0), np.float32)

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        documents = await once(self._version, postings, kind, None)
        return [documents.containing(group) for group in groups]


def _worded(
    version: Version, word: str, spelt: Iterable[str], found: Mapping[str, Iterable[UUID]], limit: int
) -> list[NameMatch]:
    """The first entities with one of the words that are spelt, for a word that was asked for."""
    theirs = set(spelt)
    first = nsmallest(limit, {key for each in spelt for key in found[each]}, key=BY_NUMBER)
    return [
        NameMatch(
            name=word,
            entity_id=row.key,
            alias=bool(row.entity.aliases) and theirs.isdisjoint(words_of([row.entity.name])),
        )
        for row in version.some("entity", first)
    ]


def _likenesses(
    index: Likeness | None, others: Collection[str], names: Iterable[str], threshold: float
) -> Generator[None, None, dict[str, dict[str, float]]]:
    """The names similar to each, with their similarities, in steps; ``others`` are in no index."""
    found: dict[str, dict[str, float]] = {}
    for name in names:
        candidates = set(others) if index is None else index.candidates(name, threshold).union(others)
        found[name] = likeness_of(name, candidates, threshold)
        yield
    return found


def _best_of(scores: Mapping[str, float], entities: Mapping[str, Iterable[UUID]]) -> list[SimilarName]:
    """The entities of similar names, each by its best name."""
    best: dict[UUID, tuple[float, str]] = {}
    for name, score in sorted(scores.items(), key=lambda each: (-each[1], each[0])):
        for entity in entities[name]:
            best.setdefault(entity, (score, name))
    return best_first(best)


def _by_entity(matches: Sequence[NameMatch]) -> list[NameMatch]:
    """Matches in order of the entities' ids, then as they were asked for."""
    return sorted(matches, key=lambda match: match.entity_id.int)
