"""The graph channel: a walk from the entities that a question names, and from the memories that its words found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Floats, Keys, Mask, Rows
from graphsearch.columns.key_index import Places
from graphsearch.model import ElementKind, ElementRef
from graphsearch.recall.memory_walk import Ways, carried_on, walk
from graphsearch.recall.mention_graph import MENTIONED, MentionGraph, gather
from graphsearch.recall.options import RecallScoring
from graphsearch.recall.scoreboard import best_first, compared, rows_among
from graphsearch.recall.walk_seeds import Linked

FEW: Final = 5
"""An entity in this few memories is not common, however small the scope."""
NEAR: Final = 3
"""Most entities on the path reported for a memory."""


@attrs.frozen(eq=False, kw_only=True)
class Walked:
    """The mass of the walk at each memory, and the data to explain how it came there."""

    graph: MentionGraph
    linked: Linked
    onward: Floats
    """Of each mention, the mass that arrives by it at its memory from elsewhere; ``back``, at its entity."""
    back: Floats
    memories: Floats
    started: Floats
    """The share of the start of each entity."""
    limit: int
    """Entities with more memories than this are not walked through."""

    @property
    def ranks(self) -> Floats:
        """Of each memory of the graph, in [0, 1]; the best is 1."""
        best = self.memories.max(initial=0.0)
        return self.memories / best if best > 0 else self.memories

    def ranking(self) -> tuple[Keys, Floats]:
        """The memories that the walk reaches, best first, and their ranks."""
        best = best_first(self.ranks, self.graph.memories, len(self.graph.memories))
        best = best[self.ranks[best] > 0]
        return self.graph.memories[best], self.ranks[best]

    def rare(self, reader: Reader) -> Mapping[UUID, float]:
        """The rarity of each entity that the walk starts from, in (0, 1]: 1 in one memory, near 0 at the limit."""
        (rows,) = (self.started > 0).nonzero()
        rare = 1.0 - np.log(self.graph.frequency[rows]) / np.log(self.limit + 1.0)
        return dict(zip(reader.store.entity_ids(self.graph.entities[rows]), rare.tolist(), strict=True))

    def paths_to(self, memories: Keys, reader: Reader) -> list[tuple[ElementRef, ...]]:
        """For some memories, the path along which most of the walk arrives at each.

        From a named entity, by a relation if it is one hop further, or from the memory walked back to; empty if no
        entity leads to it.
        """
        rows = rows_among(self.graph.memories, memories)
        return [self._path_to(row, reader) if row != NONE else () for row in rows.tolist()]

    def _path_to(self, memory: int, reader: Reader) -> tuple[ElementRef, ...]:
        path, seen = [self._memory(memory, reader)], [memory]
        for _ in range(NEAR):
            if (entity := self._strongest(self.onward, self.graph.memory == memory, self.graph.entity)) is None:
                break
            if self.started[entity] > 0:
                step = self.linked.step_to(self.graph.entities[entity : entity + 1], reader)
                path += [self._entity(entity, reader), *step[::-1]]
                break
            others = (self.graph.entity == entity) & ~np.isin(self.graph.memory, seen)
            if (before := self._strongest(self.back, others, self.graph.memory)) is None:
                break
            memory = before
            seen.append(memory)
            path += [self._entity(entity, reader), self._memory(memory, reader)]
        return tuple(path[::-1]) if len(path) > 1 else ()

    @staticmethod
    def _strongest(arriving: Floats, around: Mask, ends: Rows) -> int | None:
        """The end of the mention by which most mass arrives, if any; the first of equal ones."""
        (mentions,) = (around & (arriving > 0)).nonzero()
        if not len(mentions):
            return None
        return int(ends[mentions[np.argmax(compared(arriving[mentions]))]])

    def _memory(self, row: int, reader: Reader) -> ElementRef:
        (id_,) = reader.store.memory_ids(self.graph.memories[row : row + 1])
        return ElementRef(ElementKind.MEMORY, id_)

    def _entity(self, row: int, reader: Reader) -> ElementRef:
        (id_,) = reader.store.entity_ids(self.graph.entities[row : row + 1])
        return ElementRef(ElementKind.ENTITY, str(id_))


async def walked(
    linked: Linked, keys: Keys, scores: Floats, weight: float, scoring: RecallScoring, reader: Reader
) -> Walked | None:
    """A walk from linked entities, with ``weight``, and from the best memories; None if there are no mentions.

    Entities share their mass by strength and rarity. Without any the walk starts at the very best memories alone.
    """
    total = await reader.store.document_count(ElementKind.MEMORY)
    best = _best(scores, keys, scoring.restart_memories if len(linked.keys) else scoring.unlinked_memories)
    limit = min(MENTIONED, max(FEW, int(scoring.max_share * total)))
    graph = await gather(keys[best], scores[best], linked.keys, limit, reader)
    if not len(graph.memory):
        return None
    frequency = graph.frequency
    entities = np.zeros(len(graph.entities))
    rows = Places(graph.entities).of(linked.keys)
    (found,) = (frequency[rows] > 0).nonzero()
    entities[rows[found]] = linked.strength[found] / frequency[rows[found]]
    if not len(found):  # the named entities are everywhere, or nowhere
        best = best[: scoring.unlinked_memories]
    memories = np.zeros(len(graph.memories))
    memories[: len(best)] = scores[best]
    carried = scoring.memory_mass if len(found) else 1.0
    start = carried * _whole(memories), weight * _whole(entities)
    whole = sum(part.sum() for part in start)
    ways = Ways.of(graph, total, scoring.subject_weight)
    arrived, through = walk(graph, ways, start[0] / whole, start[1] / whole, scoring.restart)
    onward, back = carried_on(graph, ways, arrived, through, scoring.restart)
    return Walked(graph=graph, linked=linked, onward=onward, back=back, memories=arrived, started=entities, limit=limit)


def _best(scores: Floats, keys: Keys, count: int) -> Rows:
    """The rows of the best positive scores, best first, ties by key."""
    order = best_first(scores, keys, count)
    return order[scores[order] > 0]


def _whole(masses: Floats) -> Floats:
    """Masses that add up to 1, or none."""
    total = masses.sum()
    return masses / total if total > 0 else masses
