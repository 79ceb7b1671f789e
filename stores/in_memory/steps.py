"""Flat arrays for steps: relations by their ends, their support, mentions, and turns of sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import attrs
import numpy as np

from graphsearch.columns import Floats, Keys, Mask
from graphsearch.model import ElementKind, Memory, Mention, Relation, RelationType
from graphsearch.stores.in_memory.state import State
from graphsearch.stores.in_memory.tables import Rows, Table, seconds, table


@attrs.frozen(eq=False)
class Adjacency:
    """The ends of every relation, and every relation twice, from its source and from its target, in one sequence.

    Slot 2 · entity holds the outgoing relations of the entity, slot 2 · entity + 1 the incoming ones, strongest
    first: greatest confidence × prior, ties by row. Slot s is ``[pointers[s], pointers[s + 1])``.
    """

    source: Rows
    target: Rows
    pointers: Rows
    relations: Rows
    far: Rows
    """The entity at the other end."""
    begins: Rows
    """The start of both slots of each entity: of shape (entities, 2)."""
    sizes: Rows
    """The number of relations in them: of the same shape."""

    @classmethod
    def build(cls, entities: Table, rows: Table, types: Mapping[str, RelationType]) -> Adjacency:
        """Of all relations, with the priors of their types."""
        relations: Sequence[Relation] = rows.items
        row_of, size = entities.row_of, len(relations)
        priors = {name: types[name].prior if name in types else 1.0 for name in {each.type for each in relations}}
        return cls.of(
            np.fromiter((row_of[relation.source_id] for relation in relations), np.int64, size),
            np.fromiter((row_of[relation.target_id] for relation in relations), np.int64, size),
            np.fromiter((relation.confidence * priors[relation.type] for relation in relations), np.float64, size),
            len(entities.ids),
        )

    @classmethod
    def of(cls, source: Rows, target: Rows, weight: Floats, entities: int) -> Adjacency:
        """Build from relations between rows of so many entities; ``weight`` is confidence × prior."""
        slots = np.concatenate([2 * source, 2 * target + 1])
        rows = np.tile(np.arange(len(weight), dtype=np.int64), 2)
        order = np.lexsort((rows, np.tile(-weight, 2), slots))
        pointers = np.searchsorted(slots[order], np.arange(2 * entities + 1))
        return cls(
            source=source,
            target=target,
            pointers=pointers,
            begins=pointers[:-1].reshape(-1, 2),
            sizes=np.diff(pointers).reshape(-1, 2),
            relations=rows[order],
            far=np.concatenate([target, source])[order],
        )

    def around(self, entity: int) -> Rows:
        """The relations of an entity in both directions, sorted, without repeats."""
        return np.unique(self.relations[self.pointers[2 * entity] : self.pointers[2 * entity + 2]])

    def strongest(self, keys: Keys, fan_out: int, seen: Mask | None) -> tuple[Rows, Rows]:
        """Positions in the sequence, at most ``fan_out`` per slot of a frontier, and the frontier slot of each.

        Frontier slots are 2 · row of the frontier, and + 1 for incoming relations. Only relations seen count.
        """
        begin, size = self.begins.take(keys, axis=0).ravel(), self.sizes.take(keys, axis=0).ravel()
        if seen is None:
            return _windows(begin, np.minimum(size, max(fan_out, 0)))
        places, owner = _windows(begin, size)
        passed = seen.take(self.relations.take(places))
        places, owner = places[passed], owner[passed]
        rank = np.arange(len(owner)) - np.searchsorted(owner, np.arange(len(size)))[owner]
        return places[rank < fan_out], owner[rank < fan_out]


def _windows(begin: Rows, count: Rows) -> tuple[Rows, Rows]:
    """The numbers from each of ``begin`` on, ``count`` of them, and the window index of each."""
    window = np.arange(len(count)).repeat(count)
    shifted: Rows = (begin - count.cumsum() + count).take(window)
    return shifted + np.arange(len(window)), window


@attrs.frozen(eq=False)
class Support:
    """The times that the freshness of relations is measured from."""

    newest: Floats
    """Epoch seconds of the newest support by row, NaN if there is none."""
    otherwise: Floats
    """Start, else creation."""
    latest: float
    """The newest support of all."""
    by_latest: Floats
    """The reference time of freshness at any later moment."""
    rows: Rows
    """One row per dated memory behind a relation, ordered by relation and time."""
    times: Floats

    @classmethod
    def build(cls, rows: Table, memories: Mapping[str, Memory]) -> Support:
        """Of all relations and the memories behind them."""
        relations: Sequence[Relation] = rows.items
        dated = sorted(
            (row, memory.occurred_at.timestamp())
            for row, relation in enumerate(relations)
            for key in relation.evidence
            if (memory := memories.get(key)) and memory.occurred_at
        )
        starts = (relation.valid_from or relation.created_at for relation in relations)
        newest = np.array([seconds(relation.supported_at, np.nan) for relation in relations], np.float64)
        otherwise = np.array([seconds(start, 0.0) for start in starts], np.float64)
        return cls(
            newest=newest,
            otherwise=otherwise,
            latest=float(np.fmax.reduce(newest, initial=-np.inf)),
            by_latest=np.where(np.isnan(newest), otherwise, newest),
            rows=np.array([row for row, _ in dated], np.int64),
            times=np.array([time for _, time in dated], np.float64),
        )

    def since(self, relations: Rows, as_of: float) -> Floats:
        """The newest support at a moment, else start, else creation."""
        if as_of >= self.latest:
            return self.by_latest.take(relations)
        newest = self.newest[relations]
        since: Floats = np.where(newest <= as_of, newest, self.otherwise[relations])
        late = newest > as_of
        before = self.times <= as_of
        if before.any():
            rows, times = self.rows[before], self.times[before]
            wanted = relations[late]
            place = np.searchsorted(rows, wanted, side="right") - 1
            there = (place >= 0) & (rows[place] == wanted)
            since[late] = np.where(there, times[place], since[late])
        return since


@attrs.frozen(eq=False)
class Side:
    """The neighbours of the rows of one kind: those of row r are ``[pointers[r], pointers[r + 1])`` of the columns."""

    pointers: Rows
    far: Rows
    times: Floats
    about: Mask


@attrs.frozen(eq=False)
class Mentions:
    """Every pair of a memory and an entity that it mentions, in both directions."""

    sides: Mapping[ElementKind, Side]

    @classmethod
    def build(cls, memories: Table, entities: Table, mentions: Mapping[str, tuple[Mention, ...]]) -> Mentions:
        """Of all mentions."""
        every = [mention for some in mentions.values() for mention in some]
        size = len(entities.ids)
        memory = np.fromiter((memories.row_of[mention.memory_id] for mention in every), np.int64, len(every))
        entity = np.fromiter((entities.row_of[mention.entity_id] for mention in every), np.int64, len(every))
        whole = np.fromiter((mention.span is None for mention in every), np.bool_, len(every))
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


@attrs.frozen(eq=False)
class Sessions:
    """For each memory row the row before and after it in its session, or -1."""

    before: Rows
    after: Rows

    @classmethod
    def build(cls, memories: Table, items: Mapping[str, Memory]) -> Sessions:
        """Of all memories that have a session, in the order of their positions, ties by id."""
        before, after = (np.full(len(memories.ids), -1, np.int64) for _ in range(2))
        placed: list[tuple[Any, ...]] = sorted(
            (each.session_id, each.position, memories.row_of[key]) for key, each in items.items() if each.session_id
        )
        for _, turns in groupby(placed, key=lambda each: each[0]):
            rows = np.array([row for *_, row in turns])
            before[rows[1:]] = rows[:-1]
            after[rows[:-1]] = rows[1:]
        return cls(before, after)


# -- of a state ---------------------------------------------------------------------------------------------------


def adjacency(state: State) -> Adjacency:
    """The relations at every entity."""
    entities, relations = table(state, ElementKind.ENTITY), table(state, ElementKind.RELATION)
    return state.derive(Adjacency.build, entities, relations, state.types)


def degrees(state: State) -> Rows:
    """The number of unretracted relations of every entity, by row."""
    return state.derive(_degrees, adjacency(state), table(state, ElementKind.RELATION))


def _degrees(edges: Adjacency, rows: Table) -> Rows:
    live, size = [row for row, relation in enumerate(rows.items) if relation.retracted_at is None], len(edges.begins)
    return np.bincount(edges.source[live], minlength=size) + np.bincount(edges.target[live], minlength=size)
