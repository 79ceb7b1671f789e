"""Merge two entities, and undo a merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from graphsearch.access.reader import Reader
from graphsearch.access.references import EntityRef, known
from graphsearch.curation.permissions import Access
from graphsearch.curation.updating import embed_again
from graphsearch.errors import UnknownElementError
from graphsearch.model import Action, Entity, Memory, Merge, Relation, UndoReport

_ENDS: Final = ("source", "target")


async def merge_entities(source: EntityRef, target: EntityRef, access: Access, *, dry_run: bool = False) -> Merge:
    """See `graphsearch.curation.Curator.merge_entities`."""
    async with access.reading() as reader:
        ends = [await _as_stored(end, reader) for end in (source, target)]
        moving = await _moving_with(ends[0], access)
    await access.demand(Action.MERGE, [*ends, *moving])
    return await access.store.merge(ends[0].id, ends[1].id, dry_run=dry_run)


async def undo_merge(merge_id: UUID, access: Access) -> UndoReport:
    """See `graphsearch.curation.Curator.undo_merge`."""
    async with access.reading() as reader:
        merge = next((each for each in await access.store.merges() if each.id == merge_id), None)
        ends = await reader.get_entities([merge.source_id, merge.target_id]) if merge else []
        if merge is None or len(ends) < len(_ENDS):
            raise UnknownElementError(f"no merge {merge_id} in {access.store.scope}")
        moving = [element for end in ends for element in await _moving_with(end, access)]
    await access.demand(Action.MERGE, [*ends, *moving])
    report = await access.store.undo_merge(merge_id)
    await embed_again(report.reworded, access.engine)
    return report


async def merges(entity: EntityRef | None, access: Access) -> tuple[Merge, ...]:
    """See `graphsearch.curation.Curator.merges`."""
    async with access.reading() as reader:
        ids = () if entity is None else ((await _as_stored(entity, reader)).id,)
        found = await access.store.merges(ids)
        ends = sorted({end for merge in found for end in (merge.source_id, merge.target_id)})
        visible = {each.id for each in await reader.get_entities(ends)}
        shown = [merge for merge in found if {merge.source_id, merge.target_id} <= visible]
        return tuple(each.uncounted() if reader.hides else each for each in shown)


async def _as_stored(entity: EntityRef, reader: Reader) -> Entity:
    """The entity itself, even if it was merged into another: the store decides what that means."""
    if isinstance(entity, UUID):
        for shown in await reader.get_entities([entity]):
            if shown.merged_into is not None:
                return shown
    return await known(entity, reader)


async def _moving_with(entity: Entity, access: Access) -> Sequence[Relation | Memory]:
    """The relations of an entity and the memories that mention it, which move with it; none without a gate."""
    if not access.gated:
        return ()
    relations = await access.stored_relations(entity.id)
    mentions = await access.store.list_mentions(entity_ids=[entity.id])
    return [*relations, *await access.stored_memories(sorted({mention.memory_id for mention in mentions}))]
