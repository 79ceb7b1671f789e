"""Search for entities by what somebody types: whole names, parts of names, and misspellings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import INDEXED_SIMILARITY, folded_name, words_of
from graphsearch.curation.permissions import Access
from graphsearch.ingest.stating.scope import VALUE
from graphsearch.model import Entity
from graphsearch.model import validation as check
from graphsearch.model.identity import snake_case
from graphsearch.text.trigrams import MAX_NAME_WORDS, similarity, spoken_words

CANDIDATES: Final = 50
"""The least number of candidates per word, and of similar names."""


class Way(StrEnum):
    """How an entity was found, the most certain first."""

    NAME = "name"
    ALIAS = "alias"
    WORD = "word"
    PREFIX = "prefix"
    SIMILAR = "similar"


WEIGHTS: Final = {Way.NAME: 1.0, Way.ALIAS: 0.95, Way.WORD: 0.9, Way.PREFIX: 0.8, Way.SIMILAR: 0.9}
"""The greatest score of each way."""

_WAYS: Final = tuple(Way)


@attrs.frozen(kw_only=True)
class EntityHit:
    """An entity that was found, how, and how well it matches.

    ``score``, in (0, 1], is the weight of its way (see `WEIGHTS`) times: 1 for a name or an alias; for words and
    prefixes the share of the query's words that are words of a name, or begin one; for a similar name the similarity of
    its trigrams, which is at least 0.6. Of several ways the best one counts.
    """

    entity: Entity
    way: Way
    score: float


async def search_entities(
    query: str, access: Access, *, limit: int = 10, type: str | None = None
) -> tuple[EntityHit, ...]:
    """See `graphsearch.curation.Curator.search_entities`."""
    check.refuse(
        "entity search",
        check.text("query", query, empty=True, longest=check.LONGEST_QUESTION),
        check.number("limit", limit, 0),
    )
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
            fitting = entity.type == self.type if self.type else entity.type != VALUE
            if fitting and (hit := match(self.query, entity)):
                self.hits[entity.id] = hit


def match(query: str, entity: Entity) -> EntityHit | None:
    """Match an entity by a text; None if it does not match."""
    folded = folded_name(query)
    names = (entity.name, *entity.aliases)
    scores = {
        Way.NAME: float(folded_name(entity.name) == folded),
        Way.ALIAS: float(any(folded_name(alias) == folded for alias in entity.aliases)),
        **_by_words(query_words(query), words_of(names)),
        Way.SIMILAR: max(similarity(folded_name(name), folded) for name in names),
    }
    if scores[Way.SIMILAR] < INDEXED_SIMILARITY:
        scores[Way.SIMILAR] = 0.0
    way = max(_WAYS, key=lambda each: scores[each] * WEIGHTS[each])
    score = scores[way] * WEIGHTS[way]
    return EntityHit(entity=entity, way=way, score=score) if score else None


def query_words(query: str) -> tuple[str, ...]:
    """The words of a text, each once."""
    return tuple(dict.fromkeys(word for word in spoken_words(query) if word))


def best(hits: Iterable[EntityHit], limit: int) -> tuple[EntityHit, ...]:
    """The best hits: by score, then by way, name and id."""
    return tuple(
        sorted(hits, key=lambda hit: (-hit.score, _WAYS.index(hit.way), hit.entity.name, hit.entity.id))[:limit]
    )


def _by_words(query: Sequence[str], words: frozenset[str]) -> dict[Way, float]:
    if not query:
        return {Way.WORD: 0.0, Way.PREFIX: 0.0}
    whole = sum(word in words for word in query)
    prefixes = sum(any(each.startswith(word) for each in words) for word in query)
    return {Way.WORD: whole / len(query), Way.PREFIX: prefixes / len(query)}
