"""What a person should look at: entities that may be one, and relations that cannot both hold."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.access.reader import EntityRef, Reader, known
from graphsearch.claims.naming import folded_name
from graphsearch.curation.permissions import Access
from graphsearch.model import Action, Contradiction, Entity, SimilarPair
from graphsearch.model import validation as check
from graphsearch.text.trigrams import similarity

ALIKE: Final = 0.85
"""Two names with a greater similarity may belong to one entity."""
NEAR_CERTAIN: Final = 0.92
"""Two names with a greater similarity almost certainly belong to one entity."""


class Verdict(StrEnum):
    """What to do about a pair."""

    NEAR_CERTAIN = "near_certain"
    REVIEW = "review"
    """To be reviewed by a person or a language model."""


@attrs.frozen(kw_only=True)
class Duplicate:
    """Two entities of one type, the lower id first, and the similarity of their names, in [0, 1]."""

    one: Entity
    other: Entity
    similarity: float

    @property
    def verdict(self) -> Verdict:
        """Near certain above 0.92, else for review."""
        return Verdict.NEAR_CERTAIN if self.similarity > NEAR_CERTAIN else Verdict.REVIEW


async def find_duplicates(access: Access, *, limit: int = 20, threshold: float = ALIKE) -> tuple[Duplicate, ...]:
    """See `graphsearch.curation.Curator.find_duplicates`."""
    check.refuse("duplicates", check.number("limit", limit, 0), check.number("threshold", threshold, 0.6, 1))
    async with access.reading() as reader:
        requested = limit
        while True:  # widen until enough are visible or there are no more
            pairs = await access.store.similar_pairs(threshold=threshold, limit=requested)
            alike = [pair for pair in pairs if pair.similarity > threshold]
            found = await _visible_duplicates(alike, threshold, access, reader)
            if len(found) >= limit or len(pairs) < requested:
                return tuple(found[:limit])
            requested *= 2


async def mark_distinct(one: EntityRef, other: EntityRef, access: Access, *, distinct: bool = True) -> bool:
    """See `graphsearch.curation.Curator.mark_distinct`."""
    async with access.reading() as reader:
        pair = [await known(each, reader) for each in (one, other)]
    await access.demand(Action.WRITE, pair)
    return await access.store.mark_distinct([(pair[0].id, pair[1].id)], distinct=distinct) > 0


async def _visible_duplicates(
    pairs: Sequence[SimilarPair], threshold: float, access: Access, reader: Reader
) -> list[Duplicate]:
    """The pairs whose entities are both visible and of one visible type, with the similarity of their visible names."""
    ids = sorted({id_ for pair in pairs for id_ in (pair.one_id, pair.other_id)})
    entities = {each.id: each for each in await reader.get_entities(ids)}
    found = [
        Duplicate(one=one, other=other, similarity=_similarity(one, other) if access.gated else pair.similarity)
        for pair in pairs
        if (one := entities.get(pair.one_id)) and (other := entities.get(pair.other_id)) and one.type == other.type
    ]
    alike = [each for each in found if each.similarity > threshold]
    return sorted(alike, key=lambda each: (-each.similarity, each.one.id, each.other.id))


def _similarity(one: Entity, other: Entity) -> float:
    names, others = ([folded_name(name) for name in (entity.name, *entity.aliases)] for entity in (one, other))
    return max(similarity(name, each) for name in names for each in others)


async def contradictions(access: Access, *, limit: int = 20) -> tuple[Contradiction, ...]:
    """See `graphsearch.curation.Curator.contradictions`."""
    check.refuse("contradictions", check.number("limit", limit, 0))
    async with access.reading() as reader:
        requested = limit
        while True:  # widen until enough are visible or there are no more
            found = await access.store.contradictions(limit=requested)
            shown = await _visible_contradictions(found, reader)
            if len(shown) >= limit or len(found) < requested:
                return tuple(shown[:limit])
            requested *= 2


async def _visible_contradictions(found: Sequence[Contradiction], reader: Reader) -> list[Contradiction]:
    """The pairs whose relations are both visible and still contradict each other when folded from visible memories."""
    relations = {relation.id: relation for each in found for relation in (each.one, each.other)}
    shown = {relation.id: relation for relation in await reader.shown(list(relations.values()))}
    pairs = [
        Contradiction(one=shown[each.one.id], other=shown[each.other.id])
        for each in found
        if each.one.id in shown and each.other.id in shown
    ]
    return [each for each in pairs if _overlap(each)]


def _overlap(each: Contradiction) -> bool:
    return each.valid_from is None or each.valid_to is None or each.valid_from < each.valid_to
