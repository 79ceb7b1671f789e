"""Statistics of words, over the whole scope or over what may be seen.

Those of the scope are maintained by the store, and count what is hidden. Those of the visible are counted for a
question from everything that its gate shows, of the kinds that it searches: the price is reading these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.walks import Walks
from graphsearch.columns import Floats
from graphsearch.model import ElementKind, Entity, Memory, Relation
from graphsearch.text.bm25 import document, grid, idf, saturated, searchable_text

PAGE: Final = 1_000
"""Elements read at a time."""

Document = Mapping[str, float]
"""The frequency of each term of a text."""


@attrs.frozen(eq=False)
class VisibleDocuments:
    """The statistics of BM25 over visible texts."""

    documents: Sequence[Document]
    """Those with a term."""
    containing: Mapping[str, int]
    """The number of documents by term."""
    average: float
    """The average length of documents, as BM25 takes it."""

    @classmethod
    def of(cls, every: Sequence[Document]) -> VisibleDocuments:
        """The statistics of some documents, of which those without a term are left out."""
        documents = [each for each in every if each]
        length = sum(sum(each.values()) for each in documents)
        containing = Counter(term for each in documents for term in each)
        return cls(documents, containing, grid(length / max(len(documents), 1)))

    def having(self, group: Sequence[str]) -> int:
        """The number of documents that have all of some terms."""
        if len(group) == 1:
            return self.containing.get(group[0], 0)
        wanted = set(group)
        return sum(wanted <= each.keys() for each in self.documents)

    def scores(self, documents: Sequence[Document], terms: Sequence[str]) -> Floats:
        """The BM25 of some of the documents for the terms of a question; NaN for those that have none of them."""
        rarity = {term: idf(len(self.documents), self.containing.get(term, 0)) for term in dict.fromkeys(terms)}
        values = []
        for each in documents:
            weights = saturated(each, sum(each.values()), self.average)
            own = [rarity[term] * weights[term] for term in rarity if term in weights]
            values.append(sum(own) if own else np.nan)
        return np.array(values, np.float64)


class Statistics(Walks):
    """Counts of elements and of terms; see `graphsearch.access.gate.Gate` for what they cover."""

    @property
    def counts_visible(self) -> bool:
        """Whether statistics cover the visible alone."""
        return self._gatekeeper.counts_visible

    async def document_count(self, kind: ElementKind) -> int:
        """The number of elements with a word in their texts: see `GraphStore.document_count`."""
        if self.counts_visible:
            return len((await self.visible_documents(kind)).documents)
        return await self._store.document_count(kind)

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        """The number of elements that have some terms: see `GraphStore.document_frequencies`."""
        if self.counts_visible:
            visible = await self.visible_documents(kind)
            return [visible.having(group) for group in groups]
        return await self._store.document_frequencies(kind, groups)

    async def entity_count(self) -> int:
        """The number of entities with a word in their texts."""
        return await self.document_count(ElementKind.ENTITY)

    async def visible_documents(self, kind: ElementKind) -> VisibleDocuments:
        """The statistics of the visible elements of a kind; counted once for a question."""
        known = self._gatekeeper.documents
        if kind not in known:
            found = [each async for page in self._every_visible(kind) for each in await self.documents_of(page)]
            known[kind] = VisibleDocuments.of(found)
        return known[kind]

    async def documents_of(self, elements: Sequence[Entity | Memory | Relation]) -> list[Document]:
        """The documents of visible elements of one kind, one for each."""
        ids = [each.id for each in elements if isinstance(each, Entity)]
        words: Mapping[Any, Mapping[str, float]] = await self.words(ids) if ids else {}
        return [document(searchable_text(each), words.get(each.id, {}), self.analyser) for each in elements]

    async def unmerged_entities(self, *, without: Collection[str] = ()) -> list[Entity]:
        """All visible entities that are not merged into another, except those of some types, by id."""
        found: list[Entity] = []
        if self.hides:
            async for page in self._every_visible(ElementKind.ENTITY):
                found += [each for each in page if isinstance(each, Entity)]
        else:
            for type_ in sorted((await self._store.statistics()).entities_by_type.keys() - set(without)):
                after: UUID | None = None
                while some := await self._store.list_entities(after=after, limit=PAGE, type=type_):
                    found += some
                    after = some[-1].id
        kept = [each for each in found if each.merged_into is None and each.type not in without]
        return sorted(kept, key=lambda each: each.id)

    async def _every_visible(self, kind: ElementKind) -> AsyncIterator[Sequence[Entity | Memory | Relation]]:
        """Pages of all visible elements of a kind, as they are shown, whether they hold or not."""
        store: Any = self._store
        listed = {
            ElementKind.ENTITY: store.list_entities,
            ElementKind.MEMORY: store.list_memories,
            ElementKind.RELATION: store.list_relations,
        }[kind]
        after: Any = None
        while page := await listed(after=after, limit=PAGE):
            yield await self._shown(kind, page)
            after = page[-1].id

    async def _shown(self, kind: ElementKind, page: Sequence[Any]) -> Sequence[Entity | Memory | Relation]:
        if kind is ElementKind.RELATION:
            return await self.shown(page)
        if kind is ElementKind.MEMORY:
            visible = await self._gatekeeper.visible_memories([each.id for each in page])
            return [each for each in page if each.id in visible]
        await self.visible_ids(each.id for each in page)  # notes those of which some mentions may be hidden
        return await self._gatekeeper.entities.shown(page)
