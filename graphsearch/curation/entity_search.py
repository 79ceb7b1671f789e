"""Search for entities by what somebody types: whole names, parts of names, and misspellings."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import INDEXED_SIMILARITY, folded_name, words_of
from graphsearch.ingest.stating.scope import VALUE
from graphsearch.model import Entity
from graphsearch.text.trigrams import MAX_NAME_WORDS, one_letter_off, similarity, spoken_words

CANDIDATES: Final = 50
"""The least number of candidates per word, and of similar names."""
MIN_MISSPELT: Final = 4
"""The least letters of a word that is taken for another one."""


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
    its trigrams, which is at least 0.6, or 0.6 of the share of words that are one letter off. Of several ways the best
    one counts.
    """

    entity: Entity
    way: Way
    score: float


async def find_entities(query: str, reader: Reader, *, type: str | None, limit: int) -> tuple[EntityHit, ...]:
    """Find the visible entities of a type, by default of all but stated values, that match a text by a visible name."""
    hits: dict[UUID, EntityHit] = {}
    seen: set[UUID] = set()
    wide = max(CANDIDATES, limit)
    while True:
        found = await _candidates(query, reader, wide)
        for entity in await reader.get_entities(sorted(found - seen)):
            fitting = entity.type == type if type else entity.type != VALUE
            if fitting and (hit := match(query, entity)):
                hits[entity.id] = hit
        if len(hits) >= limit or len(found) < wide or found <= seen:
            return best(hits.values(), limit)
        seen |= found
        wide *= 4  # what is of another type must not displace what is asked for


async def _candidates(query: str, reader: Reader, limit: int) -> set[UUID]:
    """The visible entities with the name, some of the words, or a similar name; at most ``limit`` for each of them."""
    words = query_words(query)[:MAX_NAME_WORDS]
    found = {each.entity_id for each in await reader.find_names([query])}
    for prefix in (False, True):
        if words:
            named = await reader.find_name_words(words, prefix=prefix, limit=limit)
            found |= {each.entity_id for each in named}
    alike = await reader.similar_names([query], threshold=INDEXED_SIMILARITY, limit=limit)
    found |= {each.entity_id for each in alike.get(query, ())}
    if found or not words:
        return found
    misspelt = sorted(frozenset[str]().union(*map(_spellings, words)))
    return {each.entity_id for each in await reader.find_name_words(misspelt, limit=limit)}


def match(query: str, entity: Entity) -> EntityHit | None:
    """Match an entity by a text; None if it does not match."""
    folded, asked = folded_name(query), query_words(query)
    aliases = list(map(folded_name, entity.aliases))
    words = words_of((entity.name, *entity.aliases))
    alike = max(similarity(name, folded) for name in (folded_name(entity.name), *aliases))
    near = _share(not _spellings(word).isdisjoint(words) for word in asked) * INDEXED_SIMILARITY
    scores = {
        Way.NAME: float(folded_name(entity.name) == folded),
        Way.ALIAS: float(folded in aliases),
        Way.WORD: _share(word in words for word in asked),
        Way.PREFIX: _share(any(each.startswith(word) for each in words) for word in asked),
        Way.SIMILAR: max(near, alike if alike >= INDEXED_SIMILARITY else 0.0),
    }
    way = max(_WAYS, key=lambda each: scores[each] * WEIGHTS[each])
    score = scores[way] * WEIGHTS[way]
    return EntityHit(entity=entity, way=way, score=score) if score else None


def _share(matches: Iterable[bool]) -> float:
    found = list(matches)
    return sum(found) / len(found) if found else 0.0


@lru_cache(maxsize=256)
def _spellings(word: str) -> frozenset[str]:
    """A word and those one letter off, made once for all candidates of a query; a short one would be any other."""
    return frozenset({word}) | (one_letter_off(word) if len(word) >= MIN_MISSPELT else frozenset())


def query_words(query: str) -> tuple[str, ...]:
    """The words of a text, each once."""
    return tuple(dict.fromkeys(word for word in spoken_words(query) if word))


def best(hits: Iterable[EntityHit], limit: int) -> tuple[EntityHit, ...]:
    """The best hits: by score, then by way, name and id."""
    return tuple(
        sorted(hits, key=lambda hit: (-hit.score, _WAYS.index(hit.way), hit.entity.name, hit.entity.id))[:limit]
    )
