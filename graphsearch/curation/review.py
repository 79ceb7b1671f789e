"""What a person should look at: entities that may be one, and relations that cannot both hold."""

from __future__ import annotations

from collections.abc import Sequence

from graphsearch.access.reader import EntityRef, Reader, known
from graphsearch.curation.permissions import Access
from graphsearch.health.duplicates import ALIKE, Duplicate, compared
from graphsearch.model import Action, Contradiction
from graphsearch.model import validation as check


async def find_duplicates(access: Access, *, limit: int = 20, threshold: float = ALIKE) -> tuple[Duplicate, ...]:
    """See `graphsearch.curation.Curator.find_duplicates`."""
    check.refuse("duplicates", check.number("limit", limit, 0), check.number("threshold", threshold, 0.6, 1))
    async with access.reading() as reader:
        return (await compared(access.store, reader, threshold=threshold, limit=limit)).pairs


async def mark_distinct(one: EntityRef, other: EntityRef, access: Access, *, distinct: bool = True) -> bool:
    """See `graphsearch.curation.Curator.mark_distinct`."""
    async with access.reading() as reader:
        pair = [await known(each, reader) for each in (one, other)]
    await access.demand(Action.WRITE, pair)
    return await access.store.mark_distinct([(pair[0].id, pair[1].id)], distinct=distinct) > 0


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
