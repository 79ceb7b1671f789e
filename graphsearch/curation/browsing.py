"""What browsing the graph by entity and memory returns, and how it is ordered. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Floats, Subgraph
from graphsearch.display.node_link import print_graph
from graphsearch.display.printing import Displayed
from graphsearch.model import Community, Entity, Memory, MemoryLink, Mention, Relation, Triplet

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)

# -- one entity ------------------------------------------------------------------------------------------------------


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


def most_recent(relations: Iterable[Relation], type: str, source_id: UUID, as_of: datetime) -> Relation | None:
    """The relation of a type that most recently began by ``as_of``, whether it still holds or not.

    Ties go to the later end, then to the higher confidence, then to the lower id.
    """
    begun = [
        each
        for each in relations
        if each.source_id == source_id and each.type == type and (each.valid_from is None or each.valid_from <= as_of)
    ]

    def place(each: Relation) -> tuple[datetime, datetime, float, int]:
        return each.valid_from or EARLIEST, each.valid_to or _LATEST, each.confidence, -each.id.int

    return max(begun, key=place, default=None)


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


def events_of(others: Iterable[tuple[Relation, Entity]], memories: Iterable[Memory]) -> list[Event]:
    """The events of relations, each with its other end, and of memories, in order."""
    found = [Event(at=each.occurred_at, kind=EventKind.MENTIONED, memory=each) for each in memories if each.occurred_at]
    for relation, entity in others:
        for at, kind in ((relation.valid_from, EventKind.STARTED), (relation.valid_to, EventKind.ENDED)):
            if at is not None:
                found.append(Event(at=at, kind=kind, relation=relation, entity=entity))
    return sorted(found, key=_place_of)


def _place_of(event: Event) -> tuple[datetime, int, str, str, str, str]:
    relation, entity, memory = event.relation, event.entity, event.memory
    return (
        event.at,
        _KINDS.index(event.kind),
        relation.type if relation else "",
        entity.name if entity else "",
        str(entity.id) if entity else "",
        str(relation.id) if relation else memory.id if memory else "",
    )


# -- memories --------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Backlink:
    """A memory that refers to an entity or a memory, with its mentions of the one or its links to the other.

    For a memory, ``entities`` are those that both mention, the rarest first, ``mentions`` this memory's mentions of
    them, and ``score`` the sum of their rarity, 0 if there are none.
    """

    memory: Memory
    mentions: tuple[Mention, ...] = ()
    links: tuple[MemoryLink, ...] = ()
    entities: tuple[UUID, ...] = ()
    score: float = 0.0


def newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Memories by time, then by id; those without a known time come last."""
    ordered = sorted(memories, key=lambda each: each.id)
    return sorted(ordered, key=lambda each: each.occurred_at or EARLIEST, reverse=True)


def by_memory(mentions: Iterable[Mention]) -> Mapping[str, list[Mention]]:
    """The mentions of each memory."""
    found: defaultdict[str, list[Mention]] = defaultdict(list)
    for each in mentions:
        found[each.memory_id].append(each)
    return found


def by_rarity(memories: Iterable[Memory], mentions: Mapping[str, list[Mention]]) -> Iterator[Backlink]:
    """Memories with what they mention, by the sum of its rarity, then by id.

    The rarity of an entity is its idf among the memories that have any of the mentions: what is hidden does not move
    it, and an entity that all of them mention hardly counts.
    """
    entities = {key: {each.entity_id for each in some} for key, some in mentions.items()}
    often = Counter(entity for some in entities.values() for entity in some)
    rarity = {entity: math.log(1.0 + len(entities) / number) for entity, number in often.items()}
    scores = {key: math.fsum(rarity[entity] for entity in some) for key, some in entities.items()}
    for memory in sorted(memories, key=lambda each: (-scores[each.id], each.id)):
        shared = sorted(entities[memory.id], key=lambda entity: (-rarity[entity], entity))
        told = tuple(mentions[memory.id])
        yield Backlink(memory=memory, mentions=told, entities=tuple(shared), score=scores[memory.id])


# -- the entities around one -----------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Related:
    """An entity that is reachable from another.

    ``path`` are the relations of the path to it, in order, ``hops`` their number; ``strength`` is least confidence ×
    least freshness × least prior along the path, in [0, 1].
    """

    entity: Entity
    hops: int
    strength: float
    path: tuple[Relation, ...]


class EntityGraph(dict[str, Any], Displayed):
    """Node-link JSON: a plain dictionary that is printed as a table of its relations."""

    __slots__ = ()

    def __str__(self) -> str:
        return print_graph(self)


def nearest(graph: Subgraph) -> tuple[list[int], Floats]:
    """Rows of the entities by hops, then by the strength of their path, then by key; and the strengths of all rows."""
    along = graph.along_paths(np.stack((graph.confidence, graph.freshness, graph.prior)), np.minimum)
    strength: Floats = along[0] * along[1] * along[2]
    return np.lexsort((graph.entities, -strength, graph.hops)).tolist(), strength


def link_order(relation: Relation) -> tuple[UUID, str, UUID, datetime]:
    """Order relations by their ends, type and beginning."""
    return relation.source_id, relation.type, relation.target_id, relation.valid_from or EARLIEST
