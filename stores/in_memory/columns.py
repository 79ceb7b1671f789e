"""Columns over one kind of elements: rows in order of id. Made at first use, and brought up to date after a write."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Codes, Floats, Hits, Mask
from graphsearch.model import ElementKind, View
from graphsearch.model.signatures import SignatureTable
from graphsearch.stores.in_memory.versions import BY_ID, Former, Version, made_of, marks_of, weights_of

Rows = NDArray[np.int64]

BY_NUMBER: Final = attrgetter("int")
"""Compares ids as numbers: the same order, but five times as fast as one by one in Python."""
_FEW: Final = 64
"""Of so many keys or more, one is looked up by halving; else all are numbered."""


# -- keys -------------------------------------------------------------------------------------------------------------


class Listing:
    """The keys of a kind in order: by code point for text, by part for tuples. The key of an element is its row."""

    def __init__(self, ids: list[Any]) -> None:
        self.ids = ids

    @cached_property
    def row_of(self) -> Mapping[Any, int]:
        """The row of each key."""
        return {key: row for row, key in enumerate(self.ids)}

    @cached_property
    def marks(self) -> Rows:
        """The mark of each row's key."""
        return marks_of(self.ids)

    def places(self, keys: Collection[Any]) -> Rows:
        """The row of each key; -1 for those that do not exist."""
        if "row_of" in self.__dict__ or len(keys) * _FEW > len(self.ids):
            return np.fromiter((self.row_of.get(key, -1) for key in keys), np.int64, len(keys))
        rows = ((bisect_left(self.ids, key), key) for key in keys)
        size = len(self.ids)
        return np.fromiter((at if at < size and self.ids[at] == key else -1 for at, key in rows), np.int64, len(keys))

    def rows(self, keys: Collection[Any]) -> Rows:
        """The rows of the keys that exist, in order, each once."""
        places = np.unique(self.places(keys))
        return places[places >= 0]

    def origins(self, former: Rows, changed: Rows) -> Rows:
        """The row that each row had among the marks of a former listing; -1 for new and changed keys."""
        if not len(changed):
            return np.arange(len(self.ids))
        origins = np.full(len(self.ids), -1, np.int64)
        kept = ~np.isin(self.marks, changed)  # these are in the same order in both
        origins[kept] = np.flatnonzero(~np.isin(former, changed))
        return origins


SPECIALLY_ORDERED: Final[Mapping[str, Callable[[Any], Any]]] = {
    "merge": lambda row: row.number,
    "proposal": lambda row: (row.value.created_at, row.key),
}
"""What rows are in order of, if it is not their key."""


def order_of(kind: str) -> Callable[[Any], Any]:
    """What rows of a kind are in order of."""
    return SPECIALLY_ORDERED.get(kind, attrgetter("key"))


@made_of("{}", lasts=BY_ID)
def listing(version: Version, kind: str, former: Former[Listing] | None) -> Listing:
    """The keys of a kind of rows."""
    if former is None:
        return Listing(_in_order(version.all(kind)))
    changed = former.changed(kind)
    kept = ~np.isin(former.value.marks, changed)
    keys = dict.fromkeys(chain.from_iterable(former.keys(kind)))
    there = _in_order([row.key for row in version.some(kind, keys)])
    if there == list(compress(former.value.ids, (~kept).tolist())):
        return former.value
    return Listing(_in_order([*compress(former.value.ids, kept.tolist()), *there]))  # two runs sort in linear time


def _in_order(keys: Iterable[Any]) -> list[Any]:
    every = list(keys)
    return sorted(every, key=BY_NUMBER if every and isinstance(every[0], UUID) else None)


@made_of("{}", "{}_weight", lasts=False)
def sorted_rows(version: Version, kind: str) -> Sequence[Any]:
    """The rows of a kind, in order."""
    return [*map(version.all(kind).__getitem__, version.made(listing, kind).ids)]


# -- numbers ----------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Numbers:
    """One number for each mark of a key."""

    of: Rows
    values: Any


def fresh_rows(keys: Listing, origins: Rows) -> list[Any] | None:
    """The keys of the rows without an origin; None if they are most."""
    fresh = np.flatnonzero(origins < 0)
    return None if 2 * len(fresh) >= len(origins) else [keys.ids[row] for row in fresh.tolist()]


def _numbers(
    version: Version, kind: str, former: Former[Any] | None, compute: Callable[[Sequence[Any]], Any]
) -> Numbers:
    """What is computed of each row; of those alone that have changed since an earlier version."""
    keys = version.made(listing, kind)
    if former is not None:
        origins = keys.origins(former.value.of, former.changed(kind, weights_of(kind)))
        if (fresh := fresh_rows(keys, origins)) is not None:
            values = former.value.values.take(origins)
            values[origins < 0] = compute(version.some(kind, fresh))
            return Numbers(keys.marks, values)
    return Numbers(keys.marks, compute(version.made(sorted_rows, kind)))


@made_of("{}")
def column(version: Version, kind: str, name: str, default: float, former: Former[Numbers] | None) -> Numbers:
    """An attribute of elements, as float64: moments as epoch seconds, and ``default`` for None."""
    return _numbers(version, kind, former, lambda rows: _of_values([*map(attrgetter(f"{kind}.{name}"), rows)], default))


def _of_values(values: list[Any], default: float) -> Floats:
    if values and isinstance(values[0], int | float):
        return np.array(values, np.float64)
    numbers = {each: default if each is None else each.timestamp() for each in set(values)}  # thousands share a moment
    if len(numbers) == 1:
        return np.broadcast_to(next(iter(numbers.values())), len(values))
    return np.fromiter(map(numbers.__getitem__, values), np.float64, len(values))


@made_of("{}", "{}_weight")
def feedback(version: Version, kind: str, former: Former[Numbers] | None) -> Numbers:
    """The current feedback weights."""
    return column(version, kind, "feedback_weight", 0.5, former)


@made_of("{}")
def signature_numbers(version: Version, kind: str, former: Former[Numbers] | None) -> Numbers:
    """The numbers of the elements' signatures."""

    def compute(rows: Sequence[Any]) -> Codes:
        signed = [row.signature for row in rows]
        numbers = {row.key: row.number for row in version.some("signature", list(dict.fromkeys(signed)))}
        return np.fromiter((numbers.get(code, UNSIGNED) for code in signed), np.int64, len(signed))

    return _numbers(version, kind, former, compute)


@made_of("relation")
def types(version: Version, former: Former[Types] | None) -> Types:
    """The types of relations."""
    known = {} if former is None else dict(former.value.numbers)

    def compute(rows: Sequence[Any]) -> NDArray[np.int32]:
        number = known.setdefault
        return np.fromiter((number(hash(row.relation.type), len(known)) for row in rows), np.int32, len(rows))

    found = _numbers(version, "relation", former, compute)
    if len(known) > len(np.unique(found.values)) and former is not None:
        return types(version, None)  # without those that nothing has any more
    return Types(found.of, found.values, known)


@attrs.frozen(eq=False)
class Types(Numbers):
    """Types of relations as numbers."""

    numbers: Mapping[int, int]
    """By the hash of a type."""


UNSIGNED: Final = 0
"""The number of signatures that do not exist any more."""


@made_of("signature", "scope", lasts=False)
def signatures(version: Version) -> SignatureTable:
    """All signatures by number; they name others by number too."""
    rows = version.all("signature")

    def numbers(codes: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(rows[code].number if code in rows else UNSIGNED for code in codes))

    contents = {
        row.number: attrs.evolve(
            row.content, evidence=numbers(row.content.evidence), influences=numbers(row.content.influences)
        )
        for row in rows.values()
    }
    return SignatureTable.by_code(contents, version.scope.types)


# -- views ------------------------------------------------------------------------------------------------------------


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
        return _distinct(self.start)

    @_ends.default
    def _(self) -> Floats:
        return _distinct(self.end)

    @classmethod
    def of(cls, version: Version, kind: str, start: str, end: str | None = None) -> Span:
        """The periods between two attributes of elements; None is open."""
        starts = version.made(column, kind, start, -np.inf).values
        ends = np.broadcast_to(np.inf, len(starts)) if end is None else version.made(column, kind, end, np.inf).values
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


def _distinct(values: Floats) -> Floats:
    """The distinct ones of some numbers, in order; of one that stands for all, itself."""
    return values[:1] if values.strides == (0,) else np.unique(values)


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
    type_codes: Mapping[int, int] = attrs.field(factory=dict)
    """By the hash of a type."""
    signatures: Codes = attrs.field(factory=lambda: np.empty(0, np.int64))
    least_confidence: float = attrs.field(init=False)
    _kept: dict[object, InView] = attrs.field(factory=dict, init=False)
    _latest: list[Any] = attrs.field(factory=lambda: [None, None], init=False)
    """The last view and what is in it: a question uses one view at every step."""

    @least_confidence.default
    def _(self) -> float:
        return float(self.confidence.min(initial=1.0))

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
        if not self.type_codes.keys().isdisjoint(map(hash, view.skipped_types)):
            yield "skipped_type", self._of_types(view.skipped_types)
        if view.only_types and len(self.types):
            yield "other_type", ~self._of_types(view.only_types)
        if self.shown is not None:
            yield "merged", ~self.shown

    def _of_types(self, names: Iterable[str]) -> Mask:
        """Which rows have one of these types."""
        named = np.zeros(len(self.type_codes), np.bool_)
        named[[self.type_codes[hash(name)] for name in names if hash(name) in self.type_codes]] = True
        return named.take(self.types)


@made_of("{}", lasts=False)
def visibility(version: Version, kind: str) -> Visibility:
    """The columns of a kind that views filter on."""
    if kind == ElementKind.MEMORY:
        return Visibility(Span.of(version, kind, "occurred_at"), Span.of(version, kind, "created_at"))
    valid = Span.of(version, kind, "valid_from", "valid_to")
    if kind == ElementKind.ENTITY:
        shown = version.made(shown_entities).values
        return Visibility(valid, Span.of(version, kind, "created_at"), shown=None if shown.all() else shown)
    typed = version.made(types)
    return Visibility(
        valid,
        Span.of(version, kind, "created_at", "retracted_at"),
        confidence=version.made(column, kind, "confidence", 0.0).values,
        types=typed.values,
        type_codes=typed.numbers,
        signatures=version.made(signature_numbers, kind).values,
    )


@made_of("entity")
def shown_entities(version: Version, former: Former[Numbers] | None) -> Numbers:
    """Whether each entity is merged into no other."""
    return _numbers(
        version, "entity", former, lambda rows: np.array([row.entity.merged_into is None for row in rows], np.bool_)
    )


def hits(version: Version, kind: str, rows: Rows, values: Floats | None = None) -> Hits:
    """Elements as hits, with zeros without ``values``."""
    zeros = np.zeros(len(rows))
    importance = zeros + 0.5
    if kind == ElementKind.ENTITY:
        importance = version.made(column, kind, "importance_weight", 0.0).values.take(rows)
    return Hits(
        keys=rows,
        signatures=version.made(signature_numbers, kind).values.take(rows),
        values=zeros if values is None else values,
        importance=importance,
    )
