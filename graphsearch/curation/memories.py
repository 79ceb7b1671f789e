"""Memories: link them, and list those that refer to an entity or a memory."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.curation.permissions import Access
from graphsearch.model import Entity, Memory, MemoryLink, Mention

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


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


async def of_memory(memory_id: str, access: Access, reader: Reader, limit: int | None) -> list[Backlink]:
    """The visible memories that link to a memory, newest first, then those that share entities with it, best first."""
    await access.visible_memories([memory_id], reader)
    shared = {each.memory.id: each for each in await _sharing(memory_id, reader)}
    linking = await _linking(memory_id, access, reader)
    linked = [attrs.evolve(shared.pop(each.memory.id, each), links=each.links) for each in linking]
    return [*linked, *shared.values()][:limit]


async def _sharing(memory_id: str, reader: Reader) -> list[Backlink]:
    """The visible memories that mention visible entities of a memory, by the sum of their rarity, then by id.

    The rarity of an entity is its idf among the memory and those that share any entity with it: what is hidden does not
    move it, and an entity that all of them mention hardly counts.
    """
    own = sorted({mention.entity_id for mention in await reader.mentions(memory_ids=[memory_id])})
    visible = [entity.id for entity in await reader.get_entities(own)]
    mentions: defaultdict[str, list[Mention]] = defaultdict(list)
    for mention in await reader.mentions(entity_ids=visible) if visible else ():
        mentions[mention.memory_id].append(mention)
    mentioned = {memory: {mention.entity_id for mention in some} for memory, some in mentions.items()}
    often = Counter(entity for entities in mentioned.values() for entity in entities)
    rarity = {entity: math.log(1.0 + len(mentioned) / number) for entity, number in often.items()}
    found = [
        Backlink(
            memory=memory,
            mentions=tuple(mentions[memory.id]),
            entities=tuple(sorted(mentioned[memory.id], key=lambda entity: (-rarity[entity], entity))),
            score=math.fsum(rarity[entity] for entity in mentioned[memory.id]),
        )
        for memory in await reader.get_memories(sorted(mentions.keys() - {memory_id}))
    ]
    return sorted(found, key=lambda each: (-each.score, each.memory.id))


async def _linking(memory_id: str, access: Access, reader: Reader) -> list[Backlink]:
    """The visible memories that link to a memory, newest first."""
    links: dict[str, list[MemoryLink]] = {}
    for link in await access.store.memory_links([memory_id]):
        if link.to_id == memory_id:
            links.setdefault(link.from_id, []).append(link)
    memories = await _newest(list(links), reader, None)
    return [Backlink(memory=memory, links=tuple(links[memory.id])) for memory in memories]


async def mentioning(entity: Entity, reader: Reader, limit: int | None) -> list[Backlink]:
    """The visible memories that mention an entity, newest first."""
    mentions: dict[str, list[Mention]] = {}
    for mention in await reader.mentions(entity_ids=[entity.id]):
        mentions.setdefault(mention.memory_id, []).append(mention)
    memories = await _newest(list(mentions), reader, limit)
    return [Backlink(memory=memory, mentions=tuple(mentions[memory.id])) for memory in memories]


async def _newest(ids: Sequence[str], reader: Reader, limit: int | None) -> list[Memory]:
    """The visible ones of some memories, newest first, then by id; those without a known time come last."""
    found = await reader.get_memories(sorted(ids))
    found.sort(key=lambda memory: memory.occurred_at or _EARLIEST, reverse=True)  # equal times stay in order of id
    return found[:limit]
