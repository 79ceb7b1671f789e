"""Personalized PageRank over memories and the entities they mention: pure.

    p = ρ · start + (1 − ρ) · A p,   columns of A summing to 1

Mass goes from a memory to its entities in proportion to (1 + log tf) · idf, and from an entity to its memories
likewise, with those that are about it counting ``subject_weight`` times. Mass that starts at a memory without entities
reaches no other: it scales all of them alike. Haveliwala, Topic-Sensitive PageRank (2002).
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Rows
from graphsearch.recall.mention_graph import MentionGraph

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
