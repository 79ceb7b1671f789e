"""Searches for visible elements of one kind, widened until enough visible hits are found.

Hidden memories may have a part in the stored text of an entity or a relation. It is found by the text that may be seen:
an entity by its visible names, a relation by its visible fact. A store searches the stored texts, so that these scores
are computed here: those of meaning by an embedding of the visible text, where the reader can embed, and those of words
as if the text were of average length.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final, TypeAlias

import attrs
import numpy as np

from graphsearch.access.decisions import PARTIAL
from graphsearch.access.statistics import Statistics
from graphsearch.access.window import widest
from graphsearch.columns import NONE, Floats, Hits, Keys, Mask, Mentioned, Turns
from graphsearch.columns.formulas import cosines
from graphsearch.columns.key_index import KeyIndex, among
from graphsearch.model import ElementKind, Entity, Relation, Vector
from graphsearch.text.bm25 import K1, TermCounts, embedding_text, frequencies, searchable_text

RESTATED: Final = 500
"""Most relations of a scope that are read to find those with another visible fact, the first by id."""

Elements: TypeAlias = Sequence[Entity] | Sequence[Relation]
Score: TypeAlias = Callable[[Elements], Awaitable[Floats]]
"""Scores elements of one kind by their visible texts; NaN for those that are not found."""


Search: TypeAlias = Callable[[int], Awaitable[Hits]]
"""A search of a store for at most as many hits."""

PASSED: Final = 16
"""Most consecutive hidden turns that are skipped to reach the next visible one."""


class Searches(Statistics):
    """Searches by vector and by words, and the mentions and turns around their hits."""

    async def nearest(self, kind: ElementKind, vector: Vector, limit: int) -> Hits:
        """The nearest visible elements of a kind, by cosine distance, ties by key."""

        async def search(wide: int) -> Hits:
            return await self._store.search_by_embedding(kind, vector, limit=wide, view=self.view)

        return await self._found(search, kind, limit, self._distances(vector), embedding_text, by_meaning=True)

    async def lexical(self, kind: ElementKind, query: str, limit: int, *, counts: TermCounts | None = None) -> Hits:
        """The visible elements of a kind that match a text best, by BM25, ties by key.

        By the statistics of the visible, all that match are scored again. ``counts`` replace those of the scope.
        """
        if not self.counts_visible:
            return await self._matching(kind, query, limit, counts)
        visible = await self.visible_documents(kind)
        found = await self._matching(kind, query, await self._store.document_count(kind) + 1, counts)
        documents = await self.documents_at(kind, found.keys)
        found = attrs.evolve(found, values=visible.scores(documents, self.analyser.terms(query), counts))
        return _best(found.keep(np.isfinite(found.values)), -1.0, limit)

    async def term_counts(self, kind: ElementKind, terms: Sequence[str]) -> TermCounts:
        """The number of documents of a kind, and of those that contain each of some terms."""
        containing = await self.document_frequencies(kind, [[term] for term in terms])
        return TermCounts(await self.document_count(kind), dict(zip(terms, containing, strict=True)))

    async def _matching(self, kind: ElementKind, query: str, limit: int, counts: TermCounts | None) -> Hits:
        """The best visible elements by the statistics of the scope, or by ``counts``."""

        async def search(wide: int) -> Hits:
            return await self._store.search_lexical(kind, query, limit=wide, view=self.view, counts=counts)

        score = self._word_scores(kind, query, counts)
        return await self._found(search, kind, limit, score, searchable_text, by_meaning=False)

    async def _found(
        self,
        search: Search,
        kind: ElementKind,
        limit: int,
        score: Score,
        text: Callable[[Entity], str],
        *,
        by_meaning: bool,
    ) -> Hits:
        """The hits of a search; those with another visible ``text`` by the ``score`` of that text."""
        if not self.changes(kind):
            return await self._enough(search, kind, limit)
        sign = 1.0 if by_meaning else -1.0  # distances ascend
        if kind is ElementKind.ENTITY:
            return await self._named(search, limit, score, text, sign)
        hits = await self._enough(search, kind, limit)
        if not (codes := await self._restatable()):
            return hits
        others, relations = await self._restated(codes, embedded=by_meaning)
        found = attrs.evolve(others, values=await score(relations)) if relations else others
        return _best(Hits.concatenate([hits, found.keep(np.isfinite(found.values))]), sign, limit)

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
        if not self.changes(kind):
            return await self._gatekeeper.admitted(kind, hits.keys, hits.signatures)
        verdicts = await self._gatekeeper.verdicts(kind, hits.keys, hits.signatures)
        allowed: Mask = among(hits.keys, (await self.related(hits.keys)).rows.relations)
        may_differ = (verdicts == PARTIAL) | self._evidence.is_past(self.view)
        if (partial := np.flatnonzero(allowed & may_differ)).size:
            allowed[partial] = await self._unchanged(kind, hits.keys[partial])
        return None if allowed.all() else allowed

    # -- elements with another visible text than the stored one --------------------------------------------------------

    async def _restatable(self) -> Collection[int]:
        """The signatures whose relations may state another fact than is stored."""
        if not self._gatekeeper.allows_all or not self._evidence.is_past(self.view):
            return self.view.refolded
        shared: list[int] = (await self._store.shared_signatures()).tolist()
        return shared

    async def _restated(self, codes: Collection[int], *, embedded: bool) -> tuple[Hits, list[Relation]]:
        """The relations of the view that state another fact than is stored, as hits without scores.

        With ``embedded``, those alone whose stored fact has a vector: facts without one are found by no meaning.
        """
        keys = await self._store.signed(sorted(codes), limit=RESTATED)
        rows = (await self.related(keys)).rows
        changed = ~await self._unchanged(ElementKind.RELATION, rows.relations)
        if embedded:
            changed &= (await self._store.vectors(ElementKind.RELATION, rows.relations)).any(axis=1)
        found = rows.relations[changed]
        signatures, nothing = rows.signatures[changed], np.zeros(len(found))
        hits = Hits(keys=found, signatures=signatures, values=nothing, importance=nothing + 0.5)
        return hits, await self.relations(found)

    async def _renamed(self, hits: Hits, text: Callable[[Entity], str]) -> tuple[Mask, list[Entity]]:
        """Which visible entities have another visible text than is stored, and these entities as visible."""
        changed = np.zeros(len(hits), np.bool_)
        if not len(partial := self._partial(hits.keys)):
            return changed, []
        stored: Sequence[Entity] = await self._stored(ElementKind.ENTITY, hits.keys[partial])
        shown = await self._gatekeeper.entities.admitted(stored)
        words = await self._store.words([each.id for each in shown])  # they may be those of hidden memories
        changed[partial] = [now.id in words or text(then) != text(now) for then, now in zip(stored, shown, strict=True)]
        return changed, [each for each, other in zip(shown, changed[partial], strict=True) if other]

    def _distances(self, vector: Vector) -> Score:
        """Score by cosine distance."""

        async def score(elements: Elements) -> Floats:
            vectors = await self._embedded([embedding_text(each) for each in elements])
            if not vectors.any():
                return np.full(len(elements), np.nan)
            distances = 1.0 - cosines(vectors, np.asarray(vector / np.linalg.norm(vector), np.float32))
            return np.where(vectors.any(axis=1), distances, np.nan)

        return score

    def _word_scores(self, kind: ElementKind, query: str, counts: TermCounts | None) -> Score:
        """Score by BM25."""
        terms = list(dict.fromkeys(self.analyser.terms(query)))

        async def score(elements: Elements) -> Floats:
            known = counts or await self.term_counts(kind, terms)
            rarity = {term: known.idf(term) for term in terms}
            counted = [frequencies(searchable_text(each), self.analyser) for each in elements]
            values = [sum(rarity[term] * n / (n + K1) for term in terms if (n := each.get(term))) for each in counted]
            return np.array([value or np.nan for value in values], np.float64)

        return score


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
