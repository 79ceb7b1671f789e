"""Searches for visible elements of one kind, widened until enough visible hits are found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import attrs
import numpy as np

from graphsearch.access.decisions import PARTIAL
from graphsearch.access.rewordings import Rewordings, Score
from graphsearch.access.widening import widest
from graphsearch.columns import NONE, Hits, Keys, Mask, Mentioned, Turns
from graphsearch.columns.key_index import KeyIndex, among
from graphsearch.model import ElementKind, Entity, Vector
from graphsearch.text.bm25 import embedding_text, searchable_text

Search: TypeAlias = Callable[[int], Awaitable[Hits]]
"""A search of a store for at most as many hits."""

PASSED: Final = 16
"""Most consecutive hidden turns that are skipped to reach the next visible one."""


class Searches(Rewordings):
    """Searches by vector and by words, and the mentions and turns around their hits."""

    async def nearest(self, kind: ElementKind, vector: Vector, limit: int) -> Hits:
        """The nearest visible elements of a kind, by cosine distance, ties by key."""

        async def search(wide: int) -> Hits:
            return await self._store.search_by_embedding(kind, vector, limit=wide, view=self.view)

        return await self._found(search, kind, limit, self._distances(vector), embedding_text, ascending=True)

    async def lexical(self, kind: ElementKind, query: str, limit: int) -> Hits:
        """The visible elements of a kind that match a text best, by BM25, ties by key."""

        async def search(wide: int) -> Hits:
            return await self._store.search_lexical(kind, query, limit=wide, view=self.view)

        score = self._word_scores(kind, query)
        return await self._found(search, kind, limit, score, searchable_text, ascending=False)

    async def _found(
        self,
        search: Search,
        kind: ElementKind,
        limit: int,
        score: Score,
        text: Callable[[Entity], str],
        *,
        ascending: bool,
    ) -> Hits:
        """The hits of a search; those with another visible ``text`` by the ``score`` of that text."""
        if not self.hides or kind is ElementKind.MEMORY:
            return await self._enough(search, kind, limit)
        sign = 1.0 if ascending else -1.0
        if kind is ElementKind.ENTITY:
            return await self._named(search, limit, score, text, sign)
        hits = await self._enough(search, kind, limit)
        if not self.view.refolded:
            return hits
        others, relations = await self._restated()
        found = attrs.evolve(others, values=await score(relations)) if relations else others
        return _best(_joined(hits, found.keep(np.isfinite(found.values))), sign, limit)

    async def _named(
        self, search: Search, limit: int, score: Score, text: Callable[[Entity], str], sign: float
    ) -> Hits:
        """Visible entities, of which those with another visible text are scored again.

        Such a score counts as far as the search went: beyond its last hit there may be better ones.
        """
        wide, last = limit, widest(limit)
        while True:
            stored = await search(wide)
            hits = await self._visible(stored)
            changed, entities = await self._renamed(hits, text)
            if entities:
                values = hits.values.copy()
                values[changed] = sign * (await score(entities))
                values[~changed] *= sign
                beyond = np.inf if len(stored) < wide else sign * stored.values[-1]
                kept = ~changed | (values <= beyond)
                hits = attrs.evolve(hits, values=sign * values).keep(kept)
            if len(hits) >= limit or len(stored) < wide or wide == last:
                return _best(hits, sign, limit)
            wide *= 2

    async def mentioned(self, kind: ElementKind, keys: Keys, limit: int) -> Mentioned:
        """The visible elements one mention away from memories, or from entities; see `GraphStore.mentioned`."""
        found = await self._store.mentioned(kind, keys, limit=limit, view=self.view)
        other = ElementKind.ENTITY if kind is ElementKind.MEMORY else ElementKind.MEMORY
        seen = await self._gatekeeper.admitted(other, found.far, found.far_signatures)
        return found if seen is None else found.keep(seen)

    async def turns(self, keys: Keys) -> Turns:
        """The visible memories before and after each in its session, skipping hidden ones."""
        kept: list[Turns] = []
        found = await self._store.turns(keys, view=self.view)
        for passed in range(PASSED + 1):
            seen = await self._gatekeeper.admitted(ElementKind.MEMORY, found.far, found.far_signatures)
            kept.append(found if seen is None else found.keep(seen))
            if seen is None or passed == PASSED:
                break
            hidden = found.keep(~seen)
            found = _further(hidden, await self._store.turns(np.unique(hidden.far), view=self.view))
        return Turns.concatenate(kept)

    async def _enough(self, search: Search, kind: ElementKind, limit: int) -> Hits:
        wide, last = limit, widest(limit)
        while True:
            hits = await search(wide)
            seen = await self._seen(hits, kind)
            if seen is None and wide == limit:
                return hits
            rows = np.arange(len(hits)) if seen is None else seen.nonzero()[0]
            if wide == last or len(rows) >= limit or len(hits) < wide:
                return hits.keep(rows[:limit])
            wide *= 2

    async def _seen(self, hits: Hits, kind: ElementKind) -> Mask | None:
        """Which elements are visible with the text that they were found by; None if all are."""
        if not self.hides or kind is ElementKind.MEMORY:
            return await self._gatekeeper.admitted(kind, hits.keys, hits.signatures)
        verdicts = await self._gatekeeper.verdicts(kind, hits.keys, hits.signatures)
        allowed: Mask = among(hits.keys, (await self.related(hits.keys)).rows.relations)
        if (partial := np.flatnonzero(allowed & (verdicts == PARTIAL))).size:
            allowed[partial] = await self._unchanged(kind, hits.keys[partial])
        return None if allowed.all() else allowed


def _joined(one: Hits, other: Hits) -> Hits:
    """The hits of two searches for distinct elements."""
    names = ("keys", "signatures", "values", "importance")
    return Hits(**{name: np.concatenate((getattr(one, name), getattr(other, name))) for name in names})


def _best(hits: Hits, sign: float, limit: int) -> Hits:
    """The first hits by value, ties by key; ``sign`` is -1 where higher values are better."""
    return hits.keep(np.lexsort((hits.keys, sign * hits.values))[:limit])


def _further(turns: Turns, beyond: Turns) -> Turns:
    """Turns whose far ends are those on the other side of theirs, if there are any."""
    parts = []
    for later in (False, True):
        some, others = turns.keep(turns.later == later), beyond.keep(beyond.later == later)
        rows = KeyIndex(others.near).of(some.far)
        ends = others.keep(rows[rows != NONE])
        parts.append(attrs.evolve(ends, near=some.near[rows != NONE]))
    return Turns.concatenate(parts)
