"""Steps between memories and the entities they mention, and between the turns of a session, from flat arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import attrs
import numpy as np

from graphsearch.columns import Floats, Keys, Mentioned, Turns
from graphsearch.model import ElementKind, Memory, Mention, View
from graphsearch.stores.in_memory.index import Rows, Table
from graphsearch.stores.in_memory.reading import table, visibility
from graphsearch.stores.in_memory.state import State


@attrs.frozen(eq=False)
class Mentions:
    """Every pair of a memory and an entity it mentions, by memory and by entity.

    What lies around row r of a kind is ``[pointers[r], pointers[r + 1])`` of its ``far`` and ``times``.
    """

    pointers: Mapping[ElementKind, Rows]
    far: Mapping[ElementKind, Rows]
    times: Mapping[ElementKind, Floats]

    @classmethod
    def build(cls, memories: Table, entities: Table, mentions: Mapping[str, tuple[Mention, ...]]) -> Mentions:
        """Of all mentions."""
        pairs = Counter(
            (memories.row_of[memory], entities.row_of[mention.entity_id])
            for memory, told in mentions.items()
            for mention in told
        )
        flat = np.fromiter((row for pair in pairs for row in pair), np.int64, 2 * len(pairs)).reshape(-1, 2)
        times = np.fromiter(pairs.values(), np.float64, len(pairs))
        pointers, far, counted = {}, {}, {}
        for kind, near, size in (
            (ElementKind.MEMORY, 0, len(memories.ids)),
            (ElementKind.ENTITY, 1, len(entities.ids)),
        ):
            order = np.lexsort((flat[:, 1 - near], flat[:, near]))
            pointers[kind] = np.searchsorted(flat[order, near], np.arange(size + 1))
            far[kind], counted[kind] = flat[order, 1 - near], times[order]
        return cls(pointers, far, counted)


def mentioned(state: State, kind: ElementKind, keys: Keys, limit: int, view: View) -> Mentioned:
    """What lies one mention away from memories, or from entities."""
    other = ElementKind.ENTITY if kind is ElementKind.MEMORY else ElementKind.MEMORY
    far_table = table(state, other)
    memories, entities = table(state, ElementKind.MEMORY), table(state, ElementKind.ENTITY)
    pairs = state.derive(Mentions.build, memories, entities, state.mentions)
    near = np.asarray(keys, np.int64)
    begin = pairs.pointers[kind].take(near)
    counts = pairs.pointers[kind].take(near + 1) - begin
    counts[counts > limit] = 0
    places = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    far = pairs.far[kind].take(places)
    found = Mentioned(
        near=np.repeat(near, counts), far=far, times=pairs.times[kind].take(places), far_signatures=far_table.codes[far]
    )
    seen = visibility(state, other).filter(view)
    return found if seen is None else found.keep(seen(far))


@attrs.frozen(eq=False)
class Sessions:
    """For each row of a memory the row before and after it in its session, or -1."""

    before: Rows
    after: Rows

    @classmethod
    def build(cls, memories: Table, items: Mapping[str, Memory]) -> Sessions:
        """Of all memories that have a session, in the order of their positions, ties by id."""
        before, after = (np.full(len(memories.ids), -1, np.int64) for _ in range(2))
        told: list[tuple[Any, ...]] = sorted(
            (each.session_id, each.position, memories.row_of[key]) for key, each in items.items() if each.session_id
        )
        for _, turns in groupby(told, key=lambda each: each[0]):
            rows = np.array([row for *_, row in turns])
            before[rows[1:]] = rows[:-1]
            after[rows[:-1]] = rows[1:]
        return cls(before, after)


def turns(state: State, keys: Keys, view: View) -> Turns:
    """The memories right before and right after each in its session."""
    memories = table(state, ElementKind.MEMORY)
    sessions = state.derive(Sessions.build, memories, state.memories.items)
    near = np.asarray(keys, np.int64)
    far = np.stack((sessions.before.take(near), sessions.after.take(near)), axis=1).ravel()
    there = far >= 0
    far = far[there]
    found = Turns(near=np.repeat(near, 2)[there], far=far, far_signatures=memories.codes[far])
    seen = visibility(state, ElementKind.MEMORY).filter(view)
    return found if seen is None else found.keep(seen(far))
