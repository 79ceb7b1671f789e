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

TOLERANCE: Final = 1e-5
MAX_ITERATIONS: Final = 100


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
    """The rank of every memory and of every entity, from a start whose masses add up to 1."""
    here, there = memories, entities
    for _ in range(MAX_ITERATIONS):
        later = restart * memories + (1.0 - restart) * np.bincount(
            graph.memory, ways.to_memory * there.take(graph.entity), len(memories)
        )
        beyond = restart * entities + (1.0 - restart) * np.bincount(
            graph.entity, ways.to_entity * here.take(graph.memory), len(entities)
        )
        change = np.abs(later - here).sum() + np.abs(beyond - there).sum()
        here, there = later, beyond
        if change < TOLERANCE:
            break
    return here, there
