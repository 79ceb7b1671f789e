"""What is known about one entity: its relations, its memories, and its timeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import EntityRef, Reader, known
from graphsearch.curation.memories import mentioning
from graphsearch.curation.permissions import Access
from graphsearch.model import Community, Entity, Memory, Relation, Triplet
from graphsearch.model import validation as check

_ROLE: Final = "works_at"
_LOCATION: Final = "lives_in"
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


@attrs.frozen(kw_only=True)
class Standing:
    """A relation of an entity, which may have ended, and the entity at its other end."""

    relation: Relation
    entity: Entity


@attrs.frozen(kw_only=True)
class EntityRecall:
    """What is known about one entity.

    * ``triplets``: its current relations, best first. * ``memories``: those that mention it, newest first.
    * ``most_recent_role``, ``most_recent_location``: where it last worked, and lived, even if that has ended.
    * ``community``: None if it is in none, and where anything may be hidden, since communities are made of the whole
    graph; where policies read more than signatures, that is for everybody.
    """

    entity: Entity
    triplets: tuple[Triplet, ...]
    memories: tuple[Memory, ...]
    most_recent_role: Standing | None
    most_recent_location: Standing | None
    community: Community | None


class EventKind(StrEnum):
    """The kind of an event; events of one instant are in this order."""

    ENDED = "ended"
    """The end of a relation's period."""
    STARTED = "started"
    """The start of a relation's period."""
    MENTIONED = "mentioned"
    """A memory that mentions the entity."""


_KINDS: Final = tuple(EventKind)


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


async def recall_entity(entity: EntityRef, access: Access, *, limit: int = 10) -> EntityRecall:
    """See `graphsearch.curation.Curator.recall_entity`."""
    check.refuse("recall", check.number("limit", limit, 0))
    async with access.reading() as reader:
        stored = await known(entity, reader)
        around = await reader.shown(await access.stored_relations(stored.id))
        return EntityRecall(
            entity=stored,
            triplets=await _triplets(stored, access, reader, limit),
            memories=tuple(each.memory for each in await mentioning(stored, reader, limit)),
            most_recent_role=await _standing(_ROLE, stored, around, reader),
            most_recent_location=await _standing(_LOCATION, stored, around, reader),
            community=next(iter(await reader.communities(entity_ids=[stored.id], limit=1)), None),
        )


async def entity_timeline(
    entity: EntityRef, access: Access, *, since: datetime | None = None, until: datetime | None = None
) -> tuple[Event, ...]:
    """See `graphsearch.curation.Curator.entity_timeline`."""
    check.refuse("timeline", check.period(since, until, ("since", "until")))
    async with access.reading() as reader:
        stored = await known(entity, reader)
        relations = await reader.shown(await access.stored_relations(stored.id))
        others = sorted({_other_end(relation, stored.id) for relation in relations})
        ends = {each.id: each for each in await reader.get_entities(others)}
        memories = [each.memory for each in await mentioning(stored, reader, None)]
    events = (*_periods(relations, stored.id, ends), *_mentions(memories))
    within = (each for each in events if (since is None or since <= each.at) and (until is None or each.at < until))
    return tuple(sorted(within, key=_sort_key))


async def _triplets(entity: Entity, access: Access, reader: Reader, limit: int) -> tuple[Triplet, ...]:
    """The best triplets around an entity; none if it does not hold now."""
    if not limit or not len(await reader.locate([entity.id])):
        return ()
    found = await access.engine.neighbors(entity.id, limit=limit, gate=access.gate)
    ends = {end.id: end for triplet in found for end in (triplet.source, triplet.target)}
    seen = {end.id: end for end in await reader.get_entities(sorted(ends))}
    return tuple(
        attrs.evolve(triplet, source=seen[triplet.source.id], target=seen[triplet.target.id]) for triplet in found
    )


async def _standing(type_: str, entity: Entity, around: Sequence[Relation], reader: Reader) -> Standing | None:
    last = _most_recent(around, source_id=entity.id, type=type_, as_of=reader.view.as_of)
    if last is None:
        return None
    [other] = await reader.get_entities([last.target_id])
    return Standing(relation=last, entity=other)


def _most_recent(relations: Iterable[Relation], *, source_id: UUID, type: str, as_of: datetime) -> Relation | None:
    """The relation of a type that most recently began by ``as_of``, whether it still holds or not.

    Ties go to the later end, then to the higher confidence, then to the lower id.
    """
    entered = [
        relation
        for relation in relations
        if relation.source_id == source_id
        and relation.type == type
        and (relation.valid_from is None or relation.valid_from <= as_of)
    ]

    def place(relation: Relation) -> tuple[datetime, datetime, float, int]:
        start, end = relation.valid_from or _EARLIEST, relation.valid_to or _LATEST
        return start, end, relation.confidence, -relation.id.int

    return max(entered, key=place, default=None)


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
