"""The graph channel: a walk from the entities that a question names, and from what its words found (design 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import NONE, Floats, Keys, Rows
from graphsearch.model import ElementKind
from graphsearch.places import Places
from graphsearch.reading import Reader
from graphsearch.recall.mention_graph import MENTIONED, MentionGraph, gather
from graphsearch.recall.request import RecallScoring
from graphsearch.recall.walking import Ways, walk
from graphsearch.records import ElementRef

FEW: Final = 5
"""An entity in so few memories is no commonplace, however small the scope."""
NEAR: Final = 3
"""Entities on the path that is told to a memory, at most."""


@attrs.frozen(eq=False, kw_only=True)
class Walked:
    """How much of the walk arrives at each memory, the best 1, and what is needed to tell how it came there."""

    graph: MentionGraph
    ways: Ways
    memories: Floats
    entities: Floats
    started: Floats
    """The share of the start of each entity."""

    @property
    def ranks(self) -> Floats:
        """Of each memory of the graph, in [0, 1]."""
        best = self.memories.max(initial=0.0)
        return self.memories / best if best > 0 else self.memories

    def path_to(self, key: Keys, reader: Reader) -> tuple[ElementRef, ...]:
        """The way along which most of the walk arrives at a memory (a column of one key).

        From a named entity, or as far as it was looked back; empty where no entity leads to it.
        """
        (memory,) = Places(self.graph.memories).of(key).tolist()
        path, seen = [self._memory(memory, reader)] if memory != NONE else [], {memory}
        for _ in range(NEAR):
            if (entity := self._before(memory)) is None:
                break
            path.append(self._entity(entity, reader))
            if self.started[entity] > 0 or (back := self._behind(entity, seen)) is None:
                break
            memory = back
            seen.add(memory)
            path.append(self._memory(memory, reader))
        return tuple(path[::-1]) if len(path) > 1 else ()

    def _before(self, memory: int) -> int | None:
        """The entity through which most arrives at a memory."""
        (around,) = (self.graph.memory == memory).nonzero()
        if not len(around):
            return None
        arriving = self.ways.to_memory[around] * self.entities[self.graph.entity[around]]
        return int(self.graph.entity[around[np.argmax(arriving)]])

    def _behind(self, entity: int, seen: set[int]) -> int | None:
        """The memory from which most arrives at an entity, of those not seen yet."""
        (around,) = ((self.graph.entity == entity) & ~np.isin(self.graph.memory, list(seen))).nonzero()
        if not len(around):
            return None
        arriving = self.ways.to_entity[around] * self.memories[self.graph.memory[around]]
        return int(self.graph.memory[around[np.argmax(arriving)]])

    def _memory(self, row: int, reader: Reader) -> ElementRef:
        (id_,) = reader.store.memory_ids(self.graph.memories[row : row + 1])
        return ElementRef(ElementKind.MEMORY, id_)

    def _entity(self, row: int, reader: Reader) -> ElementRef:
        (id_,) = reader.store.entity_ids(self.graph.entities[row : row + 1])
        return ElementRef(ElementKind.ENTITY, str(id_))


async def walked(
    named: Sequence[UUID], keys: Keys, scores: Floats, weight: float, scoring: RecallScoring, reader: Reader
) -> Walked | None:
    """A walk from named entities, with ``weight``, and from the best of some memories; None where nothing is mentioned.

    Named entities share their mass by rarity. Without any the walk starts at the very best memories alone.
    """
    linked = await reader.locate(named)
    total = await reader.store.document_count(ElementKind.MEMORY)
    best = _best(scores, scoring.restart_memories if len(linked) else scoring.unlinked_memories)
    limit = min(MENTIONED, max(FEW, int(scoring.max_share * total)))
    graph = await gather(keys[best], scores[best], linked.keys, limit, reader)
    if not len(graph.memory):
        return None
    frequency = graph.frequency
    entities = np.zeros(len(graph.entities))
    rows = Places(graph.entities).of(linked.keys)
    there = rows[(rows >= 0) & (frequency[rows] > 0)]
    entities[there] = 1.0 / frequency[there]
    if not len(there):  # what is named is everywhere, or nowhere
        best = best[: scoring.unlinked_memories]
    memories = np.zeros(len(graph.memories))
    memories[Places(graph.memories).of(keys[best])] = scores[best]
    start = weight * _whole(entities), scoring.memory_mass * _whole(memories)
    whole = sum(part.sum() for part in start)
    ways = Ways.of(graph, total, scoring.subject_weight)
    arrived, through = walk(graph, ways, start[1] / whole, start[0] / whole, scoring.restart)
    return Walked(graph=graph, ways=ways, memories=arrived, entities=through, started=entities)


def _best(scores: Floats, count: int) -> Rows:
    """The rows of the best positive scores, best first, ties by row."""
    order = np.argsort(-scores, kind="stable")[:count]
    return order[scores[order] > 0]


def _whole(masses: Floats) -> Floats:
    """Masses that add up to 1, or none."""
    total = masses.sum()
    return masses / total if total > 0 else masses
