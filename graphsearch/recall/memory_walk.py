"""Personalized PageRank over memories and the entities they mention: pure.

    p = ρ · start + (1 − ρ) · A p,   columns of A summing to 1

Mass goes from a memory to its entities in proportion to (1 + log tf) · idf, and from an entity to its memories
likewise, with those that are about it counting ``subject_weight`` times. What starts at a memory without entities stays
away from the others: it scales all of them alike. Haveliwala, Topic-Sensitive PageRank (2002); design 5.2.
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
"""A smaller share of a rank is what the iteration left undone."""


@attrs.frozen(eq=False, kw_only=True)
class Ways:
    """The share of a node's mass that each mention carries away, both ways."""

    to_entity: Floats
    to_memory: Floats

    @classmethod
    def of(cls, graph: MentionGraph, memories: int, subject_weight: float) -> Ways:
        """For a scope of so many ``memories``."""
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

    Every round steps from memories to entities and, from what is there then, back: in half as many rounds as by single
    steps, and from below, so that nothing is ever too much.
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
    """What each mention carries to its memory, and to its entity, of the ranks that a walk gave; no step goes back.

    A memory's mass comes back to it from every entity that it has: that leads from nowhere to nowhere.
    """
    here, there = memories.take(graph.memory), entities.take(graph.entity)
    onward = there - (1.0 - restart) * ways.to_entity * here
    back = here - (1.0 - restart) * ways.to_memory * there
    return (
        np.where(onward > ECHO * there, ways.to_memory * onward, 0.0),
        np.where(back > ECHO * here, ways.to_entity * back, 0.0),
    )
