"""Search for entities by what somebody types: whole names, parts of names, and misspellings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import INDEXED_SIMILARITY
from graphsearch.curation.matching import EntityHit, best, match, query_words
from graphsearch.curation.permissions import Access
from graphsearch.model import validation as check
from graphsearch.model.identity import snake_case
from graphsearch.text.trigrams import MAX_NAME_WORDS

CANDIDATES: Final = 50
"""The least number of candidates per word, and of similar names."""


async def search_entities(
    query: str, access: Access, *, limit: int = 10, type: str | None = None
) -> tuple[EntityHit, ...]:
    """See `graphsearch.curation.Curator.search_entities`."""
    check.refuse("entity search", check.text("query", query, empty=True), check.number("limit", limit, 0))
    if not query.strip() or not limit:
        return ()
    async with access.reading() as reader:
        search = _Search(query, reader, type and snake_case(type), max(CANDIDATES, limit))
        await search.exact()
        await search.words(prefix=False)
        await search.words(prefix=True)
        await search.similar()
    return best(search.hits.values(), limit)


@attrs.define(eq=False)
class _Search:
    """One search: candidates from the store, kept if they are visible, of the type, and match by a visible name.

    The number of candidates per query is doubled until enough of them are kept, so that hidden entities do not displace
    visible ones.
    """

    query: str
    reader: Reader
    type: str | None
    wanted: int
    hits: dict[UUID, EntityHit] = attrs.field(factory=dict)
    _examined: set[UUID] = attrs.field(factory=set)

    async def exact(self) -> None:
        """Whole names and aliases."""
        await self._add_matches([found.entity_id for found in await self.reader.find_names([self.query])])

    async def words(self, *, prefix: bool) -> None:
        """Words, or beginnings of words."""
        words, requested = query_words(self.query)[:MAX_NAME_WORDS], self.wanted
        while words:
            found = await self.reader.find_name_words(words, prefix=prefix, limit=requested)
            await self._add_matches([each.entity_id for each in found])
            proposed = Counter(each.name for each in found)
            kept = Counter(each.name for each in found if each.entity_id in self.hits)
            words = tuple(word for word in words if proposed[word] >= requested and kept[word] < self.wanted)
            requested *= 2

    async def similar(self) -> None:
        """Names that share most trigrams with the query."""
        requested = self.wanted
        while True:
            by_name = await self.reader.similar_names([self.query], threshold=INDEXED_SIMILARITY, limit=requested)
            found = [each.entity_id for each in by_name.get(self.query, ())]
            await self._add_matches(found)
            if len(found) < requested or sum(id_ in self.hits for id_ in found) >= self.wanted:
                return
            requested *= 2

    async def _add_matches(self, ids: Sequence[UUID]) -> None:
        fresh = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._examined]
        self._examined.update(fresh)
        for entity in await self.reader.get_entities(fresh):
            fitting = self.type is None or entity.type == self.type
            if fitting and (hit := match(self.query, entity)):
                self.hits[entity.id] = hit
