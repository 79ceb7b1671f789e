"""Which of several people a part of a name means: the one whom its memory, else its conversation, names in full.

A first name that two people have is not guessed: where the nearest of both contexts names two of them, it stays open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.ingest.resolve.resolution import Resolution, Stage
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory, ExtractedName
from graphsearch.protocols.reading import Reading

CONTEXT_SCORE: Final = 0.8
"""The score of a name that its context decides."""
MAX_MEMORIES: Final = 200
"""Maximum memories of a conversation, besides those of the call, in which people are looked for."""

Found = Mapping[ExtractedName, Resolution]


async def settled(
    memories: Sequence[Memory], read: Sequence[ExtractedMemory], found: Found, store: Reading
) -> dict[str, Found]:
    """What the names of each memory mean, for those where a context decides what ``found`` leaves open, by their ids.

    A store is asked only if there are open names. The result does not depend on the order of the memories.
    """
    conversation_of = {
        memory.id: (memory.session_id, "" if memory.session_id else memory.source) for memory in memories
    }
    several = [
        (each, surface)
        for each in read
        for surface in dict.fromkeys(each.surfaces)
        if len(found[surface].candidates) > 1
    ]
    named = {each.memory_id: {found[name].entity.id for name in each.surfaces} for each in read}
    asked = {conversation_of[each.memory_id] for each, _ in several}
    around: defaultdict[tuple[str, str], set[UUID]] = defaultdict(set)
    for session, source in sorted(each for each in asked if any(each)):
        stored = await store.list_memories(limit=MAX_MEMORIES, session_id=session or None, source=source or None)
        ids = [memory.id for memory in stored if memory.id not in conversation_of]
        around[session, source] = (
            {each.entity_id for each in await store.list_mentions(memory_ids=ids)} if ids else set()
        )
    for id_, people in named.items():
        if any(conversation_of[id_]):
            around[conversation_of[id_]] |= people
    meant: defaultdict[str, dict[ExtractedName, Resolution]] = defaultdict(dict)
    for each, surface in several:
        candidates = {person.id: person for person in found[surface].candidates}
        nearest = named[each.memory_id], around[conversation_of[each.memory_id]]
        left = next((some for context in nearest if (some := candidates.keys() & context)), set[UUID]())
        if len(left) == 1:
            meant[each.memory_id][surface] = attrs.evolve(
                found[surface],
                entity=candidates[left.pop()],
                stage=Stage.CONTEXT,
                score=CONTEXT_SCORE,
                candidates=(),
                unseen=False,
            )
    return {id_: {**found, **names} for id_, names in meant.items()}
