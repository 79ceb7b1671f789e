"""Names that are nearly the ones asked for, in Postgres: by word, by the beginning of a word, by trigrams.

Entities that a bulk write left without postings are looked at one by one; the answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.model import ElementKind
from graphsearch.naming import (
    MAX_TRIGRAMS,
    SLACK,
    folded_name,
    refuse_limit,
    refuse_threshold,
    sizes,
    words_of,
)
from graphsearch.query.trigrams import index_trigrams, overlap, trigrams
from graphsearch.records import NameMatch, SimilarName, SimilarPair
from graphsearch.stores.in_postgres.incoming import TRIGRAM, WORD
from graphsearch.stores.in_postgres.reading import storable
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement
from graphsearch.stores.shared import similarity as pairs

_LAST: Final = "\U0010ffff"


@attrs.frozen
class _Unnamed:
    """An entity that has no postings yet."""

    id: UUID
    type: str
    names: Sequence[str]

    def similarity(self, name: str) -> tuple[float, str]:
        """The greatest similarity of one of its names, and that name, folded."""
        asked = trigrams(name)
        scored = [
            (overlap(asked, own), each)
            for each in dict.fromkeys(map(folded_name, self.names))
            if 0 < len(own := trigrams(each)) <= MAX_TRIGRAMS
        ]
        return min(scored, key=lambda each: (-each[0], each[1]), default=(0.0, ""))


async def find_words(session: Session, words: Iterable[str], *, prefix: bool, limit: int) -> list[NameMatch]:
    """Entities that have one of the words in a name, or one that starts so, in order of id."""
    refuse_limit(limit)
    asked = [word for word in storable(dict.fromkeys(words)) if word]
    if not asked:
        return []
    values: dict[str, Any] = {"words": asked, "terms": [WORD + word for word in asked], "limit": limit}
    if prefix:
        values["ends"] = [WORD + word + _LAST for word in asked]
    name = "find beginnings" if prefix else "find words"
    found = await (await session.run_kept(statement(name), **values)).fetchall()
    matches: dict[str, dict[UUID, bool]] = {word: {} for word in asked}
    for word, entity, alias in found:
        matches[word][entity] = alias
    for each in await _unnamed(session):
        own, every = words_of(each.names[:1]), words_of(each.names)
        for word in asked:
            if _meets(word, every, prefix=prefix):
                matches[word][each.id] = not _meets(word, own, prefix=prefix)
    place = {word: at for at, word in enumerate(asked)}
    return sorted(
        (
            NameMatch(name=word, entity_id=entity, alias=alias)
            for word, entities in matches.items()
            for entity, alias in sorted(entities.items())[:limit]
        ),
        key=lambda match: (match.entity_id, place[match.name]),
    )


def _meets(word: str, words: Iterable[str], *, prefix: bool) -> bool:
    return any(each.startswith(word) if prefix else each == word for each in words)


async def similar_names(
    session: Session, names: Iterable[str], threshold: float, limit: int
) -> dict[str, Sequence[SimilarName]]:
    """For each name the entities that have one like it."""
    refuse_threshold(threshold, limit)
    asked = list(dict.fromkeys(names))
    folded = {name: folded_name(name) for name in storable(asked)}
    best = await _similar(session, list(dict.fromkeys(folded.values())), threshold)
    for each in await _unnamed(session):
        for name, entities in best.items():
            score, own = each.similarity(name)
            if score >= threshold:
                entities[each.id] = (score, own)
    return {name: _best_first(best.get(folded.get(name, ""), {}))[:limit] for name in asked}


def _best_first(found: Mapping[UUID, tuple[float, str]]) -> list[SimilarName]:
    similar = [SimilarName(name=name, entity_id=key, similarity=score) for key, (score, name) in found.items()]
    return sorted(similar, key=lambda each: (-each.similarity, each.entity_id))


async def _similar(
    session: Session, folded: Sequence[str], threshold: float
) -> dict[str, dict[UUID, tuple[float, str]]]:
    """By folded name: the entities that have postings and a name like it, with the most similar one."""
    best: dict[str, dict[UUID, tuple[float, str]]] = {name: {} for name in folded}
    places: dict[str, list[Any]] = {key: [] for key in ("places", "terms", "at", "lengths", "low", "high")}
    for place, name in enumerate(folded, 1):
        length = len(trigrams(name))
        within = sizes(length, threshold)
        for at, trigram in enumerate(index_trigrams(name, threshold)):
            row = (place, TRIGRAM + trigram, at, length, within.start, within.stop - 1)
            for column, value in zip(places.values(), row, strict=True):
                column.append(value)
    if not places["places"]:
        return best
    named = dict(enumerate(folded, 1))
    found = await session.run(
        statement("similar names"), **places, folded=list(folded), threshold=threshold, **_bounds(threshold)
    )
    for place, entity, name, score in await found.fetchall():
        entities = best[named[place]]
        if entity not in entities or (-score, name) < (-entities[entity][0], entities[entity][1]):
            entities[entity] = (score, name)
    return best


async def similar_pairs(session: Session, threshold: float, limit: int) -> list[SimilarPair]:
    """Pairs of one type with similar names, best first, without those that were marked as distinct."""
    refuse_threshold(threshold, limit)
    if session.tally(ElementKind.ENTITY).behind:
        return await _similar_pairs_of_all(session, threshold, limit)
    found = await session.run(
        statement("similar pairs"), threshold=threshold, limit=limit, most=MAX_TRIGRAMS, **_bounds(threshold)
    )
    return [SimilarPair(one_id=one, other_id=other, similarity=score) for one, other, score in await found.fetchall()]


async def _similar_pairs_of_all(session: Session, threshold: float, limit: int) -> list[SimilarPair]:
    every = [_Unnamed(*row) for row in await (await session.run(statement("all names"))).fetchall()]
    marked = set(await (await session.run(statement("all distinct pairs"))).fetchall())
    of: dict[str, set[UUID]] = {}
    for each in every:
        for name in each.names:
            of.setdefault(folded_name(name), set()).add(each.id)
    types = {each.id: each.type for each in every}
    return pairs.similar_pairs(of, types.__getitem__, marked.__contains__, threshold, limit)


def _bounds(threshold: float) -> dict[str, float]:
    """For `graphsearch.naming.prefix_lengths` in SQL."""
    return {"share": threshold / (1 + threshold), "slack": SLACK}


async def _unnamed(session: Session) -> list[_Unnamed]:
    if not session.tally(ElementKind.ENTITY).behind:
        return []
    return [_Unnamed(*row) for row in await (await session.run(statement("unnamed"))).fetchall()]
