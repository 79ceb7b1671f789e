"""The graph channel: a walk from the entities that a question names, and from the memories that its words found.

The walk is personalised PageRank over memories and the entities they mention:

    p = ρ · start + (1 − ρ) · A p,   columns of A summing to 1

Mass goes from a memory to its entities in proportion to (1 + log tf) · idf, and from an entity to its memories
likewise, with those that are about it counting ``subject_weight`` times. Mass that starts at a memory without entities
reaches no other: it scales all of them alike. Haveliwala, Topic-Sensitive PageRank (2002).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.columns import NONE, Floats, Keys, Mask, Rows, Subgraph
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import ElementKind, ElementRef
from graphsearch.protocols import Traversal
from graphsearch.ranking.memories.mention_graph import MENTIONED, MentionGraph, gather
from graphsearch.ranking.memories.options import RecallScoring
from graphsearch.ranking.memories.scoreboard import best_first, compared, rows_among

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
        return dict(zip(reader.entity_ids(self.graph.entities[rows]), rare.tolist(), strict=True))

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
        (id_,) = reader.memory_ids(self.graph.memories[row : row + 1])
        return ElementRef(ElementKind.MEMORY, id_)

    def _entity(self, row: int, reader: Reader) -> ElementRef:
        (id_,) = reader.entity_ids(self.graph.entities[row : row + 1])
        return ElementRef(ElementKind.ENTITY, str(id_))


async def walked(
    linked: Linked, keys: Keys, scores: Floats, weight: float, scoring: RecallScoring, reader: Reader
) -> Walked | None:
    """A walk from linked entities, with ``weight``, and from the best memories; None if there are no mentions.

    Entities share their mass by strength and rarity. Without any the walk starts at the very best memories alone.
    """
    total = await reader.document_count(ElementKind.MEMORY)
    best = _best(scores, keys, scoring.restart_memories if len(linked.keys) else scoring.unlinked_memories)
    limit = min(MENTIONED, max(FEW, int(scoring.max_share * total)))
    graph = await gather(keys[best], scores[best], linked.keys, limit, reader)
    if not len(graph.memory):
        return None
    frequency = graph.frequency
    entities = np.zeros(len(graph.entities))
    rows = KeyIndex(graph.entities).of(linked.keys)
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


@attrs.frozen(eq=False, kw_only=True)
class Linked:
    """Distinct entities with their weights: the probability of being named, less for related ones."""

    keys: Keys
    strength: Floats
    steps: Subgraph | None
    """The relations from named to related entities."""

    def step_to(self, entity: Keys, reader: Reader) -> tuple[ElementRef, ...]:
        """The named entity and the relation that lead to another (a column of one key); empty for a named one."""
        if self.steps is None:
            return ()
        (row,) = KeyIndex(self.steps.entities).of(entity).tolist()
        if row == NONE or (via := int(self.steps.via[row])) == NONE:
            return ()
        before = self.steps.previous[row]
        (source,) = reader.entity_ids(self.steps.entities[before : before + 1])
        (relation,) = reader.relation_ids(self.steps.relations[via : via + 1])
        return ElementRef(ElementKind.ENTITY, str(source)), ElementRef(ElementKind.RELATION, str(relation))


async def walk_seeds(named: Mapping[UUID, float], related: float, traversal: Traversal, reader: Reader) -> Linked:
    """The visible named entities with their probabilities, and those one hop further.

    These count ``related`` × their strength: the confidence of the relation; or the rank relative to the greatest, if
    the traversal ranks entities. Co-occurrence is left out: the walk itself follows mentions, and knows their rarity.
    """
    seeds = await reader.locate(sorted(named))
    likely = np.array([named[each] for each in reader.entity_ids(seeds.keys)], np.float64)
    if not related or not len(seeds):
        return Linked(keys=seeds.keys, strength=likely, steps=None)
    found = await traversal.traverse(seeds, depth=1, reader=reader)
    strong = found.along_paths(found.confidence, np.minimum) if found.rank is None else found.rank / found.rank.max()
    (beyond,) = (_stated(found, reader) & ~np.isin(found.entities, seeds.keys)).nonzero()
    return Linked(
        keys=np.concatenate((seeds.keys, found.entities[beyond])),
        strength=np.concatenate((likely, related * strong[beyond])),
        steps=found,
    )


def _stated(found: Subgraph, reader: Reader) -> Mask:
    """Which entities have a relation in the subgraph other than co-occurrence."""
    types = reader.signatures.types
    says = np.array([types[row].name not in CO_OCCURRENCE_TYPES for row in found.signatures.tolist()], np.bool_)
    if found.rank is None:  # by the relation that leads to it
        return np.append(says, True)[found.via]
    stated = np.zeros(len(found.entities), np.bool_)
    stated[found.source[says]] = stated[found.target[says]] = True
    return stated


TOLERANCE: Final = 1e-6
MAX_ROUNDS: Final = 100
ECHO: Final = 1e-2
"""Ranks below this are noise of the unfinished iteration."""


@attrs.frozen(eq=False, kw_only=True)
class Ways:
    """The share of a node's mass that each mention passes on, in both directions."""

    to_entity: Floats
    to_memory: Floats

    @classmethod
    def of(cls, graph: MentionGraph, memories: int, subject_weight: float) -> Ways:
        """The shares for a scope with this many ``memories``."""
        frequency = graph.frequency
        rarity = np.log1p((memories - frequency + 0.5).clip(0.0) / (frequency + 0.5))
        weight = (1.0 + np.log(graph.times)) * rarity.take(graph.entity)
        about = np.where(graph.about, subject_weight * weight, weight)
        return cls(
            to_entity=_share(graph.memory, weight, len(graph.memories)),
            to_memory=_share(graph.entity, about, len(graph.entities)),
        )


def _share(near: Rows, weight: Floats, size: int) -> Floats:
    total = np.bincount(near, weight, size).take(near)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def walk(graph: MentionGraph, ways: Ways, memories: Floats, entities: Floats, restart: float) -> tuple[Floats, Floats]:
    """The rank of every memory and of every entity, from a start whose masses add up to 1.

    Every round steps from memories to entities and, from their new mass, back: half as many rounds as single steps
    take, and from below, so that no mass is ever too great.
    """
    here, there = np.zeros_like(memories), entities
    for _ in range(MAX_ROUNDS):
        arriving = np.bincount(graph.entity, ways.to_entity * here.take(graph.memory), len(entities))
        there = restart * entities + (1.0 - restart) * arriving
        arriving = np.bincount(graph.memory, ways.to_memory * there.take(graph.entity), len(memories))
        before, here = here, restart * memories + (1.0 - restart) * arriving
        if np.abs(here - before).sum() < TOLERANCE:
            break
    return here, there


def carried_on(
    graph: MentionGraph, ways: Ways, memories: Floats, entities: Floats, restart: float
) -> tuple[Floats, Floats]:
    """The mass that each mention passes to its memory, and to its entity, by the ranks of a walk; no step goes back.

    A memory's own mass returns to it from each of its entities: that is not counted.
    """
    here, there = memories.take(graph.memory), entities.take(graph.entity)
    onward = there - (1.0 - restart) * ways.to_entity * here
    back = here - (1.0 - restart) * ways.to_memory * there
    return (
        np.where(onward > ECHO * there, ways.to_memory * onward, 0.0),
        np.where(back > ECHO * here, ways.to_entity * back, 0.0),
    )
