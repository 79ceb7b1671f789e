"""Columns of numbers over one kind of elements: rows in order of id, built on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Codes, Floats, Hits, Mask
from graphsearch.model import ElementKind, View
from graphsearch.stores.in_memory.state import State

Rows = NDArray[np.int64]


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

    def rows(self, keys: Iterable[Any]) -> Rows:
        """The rows of the ids that exist, in order, each once."""
        found = {row for row in map(self.row_of.get, keys) if row is not None}
        rows = np.fromiter(found, np.int64, len(found))
        rows.sort()
        return rows


@attrs.frozen(eq=False)
class Span:
    """One period per row, in epoch seconds: [start, end), with ±inf for open ends."""

    start: Floats
    end: Floats
    _starts: Floats = attrs.field(init=False)
    """The distinct starts, in order; likewise the ends."""
    _ends: Floats = attrs.field(init=False)

    @_starts.default
    def _(self) -> Floats:
        return np.unique(self.start)

    @_ends.default
    def _(self) -> Floats:
        return np.unique(self.end)

    @classmethod
    def of(cls, table: Table, start: str, end: str | None = None) -> Span:
        """The periods between two attributes of elements; None is open."""
        starts = np.array([seconds(each, -np.inf) for each in map(attrgetter(start), table.items)], np.float64)
        if end is None:
            return cls(starts, np.full(len(starts), np.inf))
        ends = np.array([seconds(each, np.inf) for each in map(attrgetter(end), table.items)], np.float64)
        return cls(starts, ends)

    def place(self, first: float, last: float) -> tuple[int, int]:
        """How many starts and ends are past: where they are equal, [first, last] meets the same rows."""
        return int(self._starts.searchsorted(last, "right")), int(self._ends.searchsorted(first, "right"))

    def covers_all(self, first: float, last: float) -> bool:
        """Whether every row covers a moment of [first, last]."""
        return self.place(first, last) == (len(self._starts), 0)

    def covers(self, first: float, last: float) -> Mask:
        """Whether each row covers a moment of [first, last]."""
        covered: Mask = (self.start <= last) & (first < self.end)
        return covered


REASONS: Final = ("", "not_known", "not_held", "low_confidence", "skipped_type", "other_type", "merged")
"""Why a row is out of view; the first that applies counts."""
KEPT: Final = 8
"""Views of which the rows are kept."""


@attrs.frozen(eq=False)
class InView:
    """The rows in a view."""

    mask: Mask | None
    """None where all are."""
    reasons: NDArray[np.int8]
    """For each row the reason why it is out of view, an index of `REASONS`; empty where all are in view."""

    @classmethod
    def of(cls, failing: Sequence[tuple[str, Mask]]) -> InView:
        """From which rows fail for each reason that excludes any, in the order of `REASONS`."""
        if not failing:
            return cls(None, np.empty(0, np.int8))
        reasons = np.zeros(len(failing[0][1]), np.int8)
        for reason, rows in reversed(failing):
            reasons[rows] = REASONS.index(reason)
        mask = reasons == 0
        return cls(None if mask.all() else mask, reasons)


@attrs.frozen(eq=False)
class Visibility:
    """The columns of a kind that views filter on, and what is in view: decided once, until anything begins or ends."""

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
    _kept: dict[object, InView] = attrs.field(factory=dict, init=False)
    _latest: list[Any] = attrs.field(factory=lambda: [None, None], init=False)
    """The last view and what is in it: a question uses one view at every step."""

    @least_confidence.default
    def _(self) -> float:
        return float(self.confidence.min(initial=1.0))

    @classmethod
    def of_entities(cls, table: Table) -> Visibility:
        """An entity is in view if it is valid, known and not merged."""
        shown = np.array([entity.merged_into is None for entity in table.items], np.bool_)
        valid, known = Span.of(table, "valid_from", "valid_to"), Span.of(table, "created_at")
        return cls(valid, known, shown=None if shown.all() else shown)

    @classmethod
    def of_relations(cls, table: Table) -> Visibility:
        """A relation is in view if it is valid, known, confident enough and of no skipped type."""
        codes = {name: code for code, name in enumerate(sorted({relation.type for relation in table.items}))}
        return cls(
            Span.of(table, "valid_from", "valid_to"),
            Span.of(table, "created_at", "retracted_at"),
            confidence=np.array([relation.confidence for relation in table.items], np.float64),
            types=np.array([codes[relation.type] for relation in table.items], np.int32),
            type_codes=codes,
            signatures=table.codes,
        )

    @classmethod
    def of_memories(cls, table: Table) -> Visibility:
        """A memory is in view if it had occurred and was known."""
        return cls(Span.of(table, "occurred_at"), Span.of(table, "created_at"))

    def seen(self, view: View) -> Mask | None:
        """Which rows are in view; None if all are. Not to be changed."""
        return self._in_view(view).mask

    def among(self, view: View, rows: Rows) -> Rows:
        """The rows in view of some."""
        seen = self.seen(view)
        return rows if seen is None else rows[seen.take(rows)]

    def left_out(self, view: View, rows: Rows) -> dict[str, int]:
        """Count the rows out of view by the first reason that applies."""
        found = self._in_view(view)
        if found.mask is None:
            return {}
        counts = np.bincount(found.reasons.take(rows), minlength=len(REASONS)).tolist()
        return {reason: count for reason, count in zip(REASONS[1:], counts[1:], strict=True) if count}

    def _in_view(self, view: View) -> InView:
        if self._latest[0] is not view:
            self._latest[:] = view, self._decided(view)
        found: InView = self._latest[1]
        return found

    def _decided(self, view: View) -> InView:
        first, last, known_at = view.earliest.timestamp(), view.as_of.timestamp(), view.known_at.timestamp()
        key = (
            self.valid.place(first, last),
            self.known.place(known_at, known_at),
            max(view.min_edge_confidence, self.least_confidence),
            view.skipped_types,
            view.only_types,
            view.refolded,
        )
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            found = self._kept[key] = InView.of([*self._failing(view, first, last, known_at)])
        return found

    def _failing(self, view: View, first: float, last: float, known_at: float) -> Iterator[tuple[str, Mask]]:
        """Which rows fail each condition of the view that any fails."""
        kept = np.isin(self.signatures, sorted(view.refolded)) if view.refolded and len(self.signatures) else np.False_
        if not self.known.covers_all(known_at, known_at):
            yield "not_known", ~((kept | (self.known.start <= known_at)) & (known_at < self.known.end))
        if not self.valid.covers_all(first, last):
            yield "not_held", ~(kept | self.valid.covers(first, last))
        if self.least_confidence < view.min_edge_confidence:
            yield "low_confidence", ~(kept | (self.confidence >= view.min_edge_confidence))
        if not view.skipped_types.isdisjoint(self.type_codes):
            yield "skipped_type", self._of_types(view.skipped_types)
        if view.only_types and len(self.types):
            yield "other_type", ~self._of_types(view.only_types)
        if self.shown is not None:
            yield "merged", ~self.shown

    def _of_types(self, names: Iterable[str]) -> Mask:
        """Which rows have one of these types."""
        named = np.zeros(len(self.type_codes), np.bool_)
        named[[self.type_codes[name] for name in names if name in self.type_codes]] = True
        return named.take(self.types)


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
    elements = state.elements(kind)
    return state.derive(Table.build, elements.items, elements.codes)


def visibility(state: State, kind: ElementKind) -> Visibility:
    """The columns of a kind that views filter on."""
    return state.derive(_VISIBILITY[kind], table(state, kind))


def hits(state: State, kind: ElementKind, rows: Rows, values: Floats | None = None) -> Hits:
    """Elements as hits, with zeros without ``values``."""
    every, zeros = table(state, kind), np.zeros(len(rows))
    return Hits(
        keys=rows,
        signatures=every.codes.take(rows),
        values=zeros if values is None else values,
        importance=state.derive(importances, every).take(rows) if kind is ElementKind.ENTITY else zeros + 0.5,
    )
