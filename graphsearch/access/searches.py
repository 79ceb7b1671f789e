"""Searches for visible elements of one kind, widened until enough visible hits are found.

Hidden memories may have a part in the stored text of an entity or a relation. It is found by the text that may be seen:
an entity by its visible names, a relation by its visible fact. A store searches the stored texts, so that these scores
are computed here: those of meaning by an embedding of the visible text, where the reader can embed, and those of words
as if the text were of average length, where that of the visible is not known.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs
import numpy as np

from graphsearch.access.gatekeeper import PARTIAL, widest
from graphsearch.columns import Floats, Hits, Mask
from graphsearch.columns.formulas import cosines
from graphsearch.columns.key_index import among
from graphsearch.model import ElementKind, Entity, Relation, Vector
from graphsearch.text.bm25 import TermCounts, document, embedding_text, grid, saturated, searchable_text

if TYPE_CHECKING:
    from graphsearch.access.gatekeeper import Gatekeeper
    from graphsearch.access.reader import Reader
    from graphsearch.stores.graph import GraphStore


RESTATED: Final = 500
"""Most relations of a scope that are read to find those with another visible fact, the first by id."""

Elements: TypeAlias = Sequence[Entity] | Sequence[Relation]


@attrs.frozen(kw_only=True)
class _Search:
    """A search of a store, and how the elements are found that are shown with another text than it searches.

    * ``run``: search for at most as many hits.
    * ``text`` and ``score``: the text of an entity that is searched, and the scores of elements by their visible texts,
      NaN for those that are not found.
    * ``sign``: -1 where higher values are better.
    * ``everything``: the limit of a search for all hits, where no more may be left out than would be if nothing were
      hidden; otherwise the search ends with the last round.
    """

    kind: ElementKind
    run: Callable[[int], Awaitable[Hits]]
    text: Callable[[Entity], str]
    score: Callable[[Elements], Awaitable[Floats]]
    sign: float
    everything: int | None = None

    def best(self, hits: Hits, limit: int) -> Hits:
        """The first hits by value, ties by key."""
        return hits.keep(np.lexsort((hits.keys, self.sign * hits.values))[:limit])


class Searches:
    """The searches of a reader in its store, as its gatekeeper decides."""

    def __init__(self, reader: Reader, store: GraphStore, gatekeeper: Gatekeeper) -> None:
        self._reader = reader
        self._store = store
        self._gatekeeper = gatekeeper

    async def nearest(self, kind: ElementKind, vector: Vector, limit: int) -> Hits:
        """The nearest visible elements of a kind, by cosine distance, ties by key."""

        async def run(wide: int) -> Hits:
            return await self._store.search_by_embedding(kind, vector, limit=wide, view=self._reader.view)

        async def score(elements: Elements) -> Floats:
            vectors = await self._reader.embedded([embedding_text(each) for each in elements])
            if not vectors.any():
                return np.full(len(elements), np.nan)
            distances = 1.0 - cosines(vectors, np.asarray(vector / np.linalg.norm(vector), np.float32))
            return np.where(vectors.any(axis=1), distances, np.nan)

        return await self._found(_Search(kind=kind, run=run, text=embedding_text, score=score, sign=1.0), limit)

    async def lexical(self, kind: ElementKind, query: str, limit: int, counts: TermCounts | None) -> Hits:
        """The visible elements that match a text best, by BM25 with the statistics of the scope or ``counts``."""

        async def run(wide: int) -> Hits:
            return await self._store.search_lexical(kind, query, limit=wide, view=self._reader.view, counts=counts)

        async def score(elements: Elements) -> Floats:
            analyser = self._reader.analyser
            terms = list(dict.fromkeys(analyser.terms(query)))
            known = counts or await self._reader.term_counts(kind, terms)
            values = []
            for text in map(searchable_text, elements):
                found = document(text, {}, analyser)
                length, wanted = sum(found.values()), {term: found[term] for term in terms if term in found}
                weights = saturated(wanted, length, known.average or length) if wanted else {}
                values.append(sum(known.idf(term) * weight for term, weight in weights.items()) or np.nan)
            return np.array(values, np.float64)

        everything = await self._store.document_count(kind) + 1 if counts and counts.average else None
        search = _Search(kind=kind, run=run, text=searchable_text, score=score, sign=-1.0, everything=everything)
        return await self._found(search, limit)

    async def _found(self, search: _Search, limit: int) -> Hits:
        """The best visible hits of a search, widened until there are enough; by the scores of their visible texts."""
        changes = self._reader.changes(search.kind)
        wide, last = (changes and search.everything) or limit, search.everything or widest(limit)
        while True:
            stored = await search.run(wide)
            if changes:
                hits = await self._shown(search, stored, cut=len(stored) == wide)
            else:
                hits = await self._reader.admitted(search.kind, stored)
            if len(hits) >= limit or len(stored) < wide or wide >= last:
                break
            wide *= 2
        if changes and search.kind is ElementKind.RELATION and (codes := await self._restatable()):
            hits = Hits.concatenate([hits, await self._restated(search, codes)])
        return hits if hits is stored and len(hits) <= limit else search.best(hits, limit)

    async def _shown(self, search: _Search, stored: Hits, *, cut: bool) -> Hits:
        """The visible ones of some hits: relations that state what they were found by, entities scored again.

        Such a score counts as far as the search went: where it was ``cut``, there may be better ones beyond.
        """
        if search.kind is ElementKind.RELATION:
            return await self._unchanged(stored)
        hits = await self._reader.admitted(search.kind, stored)
        if not len(partial := self._reader.partial(hits.keys)):
            return hits
        entities = await self._reader.entities(hits.keys[partial])
        words = await self._store.words([each.id for each in entities])  # they may be those of hidden memories
        texts = map(search.text, await self._reader.stored(ElementKind.ENTITY, hits.keys[partial]))
        renamed = [now.id in words or then != search.text(now) for then, now in zip(texts, entities, strict=True)]
        if not any(renamed):
            return hits
        changed, values = partial[renamed], search.sign * hits.values
        values[changed] = search.sign * (await search.score(list(compress(entities, renamed))))
        kept = np.ones(len(hits), np.bool_)
        kept[changed] = values[changed] <= (search.sign * stored.values[-1] if cut else np.inf)
        return attrs.evolve(hits, values=search.sign * values).keep(kept)

    async def _unchanged(self, hits: Hits) -> Hits:
        """The relations that are visible with the text that they were found by."""
        verdicts = await self._gatekeeper.verdicts(ElementKind.RELATION, hits.keys, hits.signatures)
        allowed: Mask = among(hits.keys, (await self._reader.related(hits.keys)).rows.relations)
        may_differ = (verdicts == PARTIAL) | self._reader.is_past
        if (partial := np.flatnonzero(allowed & may_differ)).size:
            allowed[partial] = await self._reader.unchanged(ElementKind.RELATION, hits.keys[partial])
        return hits if allowed.all() else hits.keep(allowed)

    async def _restatable(self) -> Collection[int]:
        """The signatures whose relations may state another fact than is stored."""
        if not self._gatekeeper.allows_all or not self._reader.is_past:
            return self._reader.view.refolded
        shared: list[int] = (await self._store.signature_codes(shared=True)).tolist()
        return shared

    async def _restated(self, search: _Search, codes: Collection[int]) -> Hits:
        """The relations of the view that state another fact than is stored, scored by it.

        In a search by meaning those alone whose stored fact has a vector: facts without one are found by no meaning.
        """
        keys = await self._store.signed(sorted(codes), limit=RESTATED)
        rows = (await self._reader.related(keys)).rows
        changed = ~await self._reader.unchanged(ElementKind.RELATION, rows.relations)
        if search.sign > 0:
            changed &= (await self._store.vectors(ElementKind.RELATION, rows.relations)).any(axis=1)
        found = rows.relations[changed]
        values = np.array(await search.score(await self._reader.relations(found))) if len(found) else np.empty(0)
        importance = np.full(len(found), 0.5)
        hits = Hits(keys=found, signatures=rows.signatures[changed], values=values, importance=importance)
        return hits.keep(np.isfinite(values))


KEPT: Final = 50_000
"""Most texts whose words are in a cache, those of all principals together. More are read anew for each question."""


@attrs.frozen(eq=False)
class VisibleDocuments:
    """The statistics of BM25 over the visible texts of one kind of elements that have a term."""

    count: int
    average: float
    """The average length, as BM25 takes it."""
    containing: Mapping[str, Collection[int]]
    """The numbers of the documents that have a term."""

    @staticmethod
    def of(documents: Iterable[Mapping[str, float]]) -> VisibleDocuments:
        """Of the frequencies of each term of the texts."""
        filled = [each for each in documents if each]
        containing: defaultdict[str, set[int]] = defaultdict(set)
        for number, each in enumerate(filled):
            for term in each:
                containing[term].add(number)
        average = grid(sum(sum(each.values()) for each in filled) / max(len(filled), 1))
        return VisibleDocuments(len(filled), average, dict(containing))

    def having(self, group: Sequence[str]) -> int:
        """The number of documents that have all of some terms, of which there may be none."""
        if not group:
            return self.count
        return len(set.intersection(*(set(self.containing.get(term, ())) for term in group)))

    def counts(self, terms: Iterable[str]) -> TermCounts:
        """The numbers that the rarity of terms is computed from."""
        return TermCounts(self.count, {term: len(self.containing.get(term, ())) for term in terms}, self.average)


class DocumentCache:
    """What principals may see of one scope at its latest version.

    Another version replaces all of it: nothing forgotten survives the next question. Cached are the answers of gates
    that know what determines their decisions (`BoundGate.question`), unless a decision failed.
    """

    def __init__(self) -> None:
        self._version: Hashable = None
        self._kept: OrderedDict[Hashable, VisibleDocuments] = OrderedDict()

    def known(self, shown: Hashable, version: Hashable) -> VisibleDocuments | None:
        """What was kept for a gate and a kind, at this version."""
        if version != self._version:
            self._kept.clear()
            self._version = version
        if shown in self._kept:
            self._kept.move_to_end(shown)
        return self._kept.get(shown)

    def keep(self, shown: Hashable, version: Hashable, found: VisibleDocuments) -> None:
        """Keep what was read at a version, unless a question has met another version since; drop the least used."""
        if version != self._version or found.count > KEPT:
            return
        self._kept[shown] = found
        while sum(each.count for each in self._kept.values()) > KEPT:
            self._kept.popitem(last=False)
