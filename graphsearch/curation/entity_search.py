"""Finding entities by what somebody types: whole names, parts of them, and slips (design 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import INDEXED_SIMILARITY
from graphsearch.curation.matching import EntityHit, asked_words, best, match
from graphsearch.curation.permissions import Access
from graphsearch.model import validation as check
from graphsearch.model.identity import snake_case
from graphsearch.text.trigrams import MAX_NAME_WORDS

CANDIDATES: Final = 50
"""How many entities are looked at a word, or as similar, at least."""


async def search_entities(
    query: str, access: Access, *, limit: int = 10, type: str | None = None
) -> tuple[EntityHit, ...]:
    """See `graphsearch.curation.Curator.search_entities`."""
    check.refuse("entity search", check.text("query", query, empty=True), check.number("limit", limit, 0))
    if not query.strip() or not limit:
        return ()
    async with access.reading() as reader:
        search = _Search(query, access, reader, type and snake_case(type), max(CANDIDATES, limit))
        await search.exact()
        await search.words(prefix=False)
        await search.words(prefix=True)
        await search.similar()
    return best(search.hits.values(), limit)


@attrs.define(eq=False)
class _Search:
    """One search: what the store proposes, kept if it may be seen, is of the type, and is found by a name that shows.

    Wherever the store is asked for a number of candidates, it is asked for more until as many of them are kept: what is
    hidden takes nobody's place.
    """

    query: str
    access: Access
    reader: Reader
    type: str | None
    wanted: int
    hits: dict[UUID, EntityHit] = attrs.field(factory=dict)
    _met: set[UUID] = attrs.field(factory=set)

    async def exact(self) -> None:
        """Whole names and aliases."""
        await self._meet([found.entity_id for found in await self.reader.store.find_names([self.query])])

    async def words(self, *, prefix: bool) -> None:
        """Words, or beginnings of words."""
        words, asked = asked_words(self.query)[:MAX_NAME_WORDS], self.wanted
        while words:
            found = await self.reader.store.find_name_words(words, prefix=prefix, limit=asked)
            await self._meet([each.entity_id for each in found])
            proposed = Counter(each.name for each in found)
            kept = Counter(each.name for each in found if each.entity_id in self.hits)
            words = tuple(word for word in words if proposed[word] >= asked and kept[word] < self.wanted)
            asked *= 2

    async def similar(self) -> None:
        """Names with most of the same trigrams."""
        asked = self.wanted
        while True:
            by_name = await self.reader.store.similar_names([self.query], threshold=INDEXED_SIMILARITY, limit=asked)
            found = [each.entity_id for each in by_name.get(self.query, ())]
            await self._meet(found)
            if len(found) < asked or sum(id_ in self.hits for id_ in found) >= self.wanted:
                return
            asked *= 2

    async def _meet(self, ids: Sequence[UUID]) -> None:
        fresh = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._met]
        self._met.update(fresh)
        entities = await self.reader.store.get_entities(fresh)
        fitting = [each for each in entities if self.type is None or each.type == self.type]
        for entity in await self.access.seen(fitting, self.reader):
            if hit := match(self.query, entity):
                self.hits[entity.id] = hit
