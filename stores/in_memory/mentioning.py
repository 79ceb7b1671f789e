"""Steps between memories and the entities they mention, and between the turns of a session, from flat arrays."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import attrs
import numpy as np

from graphsearch.columns import Floats, Keys, Mask, Mentioned, Turns
from graphsearch.model import ElementKind, Memory, Mention, View
from graphsearch.stores.in_memory.index import Rows, Table
from graphsearch.stores.in_memory.reading import table, visibility
from graphsearch.stores.in_memory.state import State


@attrs.frozen(eq=False)
class Side:
    """What lies around the rows of one kind: that around row r is ``[pointers[r], pointers[r + 1])`` of the rest."""

    pointers: Rows
    far: Rows
    times: Floats
    about: Mask


@attrs.frozen(eq=False)
class Mentions:
    """Every pair of a memory and an entity that it mentions, from either side."""

    sides: Mapping[ElementKind, Side]

    @classmethod
    def build(cls, memories: Table, entities: Table, mentions: Mapping[str, tuple[Mention, ...]]) -> Mentions:
        """Of all mentions."""
        told = [mention for some in mentions.values() for mention in some]
        size = len(entities.ids)
        memory = np.fromiter((memories.row_of[mention.memory_id] for mention in told), np.int64, len(told))
        entity = np.fromiter((entities.row_of[mention.entity_id] for mention in told), np.int64, len(told))
        whole = np.fromiter((mention.span is None for mention in told), np.bool_, len(told))
        pairs, which, times = np.unique(memory * size + entity, return_inverse=True, return_counts=True)
        about = np.bincount(which, whole, len(pairs)) > 0
        ends = (pairs // size, pairs % size) if size else (pairs, pairs)
        return cls(
            {
                ElementKind.MEMORY: _side(*ends, times, about, len(memories.ids)),
                ElementKind.ENTITY: _side(*ends[::-1], times, about, size),
            }
        )


def _side(near: Rows, far: Rows, times: Rows, about: Mask, size: int) -> Side:
    order = np.lexsort((far, near))
    pointers = np.searchsorted(near[order], np.arange(size + 1))
    return Side(pointers, far[order], times[order].astype(np.float64), about[order])


def mentioned(state: State, kind: ElementKind, keys: Keys, limit: int, view: View) -> Mentioned:
    """What lies one mention away from memories, or from entities."""
    memories, entities = table(state, ElementKind.MEMORY), table(state, ElementKind.ENTITY)
    side = state.derive(Mentions.build, memories, entities, state.mentions).sides[kind]
    other = ElementKind.ENTITY if kind is ElementKind.MEMORY else ElementKind.MEMORY
    near = np.asarray(keys, np.int64)
    begin = side.pointers.take(near)
    counts = side.pointers.take(near + 1) - begin
    counts[counts > limit] = 0
    places = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    far = side.far.take(places)
    found = Mentioned(
        near=np.repeat(near, counts),
        far=far,
        times=side.times.take(places),
        about=side.about.take(places),
        far_signatures=table(state, other).codes.take(far),
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
    far, later = far[there], np.tile([False, True], len(near))[there]
    found = Turns(near=np.repeat(near, 2)[there], far=far, later=later, far_signatures=memories.codes[far])
    seen = visibility(state, ElementKind.MEMORY).filter(view)
    return found if seen is None else found.keep(seen(far))
