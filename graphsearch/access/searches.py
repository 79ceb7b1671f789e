"""Searches for visible elements of one kind, widened until enough visible hits are found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from graphsearch.access.decisions import DENIED, PARTIAL
from graphsearch.access.walks import Walks
from graphsearch.access.widening import widest
from graphsearch.columns import NONE, Hits, Keys, Mask, Mentioned, Turns
from graphsearch.columns.key_index import KeyIndex, among
from graphsearch.model import ElementKind, Entity, Vector
from graphsearch.text.bm25 import K1, frequencies, idf, searchable_text

PASSED: Final = 16
"""Most consecutive hidden turns that are skipped to reach the next visible one."""


class Searches(Walks):
    """Searches by vector and by words, and the mentions and turns around their hits."""

    async def nearest(self, kind: ElementKind, vector: Vector, limit: int) -> Hits:
        """The nearest visible elements of a kind, by cosine distance, ties by key."""

        async def search(wide: int) -> Hits:
            return await self._store.search_by_embedding(kind, vector, limit=wide, view=self.view)

        return await self._enough(search, kind, limit)

    async def lexical(self, kind: ElementKind, query: str, limit: int) -> Hits:
        """The visible elements of a kind that match a text best, by BM25, ties by key."""

        async def search(wide: int) -> Hits:
            return await self._store.search_lexical(kind, query, limit=wide, view=self.view)

        if kind is ElementKind.ENTITY and self.hides:
            return await self._by_visible_words(query, limit, search)
        return await self._enough(search, kind, limit)

    async def _by_visible_words(self, query: str, limit: int, search: Callable[[int], Awaitable[Hits]]) -> Hits:
        """Visible entities by the words of their visible texts; those with hidden names are scored again.

        Every visible name is stored, so that no entity is missed. Those scored again count as of average length.
        """
        terms = list(dict.fromkeys(self.analyser.terms(query)))
        wide, last = limit, widest(limit)
        while True:
            stored = await search(wide)
            hits = await self._visible(stored)
            changed = await self._changed(hits)
            if changed:
                hits = await self._scored_again(hits, changed, terms)
            if len(hits) >= limit or len(stored) < wide or wide == last:
                return hits.keep(np.arange(min(limit, len(hits))))
            wide *= 2

    async def _changed(self, hits: Hits) -> dict[int, Entity]:
        """By row: entities that may be found by other words than those of their visible texts."""
        ids = self.entity_ids(hits.keys)
        partial = [row for row, id_ in enumerate(ids) if self._gatekeeper.entities.is_partial(id_)]
        if not partial:
            return {}
        found = await self._store.words([ids[row] for row in partial])
        stored: Sequence[Entity] = await self._store.elements(ElementKind.ENTITY, hits.keys[partial])
        shown = await self._gatekeeper.entities.admitted(stored)
        return {
            row: now
            for row, then, now in zip(partial, stored, shown, strict=True)
            if now.id in found or searchable_text(then) != searchable_text(now)
        }

    async def _scored_again(self, hits: Hits, changed: Mapping[int, Entity], terms: Sequence[str]) -> Hits:
        documents = await self.document_count(ElementKind.ENTITY)
        containing = await self.document_frequencies(ElementKind.ENTITY, [[term] for term in terms])
        rarity = {term: idf(documents, number) for term, number in zip(terms, containing, strict=True)}
        values = hits.values.copy()
        for row, entity in changed.items():
            counts = frequencies(searchable_text(entity), self.analyser)
            values[row] = sum(rarity[term] * counts[term] / (counts[term] + K1) for term in terms if term in counts)
        order = np.lexsort((hits.keys, -values))
        return attrs.evolve(hits, values=values).keep(order[values[order] > 0])

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

    async def _enough(self, search: Callable[[int], Awaitable[Hits]], kind: ElementKind, limit: int) -> Hits:
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
        allowed: Mask = verdicts != DENIED
        if kind is ElementKind.RELATION:
            allowed = among(hits.keys, (await self.related(hits.keys)).rows.relations)
        if (partial := np.flatnonzero(allowed & (verdicts == PARTIAL))).size:
            allowed[partial] = await self._unchanged(kind, hits.keys[partial])
        return None if allowed.all() else allowed


def _further(turns: Turns, beyond: Turns) -> Turns:
    """Turns whose far ends are those on the other side of theirs, if there are any."""
    parts = []
    for later in (False, True):
        some, others = turns.keep(turns.later == later), beyond.keep(beyond.later == later)
        rows = KeyIndex(others.near).of(some.far)
        ends = others.keep(rows[rows != NONE])
        parts.append(attrs.evolve(ends, near=some.near[rows != NONE]))
    return Turns.concatenate(parts)
