"""One hop in memory: a frontier's relations gathered from flat arrays, without a loop over entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from graphsearch.columns import Floats, Keys
from graphsearch.model import Memory, Relation, RelationType
from graphsearch.stores.in_memory.index import Filter, Rows, Table, seconds


@attrs.frozen(eq=False)
class Adjacency:
    """Every relation twice, from its source and from its target, in one sequence.

    Slot 2 · entity holds the relations that leave the entity, slot 2 · entity + 1 those that arrive, strongest
    first: greatest confidence × prior, ties by row. Slot s is ``[pointers[s], pointers[s + 1])``.
    """

    pointers: Rows
    relations: Rows
    far: Rows
    """The entity at the other end."""
    begins: Rows
    """Where both slots of each entity begin: of shape (entities, 2)."""
    sizes: Rows
    """How many relations they hold: of the same shape."""

    @classmethod
    def build(cls, entities: Table, table: Table, types: Mapping[str, RelationType]) -> Adjacency:
        """Of all relations, with the priors of their types."""
        relations: Sequence[Relation] = table.items
        size = len(relations)
        source = np.fromiter((entities.row_of[relation.source_id] for relation in relations), np.int64, size)
        target = np.fromiter((entities.row_of[relation.target_id] for relation in relations), np.int64, size)
        priors = {name: types[name].prior if name in types else 1.0 for name in {each.type for each in relations}}
        weight = np.array([relation.confidence * priors[relation.type] for relation in relations], np.float64)
        return cls.of(source, target, weight, len(entities.ids))

    @classmethod
    def of(cls, source: Rows, target: Rows, weight: Floats, entities: int) -> Adjacency:
        """Of relations between rows of so many entities; ``weight`` is confidence × prior."""
        slots = np.concatenate([2 * source, 2 * target + 1])
        rows = np.tile(np.arange(len(weight), dtype=np.int64), 2)
        order = np.lexsort((rows, np.tile(-weight, 2), slots))
        ordered = slots[order]
        pointers = np.searchsorted(ordered, np.arange(2 * entities + 1))
        return cls(
            pointers=pointers,
            begins=pointers[:-1].reshape(-1, 2),
            sizes=np.diff(pointers).reshape(-1, 2),
            relations=rows[order],
            far=np.concatenate([target, source])[order],
        )

    def around(self, entity: int) -> Rows:
        """The relations of an entity, either way, each once and in order."""
        return np.unique(self.relations[self.pointers[2 * entity] : self.pointers[2 * entity + 2]])

    def degrees(self, live: Floats) -> Rows:
        """How many relations each entity has, both directions, counting those marked 1 in ``live`` by row."""
        slots = np.repeat(np.arange(len(self.pointers) - 1), np.diff(self.pointers))
        counted = np.bincount(slots // 2, weights=live[self.relations], minlength=(len(self.pointers) - 1) // 2)
        return counted.astype(np.int64)

    def strongest(self, keys: Keys, fan_out: int, filter: Filter | None) -> tuple[Rows, Rows]:
        """Places in the sequence, at most ``fan_out`` a slot of a frontier, and for each its slot among the frontier's.

        These are 2 · row of the frontier, and + 1 for what arrives. Only relations that pass the filter count. Windows
        over the slots double until enough pass, so that a hub costs no more than what it must show.
        """
        begin, size = self.begins.take(keys, axis=0).ravel(), self.sizes.take(keys, axis=0).ravel()
        window = max(fan_out, 0)
        if filter is None:
            return _windows(begin, np.minimum(size, window))
        pending = np.flatnonzero(size)
        found, none = np.zeros(len(size), np.int64), np.empty(0, np.int64)
        parts, owners = [none], [none]
        while len(pending) and window:
            count = np.minimum(size[pending], window)
            places, owner = _windows(begin[pending], count)
            passed = filter(self.relations[places])
            parts.append(places[passed])
            owners.append(pending[owner[passed]])
            found += np.bincount(owners[-1], minlength=len(size))
            begin[pending] += count
            size[pending] -= count
            pending = pending[(found[pending] < fan_out) & (size[pending] > 0)]
            window *= 2
        return _first(fan_out, parts, owners, len(size))


def _windows(begin: Rows, count: Rows) -> tuple[Rows, Rows]:
    """The numbers from each of ``begin`` on, ``count`` of them, and for each which window it is in."""
    window = np.arange(len(count)).repeat(count)
    shifted: Rows = (begin - count.cumsum() + count).take(window)
    return shifted + np.arange(len(window)), window


def _first(fan_out: int, parts: list[Rows], owners: list[Rows], slots: int) -> tuple[Rows, Rows]:
    """The first ``fan_out`` places of every slot, slot by slot, and the slot of each."""
    places, owner = np.concatenate(parts), np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    places, owner = places[order], owner[order]
    rank = np.arange(len(owner)) - np.searchsorted(owner, np.arange(slots))[owner]
    first = rank < fan_out
    return places[first], owner[first]


@attrs.frozen(eq=False)
class Support:
    """What the freshness of relations counts from."""

    newest: Floats
    """Epoch seconds of the newest support by row, NaN where there is none."""
    otherwise: Floats
    """Start, else creation."""
    latest: float
    """The newest support of all."""
    by_latest: Floats
    """What freshness counts from at any moment since."""
    rows: Rows
    """A row for every dated memory behind a relation, ordered by relation and time."""
    times: Floats

    @classmethod
    def build(cls, table: Table, memories: Mapping[str, Memory]) -> Support:
        """Of all relations and the memories behind them."""
        relations: Sequence[Relation] = table.items
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
