"""How well an entity's names match typed text. Pure, so that only visible names count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.claims.naming import INDEXED_SIMILARITY, folded_name, words_of
from graphsearch.model import Entity
from graphsearch.text.trigrams import similarity, spoken_words


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
