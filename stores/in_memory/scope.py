"""One scope in memory: its present version, snapshots, exact searches, steps, and the lock of its writers."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import AsyncIterator, Collection, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from heapq import nsmallest
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import numpy as np

from graphsearch._support.concurrency import in_slices
from graphsearch.claims.naming import best_first, folded_name, refuse_limit, refuse_threshold, words_of
from graphsearch.columns import Codes, Edges, Expansion, Hits, Keys, Mentioned, Turns
from graphsearch.columns.key_index import distinct
from graphsearch.errors import UnknownScopeError
from graphsearch.model import (
    KNOWN_RELATION_TYPES,
    ElementKind,
    Named,
    NameMatch,
    Scope,
    SimilarName,
    Vector,
    View,
    validation,
)
from graphsearch.model.signatures import Signature, SignatureTable
from graphsearch.protocols import Clock
from graphsearch.protocols.rows import Counts, ScopeRow
from graphsearch.stores.in_memory.columns import (
    BY_NUMBER,
    column,
    hits,
    listing,
    signature_numbers,
    signatures,
    sorted_rows,
    visibility,
)
from graphsearch.stores.in_memory.indexes import matrix, postings
from graphsearch.stores.in_memory.port import MemoryPort, Reads, once
from graphsearch.stores.in_memory.rows import Likeness, folded_names, likeness_of
from graphsearch.stores.in_memory.steps import adjacency, degrees, ground, mentions, sessions
from graphsearch.stores.in_memory.versions import Cell, Version, made_of
from graphsearch.stores.writer.vectors import unit_vector
from graphsearch.text.bm25 import TermCounts

_PAUSE_S: Final = 0.002
"""The time, in seconds, after which a writer that waits for another one looks again."""
COUNTED: Final = 1_000
"""Relations per entity and direction that `left_out` counts at most."""

_ENTITY: Final = ElementKind.ENTITY
_RELATION: Final = ElementKind.RELATION

_PINNED: Final[ContextVar[Mapping[Cell, Version]]] = ContextVar("pinned", default=MappingProxyType({}))
"""The versions pinned by the snapshots of the current task."""


class InMemoryScope(Reads):
    """One scope in memory.

    A write makes a new version; readers keep the one that they began with. A key is the row of an element in the order
    of ids.
    """

    def __init__(self, scope: Scope, clock: Clock, cell: Cell) -> None:
        self.scope = scope
        self.clock = clock
        self.analyser = cell.analyser
        self._cell = cell

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[None]:
        token = _PINNED.set({**_PINNED.get(), self._cell: self._version})
        try:
            yield
        finally:
            _PINNED.reset(token)

    async def version(self) -> Hashable:
        return self._version.token

    def ids(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        ids = self._version.made(listing, kind).ids
        return [ids[row] for row in np.asarray(keys, np.int64).tolist()]

    async def scope_row(self) -> ScopeRow:
        return self._version.scope

    @property
    def _version(self) -> Version:
        version = _PINNED.get().get(self._cell, self._cell.version)
        if version is None:
            raise self._unknown()
        return version

    # -- rows ------------------------------------------------------------------------------------------------------

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        version = self._version
        ids = version.made(listing, kind).ids
        return [getattr(row, kind) for row in version.some(kind, [ids[row] for row in keys.tolist()])]

    async def counts(self, kinds: Collection[str]) -> Counts:
        version = self._version
        entities = await once(version, entity_types) if _ENTITY in kinds else {}
        relations, most = await once(version, live_relations) if _RELATION in kinds else ({}, 0)
        return Counts({kind: version.size(kind) for kind in kinds}, entities, relations, most)

    # -- searches by name ------------------------------------------------------------------------------------------

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

    # -- searches by vector and by text ------------------------------------------------------------------------------

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

    # -- steps -------------------------------------------------------------------------------------------------------

    async def expand(self, keys: Keys, *, fan_out: int, view: View, ahead: int = 0) -> Expansion:  # noqa: ARG002
        version = self._version
        flat = await once(version, ground)
        places, side = flat.edges.strongest(keys, fan_out, flat.relations_seen.seen(view))
        found, far = flat.edges.relations.take(places), flat.edges.far.take(places)
        return flat.steps(version, found, far, view, starts=keys, start=side >> 1, outgoing=(side & 1) == 0)

    async def related(self, keys: Keys, *, view: View) -> Expansion:
        version, found = self._version, np.asarray(keys, np.int64)
        flat = await once(version, ground)
        source, target = flat.edges.source.take(found), flat.edges.target.take(found)
        return flat.steps(
            version,
            found,
            target,
            view,
            starts=flat.ends.keys,
            start=source,
            outgoing=np.ones(len(found), np.bool_),
            located=hits(version, ElementKind.ENTITY, flat.entities_seen.among(view, distinct(source)[0])),
        )

    async def edges(self, *, after: UUID | None = None, limit: int = 100_000, view: View) -> Edges:
        version = self._version
        validation.refuse("page", validation.number("limit", limit, 0))
        both = await once(version, adjacency)
        ids = version.made(listing, _RELATION).ids
        rows = np.arange(0 if after is None else bisect_right(ids, after), len(ids))
        seen = version.made(visibility, _RELATION)
        rows = seen.among(view, rows)[:limit]
        return Edges(
            relations=rows, sources=both.source[rows], targets=both.target[rows], weights=seen.confidence[rows]
        )

    async def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        version, near = self._version, np.asarray(keys, np.int64)
        side = (await once(version, mentions))[kind]
        other = ElementKind.ENTITY if kind is ElementKind.MEMORY else ElementKind.MEMORY
        begin = side.pointers.take(near)
        counts = side.pointers.take(near + 1) - begin
        counts[counts > limit] = 0
        places = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        far = side.far.take(places)
        found = Mentioned(
            near=np.repeat(near, counts),
            far=far,
            times=side.times.take(places),
            about=side.about.take(places),
            far_signatures=version.made(signature_numbers, other).values.take(far),
        )
        seen = version.made(visibility, other).seen(view)
        return found if seen is None else found.keep(seen.take(far))

    async def turns(self, keys: Keys, *, view: View) -> Turns:
        version, near = self._version, np.asarray(keys, np.int64)
        before, after = await once(version, sessions)
        far = np.stack((before.take(near), after.take(near)), axis=1).ravel()
        there, signed = far >= 0, version.made(signature_numbers, ElementKind.MEMORY).values
        far, later = far[there], np.tile([False, True], len(near))[there]
        found = Turns(near=np.repeat(near, 2)[there], far=far, later=later, far_signatures=signed[far])
        seen = version.made(visibility, ElementKind.MEMORY).seen(view)
        return found if seen is None else found.keep(seen.take(far))

    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        version = self._version
        flat = await once(version, ground)
        if flat.relations_seen.seen(view) is None:
            return {}
        places, _ = flat.edges.strongest(keys, COUNTED, None)
        return flat.relations_seen.left_out(view, np.unique(flat.edges.relations[places]))

    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        """The content of codes as rows have them, and of the numbers that stand for them in columns."""
        table, stored = self.signature_table(), {row.key: row.content for row in self._version.some("signature", codes)}
        numbered = {number: table.contents[number] for number in codes if 0 < number < len(table)}
        return {code: content for code, content in (numbered | stored).items() if content is not None}

    async def signature_codes(self, *, shared: bool) -> Codes:
        table = self.signature_table()
        return np.flatnonzero(table.shared if shared else [each is not None for each in table.contents])

    async def signed(self, codes: Sequence[int], *, limit: int) -> Keys:
        validation.refuse("page", validation.number("limit", limit, 0))
        version = self._version
        live = version.made(column, _RELATION, "retracted_at", np.inf).values == np.inf
        return np.flatnonzero(np.isin(version.made(signature_numbers, _RELATION).values, codes) & live)[:limit]

    def signature_table(self) -> SignatureTable:
        return self._version.made(signatures)

    # -- writes ----------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def writing(
        self,
        *,
        create: bool = False,
        alone: bool = True,  # noqa: ARG002 - all writers are
        changing: bool = False,  # noqa: ARG002 - of another store
        renewing: bool = False,  # noqa: ARG002 - of another store
    ) -> AsyncIterator[MemoryPort]:
        async with self._alone():
            port = self._begin(create=create)
            yield port
            await port.commit()

    def _begin(self, *, create: bool) -> MemoryPort:
        """A transaction upon the present version, for who holds the lock."""
        version = self._cell.version
        if version is None:
            if not create:
                raise self._unknown()
            row = ScopeRow(self._cell.id_key, types=dict(KNOWN_RELATION_TYPES))
            version = Version.of_nothing(row, self.analyser)
        return MemoryPort(self._cell, version)

    async def settle(self) -> int:
        """Return 0: indexes are made at first use, and nothing is deferred."""
        async with self.writing():
            return 0

    async def remove_scope(self) -> None:
        async with self._alone():
            self._cell.version = None

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """The only writer of the scope, in any thread; waiting for others does not block the event loop."""
        while not self._cell.lock.acquire(blocking=False):  # noqa: ASYNC110 - of threads, without an event
            await asyncio.sleep(_PAUSE_S)
        try:
            yield
        finally:
            self._cell.lock.release()

    def _unknown(self) -> UnknownScopeError:
        return UnknownScopeError(
            f"nothing was ever written to scope {self.scope}: check how it is spelt, or write to it first"
        )


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


@made_of("entity", lasts=False)
def entity_types(version: Version) -> Mapping[str, int]:
    """The numbers of entities by type."""
    return dict(sorted(Counter(row.entity.type for row in version.made(sorted_rows, _ENTITY)).items()))


@made_of("entity", "relation", lasts=False)
def live_relations(version: Version) -> tuple[Mapping[str, int], int]:
    """The numbers of unretracted relations by type, and the largest degree."""
    every = (row.relation for row in version.made(sorted_rows, _RELATION))
    live = (each.type for each in every if each.retracted_at is None)
    return dict(sorted(Counter(live).items())), int(version.made(degrees).max(initial=0))
