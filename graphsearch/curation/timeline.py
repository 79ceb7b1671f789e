"""The timeline of an entity: its dated events, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.references import EntityRef, known
from graphsearch.curation.backlinks import mentioning
from graphsearch.curation.permissions import Access
from graphsearch.model import Entity, Memory, Relation
from graphsearch.model import validation as check


class EventKind(StrEnum):
    """The kind of an event; events of one instant are in this order."""

    ENDED = "ended"
    """The end of a relation's period."""
    STARTED = "started"
    """The start of a relation's period."""
    MENTIONED = "mentioned"
    """A memory that mentions the entity."""


@attrs.frozen(kw_only=True)
class Event:
    """A dated event: the start or end of a relation, with its other end, or a memory that mentions the entity.

    ``relation`` and ``entity`` are None for a mention; ``memory`` is None for the other kinds.
    """

    at: datetime
    kind: EventKind
    relation: Relation | None = None
    entity: Entity | None = None
    memory: Memory | None = None


_KINDS: Final = tuple(EventKind)


async def entity_timeline(
    entity: EntityRef, access: Access, *, since: datetime | None = None, until: datetime | None = None
) -> tuple[Event, ...]:
    """See `graphsearch.curation.Curator.entity_timeline`."""
    check.refuse("timeline", check.period(since, until, "since/until"))
    async with access.reading() as reader:
        stored = await known(entity, reader)
        relations = await reader.shown(await access.stored_relations(stored.id))
        others = sorted({_other_end(relation, stored.id) for relation in relations})
        ends = {each.id: each for each in await reader.get_entities(others)}
        memories = [each.memory for each in await mentioning(stored, reader, None)]
    events = (*_periods(relations, stored.id, ends), *_mentions(memories))
    within = (each for each in events if (since is None or since <= each.at) and (until is None or each.at < until))
    return tuple(sorted(within, key=_sort_key))


def _periods(relations: Iterable[Relation], entity_id: UUID, ends: dict[UUID, Entity]) -> Iterator[Event]:
    for relation in relations:
        other = ends[_other_end(relation, entity_id)]
        if relation.valid_from is not None:
            yield Event(at=relation.valid_from, kind=EventKind.STARTED, relation=relation, entity=other)
        if relation.valid_to is not None:
            yield Event(at=relation.valid_to, kind=EventKind.ENDED, relation=relation, entity=other)


def _mentions(memories: Iterable[Memory]) -> Iterator[Event]:
    for memory in memories:
        if memory.occurred_at is not None:
            yield Event(at=memory.occurred_at, kind=EventKind.MENTIONED, memory=memory)


def _other_end(relation: Relation, entity_id: UUID) -> UUID:
    return relation.target_id if relation.source_id == entity_id else relation.source_id


def _sort_key(event: Event) -> tuple[datetime, int, str, str, str, str]:
    relation, entity, memory = event.relation, event.entity, event.memory
    return (
        event.at,
        _KINDS.index(event.kind),
        relation.type if relation else "",
        entity.name if entity else "",
        str(entity.id) if entity else "",
        str(relation.id) if relation else memory.id if memory else "",
    )
