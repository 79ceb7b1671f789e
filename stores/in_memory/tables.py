"""Columns of numbers over one kind of elements: rows in order of id, built on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Codes, Floats, Hits, Mask
from graphsearch.model import ElementKind, Entity, Memory, Relation, View
from graphsearch.stores.in_memory.state import State

Rows = NDArray[np.int64]
Filter = Callable[[Rows | slice], Mask]


def seconds(moment: datetime | None, default: float) -> float:
    """Epoch seconds."""
    return default if moment is None else moment.timestamp()


@attrs.frozen(eq=False)
class Table:
    """The elements of a kind in order of their ids. The key of an element is its row."""

    ids: list[Any]
    items: list[Any]
    """The elements as they were written."""
    row_of: Mapping[Any, int]
    codes: Codes

    @classmethod
    def build(cls, items: Mapping[Any, object], codes: Mapping[Any, int]) -> Table:
        """Build the table of all elements of a kind and their signature codes."""
        numbered = isinstance(next(iter(items), None), UUID)
        ids = sorted(items, key=attrgetter("int") if numbered else None)  # sorts like UUIDs, five times as fast
        return cls(
            ids=ids,
            items=[items[key] for key in ids],
            row_of={key: row for row, key in enumerate(ids)},
            codes=np.fromiter((codes[key] for key in ids), np.int64, len(ids)),
        )

    def rows(self, keys: Mapping[Any, object] | list[Any]) -> Rows:
        """The rows of the ids that exist, in the order given."""
        return np.fromiter((self.row_of[key] for key in keys if key in self.row_of), np.int64)


@attrs.frozen(eq=False)
class Span:
    """One period per row, in epoch seconds: [start, end), with ±inf for open ends."""

    start: Floats
    end: Floats
    latest_start: float
    earliest_end: float

    @classmethod
    def of(cls, starts: list[datetime | None], ends: list[datetime | None]) -> Span:
        """Build periods from times; None is open."""
        start = np.array([seconds(moment, -np.inf) for moment in starts], np.float64)
        end = np.array([seconds(moment, np.inf) for moment in ends], np.float64)
        return cls(start, end, start.max(initial=-np.inf), end.min(initial=np.inf))

    def covers_all(self, first: float, last: float) -> bool:
        """Whether every row covers every moment of [first, last], in O(1)."""
        return self.latest_start <= last and first < self.earliest_end

    def covers(self, first: float, last: float, rows: Rows | slice) -> Mask:
        """Whether each of some rows covers a moment of [first, last]."""
        covered: Mask = (self.start[rows] <= last) & (first < self.end[rows])
        return covered


@attrs.frozen(eq=False)
class Visibility:
    """The columns of a kind that views filter on."""

    valid: Span
    known: Span
    shown: Mask | None = None
    """False for merged entities."""
    confidence: Floats = attrs.field(factory=lambda: np.empty(0))
    """Of relations alone, as are the following."""
    types: NDArray[np.int32] = attrs.field(factory=lambda: np.empty(0, np.int32))
    type_codes: Mapping[str, int] = attrs.field(factory=dict)
    signatures: Codes = attrs.field(factory=lambda: np.empty(0, np.int64))
    least_confidence: float = attrs.field(init=False)
    _latest: list[tuple[View | None, Filter | None]] = attrs.field(factory=lambda: [(None, None)], init=False)
    """The last view with its filter: a question uses one view at every step."""

    @least_confidence.default
    def _(self) -> float:
        return float(self.confidence.min(initial=1.0))

    @classmethod
    def of_entities(cls, table: Table) -> Visibility:
        """An entity is in view if it is valid, known and not merged."""
        entities: Sequence[Entity] = table.items
        shown = np.array([entity.merged_into is None for entity in entities], np.bool_)
        return cls(
            Span.of([entity.valid_from for entity in entities], [entity.valid_to for entity in entities]),
            Span.of([entity.created_at for entity in entities], [None] * len(entities)),
            shown=None if shown.all() else shown,
        )

    @classmethod
    def of_relations(cls, table: Table) -> Visibility:
        """A relation is in view if it is valid, known, confident enough and of no skipped type."""
        relations: Sequence[Relation] = table.items
        codes = {name: code for code, name in enumerate(sorted({relation.type for relation in relations}))}
        return cls(
            Span.of([relation.valid_from for relation in relations], [relation.valid_to for relation in relations]),
            Span.of([relation.created_at for relation in relations], [relation.retracted_at for relation in relations]),
            confidence=np.array([relation.confidence for relation in relations], np.float64),
            types=np.array([codes[relation.type] for relation in relations], np.int32),
            type_codes=codes,
            signatures=table.codes,
        )

    @classmethod
    def of_memories(cls, table: Table) -> Visibility:
        """A memory is in view if it had occurred and was known."""
        memories: Sequence[Memory] = table.items
        always: list[datetime | None] = [None] * len(memories)
        return cls(
            Span.of([memory.occurred_at for memory in memories], always),
            Span.of([memory.created_at for memory in memories], always),
        )

    def filter(self, view: View) -> Filter | None:
        """A predicate of rows in view; None if all are, decided in O(1)."""
        latest, found = self._latest[0]
        if latest is not view:
            filters = [passed for _, passed in self._filters(view)]
            found = partial(_passing, filters) if filters else None
            self._latest[0] = (view, found)
        return found

    def left_out(self, view: View, rows: Rows) -> dict[str, int]:
        """Count the rows out of view by the first reason that applies."""
        counts: dict[str, int] = {}
        left = np.ones(len(rows), np.bool_)
        for reason, passed in self._filters(view):
            passing = passed(rows)
            if number := int((left & ~passing).sum()):
                counts[reason] = number
            left &= passing
        return counts

    def _filters(self, view: View) -> Iterator[tuple[str, Filter]]:
        """The filters of the view, without those that every row of the kind passes."""
        known_at, least = view.known_at.timestamp(), view.min_edge_confidence
        first, last = view.earliest.timestamp(), view.as_of.timestamp()
        refolded = np.isin(self.signatures, sorted(view.refolded)) if view.refolded and len(self.signatures) else None
        if not self.known.covers_all(known_at, known_at):
            yield "not_known", partial(self._known, known_at, refolded)
        if not self.valid.covers_all(first, last):
            yield "not_held", _or(refolded, partial(self.valid.covers, first, last))
        if self.least_confidence < least:
            yield "low_confidence", _or(refolded, partial(_at_least, least, self.confidence))
        if not view.skipped_types.isdisjoint(self.type_codes):
            yield "skipped_type", partial(_one_of, ~self._of_types(view.skipped_types), self.types)
        if view.only_types and not (wanted := self._of_types(view.only_types)).all():
            yield "other_type", partial(_one_of, wanted, self.types)
        if self.shown is not None:
            yield "merged", self.shown.__getitem__

    def _known(self, moment: float, refolded: Mask | None, rows: Rows | slice) -> Mask:
        """Whether rows were created by a moment, or are folded again, and not retracted by it."""
        created = _or(refolded, lambda rows: self.known.start[rows] <= moment)
        passed: Mask = created(rows) & (moment < self.known.end[rows])
        return passed

    def _of_types(self, names: Iterable[str]) -> Mask:
        """Which type codes have one of these names."""
        named = np.zeros(len(self.type_codes), np.bool_)
        named[[self.type_codes[name] for name in names if name in self.type_codes]] = True
        return named


def _or(kept: Mask | None, passed: Filter) -> Filter:
    return passed if kept is None else lambda rows: passed(rows) | kept[rows]


def _at_least(least: float, column: Floats, rows: Rows | slice) -> Mask:
    passed: Mask = column[rows] >= least
    return passed


def _one_of(wanted: Mask, types: NDArray[np.int32], rows: Rows | slice) -> Mask:
    passed: Mask = wanted[types[rows]]
    return passed


def _passing(filters: Sequence[Filter], rows: Rows | slice) -> Mask:
    """Which rows pass all filters."""
    passed: Mask = np.logical_and.reduce([each(rows) for each in filters])
    return passed


def hits(table: Table, rows: Rows, values: Floats, importance: Floats | None) -> Hits:
    """The hits, as columns."""
    return Hits(
        keys=rows,
        signatures=table.codes.take(rows),
        values=values,
        importance=np.full(len(rows), 0.5) if importance is None else importance.take(rows),
    )


def importances(table: Table) -> Floats:
    """The importance weights of entities by row."""
    return np.array([entity.importance_weight for entity in table.items], np.float64)


def feedback_column(table: Table, weights: Mapping[Any, float]) -> Floats:
    """The current feedback weights of elements, by row."""
    return np.array([weights.get(each.id, each.feedback_weight) for each in table.items], np.float64)


# -- of a state ---------------------------------------------------------------------------------------------------

_VISIBILITY: Final[Mapping[ElementKind, Callable[[Table], Visibility]]] = {
    ElementKind.ENTITY: Visibility.of_entities,
    ElementKind.RELATION: Visibility.of_relations,
    ElementKind.MEMORY: Visibility.of_memories,
}


def table(state: State, kind: ElementKind) -> Table:
    """The rows of a kind."""
    return state.once(_table, kind)


def _table(state: State, kind: ElementKind) -> Table:
    elements = state.elements(kind)
    return state.derive(Table.build, elements.items, elements.codes)


def visibility(state: State, kind: ElementKind) -> Visibility:
    """The columns of a kind that views filter on."""
    return state.once(_visibility, kind)


def _visibility(state: State, kind: ElementKind) -> Visibility:
    return state.derive(_VISIBILITY[kind], table(state, kind))
