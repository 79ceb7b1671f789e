"""What a person should look at: entities that may be one, and relations that cannot both hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch._support.paging import pages
from graphsearch.access.reader import EntityRef, Reader, known
from graphsearch.curation.permissions import Access
from graphsearch.health.duplicates import ALIKE, Duplicate, compared
from graphsearch.model import Action, Contradiction, Relation
from graphsearch.model import validation as check
from graphsearch.model.identity import relation_id

PAGE: Final = 1_000
"""Relations read, or folded from visible memories, at a time."""


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


async def visible_contradictions(found: Sequence[Contradiction], reader: Reader) -> list[Contradiction]:
    """The pairs whose relations are both visible and still contradict each other when folded from visible memories."""
    relations = {relation.id: relation for each in found for relation in (each.one, each.other)}
    shown = {relation.id: relation for relation in await reader.shown(list(relations.values()))}
    pairs = [
        Contradiction(one=shown[each.one.id], other=shown[each.other.id])
        for each in found
        if each.one.id in shown and each.other.id in shown
    ]
    return [each for each in pairs if each.overlaps]


async def refolded_contradictions(access: Access, reader: Reader, limit: int) -> tuple[Contradiction, ...]:
    """The pairs of relations that contradict each other as folded from visible memories.

    The store proposes pairs as stored, which lack those that something hidden settled. They are in the order of the ids
    that the relations have in a graph without it.
    """
    found: list[Contradiction] = []
    for page in _pages(await _with_several_targets(access, reader)):
        if len(found) >= limit:
            break
        stored = {each.id: each for each in page}
        own = {_own_id(each, stored.get(each.id)): each for each in await reader.shown(page)}
        pairs = Contradiction.among(attrs.evolve(each, id=id_) for id_, each in own.items())
        found += [Contradiction(one=own[each.one.id], other=own[each.other.id]) for each in pairs]
    return tuple(found[:limit])


async def _with_several_targets(access: Access, reader: Reader) -> list[list[Relation]]:
    """The groups of stored relations of functional types whose targets differ, in order of (source, type)."""
    groups: dict[tuple[UUID, str], list[Relation]] = {}
    for name in (name for name, each in reader.types.items() if each.functional):
        async for page in pages(access.store.list_relations, type=name):
            for each in page:
                groups.setdefault((each.source_id, name), []).append(each)
    return [groups[key] for key in sorted(groups) if len({each.target_id for each in groups[key]}) > 1]


def _pages(groups: Iterable[list[Relation]]) -> Iterator[list[Relation]]:
    """Join groups to pages of at least `PAGE` relations, but for the last."""
    page: list[Relation] = []
    for group in groups:
        page += group
        if len(page) >= PAGE:
            yield page
            page = []
    yield page


def _own_id(shown: Relation, stored: Relation | None) -> UUID:
    """The id of a relation in a graph without what is hidden: claims that begin at another time prove another id."""
    if stored is None or shown.valid_from == stored.valid_from:
        return shown.id
    return relation_id(shown.source_id, shown.type, shown.target_id, shown.valid_from)
