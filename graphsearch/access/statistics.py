"""Statistics of words, over the whole scope or over what may be seen.

Those of the scope are maintained by the store, and count what is hidden. Those of the visible are counted from
everything that a gate shows, of the kinds that a question searches: the price is reading these, once for each version
of the scope where the gate's decisions can be cached.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Hashable, Mapping, Sequence
from typing import Any

from graphsearch._support.paging import pages
from graphsearch.access.visible_documents import Document, VisibleDocuments
from graphsearch.access.walks import Walks
from graphsearch.columns import Keys
from graphsearch.model import ElementKind, Entity, Memory, Relation
from graphsearch.text.bm25 import document, searchable_text


class Statistics(Walks):
    """Counts of elements and of terms; see `graphsearch.access.gate.Gate` for what they cover."""

    @property
    def counts_visible(self) -> bool:
        """Whether statistics cover the visible alone."""
        return self._gatekeeper.counts_visible

    async def document_count(self, kind: ElementKind) -> int:
        """The number of elements with a word in their texts: see `GraphStore.document_count`."""
        if self.counts_visible:
            return (await self.visible_documents(kind)).count
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
        """The texts of the visible elements of a kind; read once for a question, or several: see `DocumentCache`."""
        known = self._gatekeeper.documents
        if kind not in known:
            known[kind] = await self._cached(kind)
        return known[kind]

    async def _cached(self, kind: ElementKind) -> VisibleDocuments:
        cache, gate = self._gatekeeper.cache, self._gatekeeper.question
        stated_by_view = kind is ElementKind.RELATION and (self._evidence.is_past(self.view) or self.view.refolded)
        if cache is None or gate is None or stated_by_view:
            return await self._read(kind)
        shown: Hashable = (kind, gate)
        version = await self._store.version()
        found = cache.known(shown, version)
        if found is None:
            found = await self._read(kind)
            if not self._gatekeeper.failed:
                cache.keep(shown, version, found)
        return found

    async def _read(self, kind: ElementKind) -> VisibleDocuments:
        by_id: dict[Any, Document] = {}
        async for page in self._every_visible(kind):
            by_id.update(zip((each.id for each in page), await self.documents_of(page), strict=True))
        return VisibleDocuments(by_id)

    async def documents_at(self, kind: ElementKind, keys: Keys) -> list[Document]:
        """The documents of visible elements of a kind, one for each key."""
        if kind is ElementKind.RELATION:  # what these state may depend on the view
            return await self.documents_of(await self.relations(keys))
        known = (await self.visible_documents(kind)).by_id
        ids: Sequence[Any] = self.entity_ids(keys) if kind is ElementKind.ENTITY else self.memory_ids(keys)
        return [known.get(id_, {}) for id_ in ids]

    async def documents_of(self, elements: Sequence[Entity | Memory | Relation]) -> list[Document]:
        """The documents of visible elements of one kind, one for each."""
        ids = [each.id for each in elements if isinstance(each, Entity)]
        words: Mapping[Any, Mapping[str, float]] = await self.words(ids) if ids else {}
        return [document(searchable_text(each), words.get(each.id, {}), self.analyser) for each in elements]

    async def unmerged_entities(self, *, without: Collection[str] = ()) -> list[Entity]:
        """All visible entities that are not merged into another, except those of some types, by id."""
        found: list[Entity] = []
        if not self._gatekeeper.allows_all:
            async for page in self._every_visible(ElementKind.ENTITY):
                found += [each for each in page if isinstance(each, Entity)]
        else:
            for type_ in sorted((await self._store.statistics()).entities_by_type.keys() - set(without)):
                async for some in pages(self._store.list_entities, type=type_):
                    found += some
        kept = [each for each in found if each.merged_into is None and each.type not in without]
        return sorted(kept, key=lambda each: each.id)

    async def sees_anything(self) -> bool:
        """Whether any element of the scope may be seen; reads up to the first one that may, or all."""
        if not self.hides:
            return True
        for kind in ElementKind:
            async for page in self._every_visible(kind):
                if page:
                    return True
        return False

    async def _every_visible(self, kind: ElementKind) -> AsyncIterator[Sequence[Entity | Memory | Relation]]:
        """Pages of all visible elements of a kind, as they are shown, whether they hold or not."""
        store: Any = self._store
        listed = {
            ElementKind.ENTITY: store.list_entities,
            ElementKind.MEMORY: store.list_memories,
            ElementKind.RELATION: store.list_relations,
        }[kind]
        async for page in pages(listed):
            yield await self._shown(kind, page)

    async def _shown(self, kind: ElementKind, page: Sequence[Any]) -> Sequence[Entity | Memory | Relation]:
        if kind is ElementKind.RELATION:
            return await self.shown(page)
        if kind is ElementKind.MEMORY:
            visible = await self._gatekeeper.visible_memories([each.id for each in page])
            return [each for each in page if each.id in visible]
        await self.visible_ids(each.id for each in page)  # notes those of which some mentions may be hidden
        return await self._gatekeeper.entities.shown(page)
