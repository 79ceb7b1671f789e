"""The memories that have to be read: those not stored unchanged and read by the same extractor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from graphsearch.ingest.write.writer import or_nothing
from graphsearch.model import Memory
from graphsearch.protocols import GraphStore

_STAMP: Final = "read_by"
"""The attribute with the name of the extractor that read a memory."""


def read_by(memory: Memory, extractor: str) -> Memory:
    """A memory with the name of the extractor that reads it."""
    return attrs.evolve(memory, attributes={**memory.attributes, _STAMP: extractor})


def begun(memory: Memory) -> Memory:
    """A memory of which only a part was read, to be read again."""
    kept = {name: value for name, value in memory.attributes.items() if name != _STAMP}
    return attrs.evolve(memory, attributes=kept)


@attrs.frozen
class Waiting:
    """Memories that are not stored unchanged: those to be ``read``, and those that only ``moved``.

    A memory that moved has only another position in its document or session.
    """

    read: list[Memory]
    moved: list[Memory]


async def waiting(memories: Sequence[Memory], store: GraphStore) -> Waiting:
    """The memories that are new, changed or moved; a different feedback weight is no change."""
    found = await or_nothing(store.get_memories([memory.id for memory in memories])) if memories else ()
    stored = {each.id: each for each in found}
    other = [memory for memory in memories if is_changed(memory, stored.get(memory.id))]
    moved = {memory.id for memory in other if memory.id in stored and _moved(stored[memory.id], memory)}
    return Waiting([each for each in other if each.id not in moved], [each for each in other if each.id in moved])


def is_changed(memory: Memory, stored: Memory | None) -> bool:
    """Whether a memory is new, or another than the stored one in anything that an ingest decides."""
    return stored is None or memory != _beside(stored, memory)


def _beside(stored: Memory, memory: Memory) -> Memory:
    """A stored memory with the fields that an ingest does not set taken from another."""
    return attrs.evolve(stored, feedback_weight=memory.feedback_weight, created_at=memory.created_at)


def _moved(stored: Memory, memory: Memory) -> bool:
    return memory == attrs.evolve(_beside(stored, memory), position=memory.position)
