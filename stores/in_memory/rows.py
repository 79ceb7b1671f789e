"""The rows of one kind, and what they are found by: changed in place, by one writer at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol
from uuid import UUID

import attrs

from graphsearch.claims.naming import Cell, cells_of, folded_name, names_of, prefix_lengths, sizes, words_of
from graphsearch.model.signatures import Signature
from graphsearch.protocols.rows import KINDS, EntityRow, MentionRow
from graphsearch.text.trigrams import index_trigrams, overlap, trigrams

_AT_ONCE: Final = 256
"""Rows that are indexed in one step."""
_FEW: Final = 8
"""Keys of one value that are kept as a tuple."""
FormOf = tuple[str, str, int]
"""A surface form, the type that its text states, and the signature of the memory."""


@attrs.frozen
class SignatureRow:
    """A signature by its code, and the small number that stands for the code in columns."""

    key: int
    number: int
    content: Signature


# -- what rows are found by -------------------------------------------------------------------------------------------


class Index(Protocol):
    """Something that is kept up to date with the rows of a kind."""

    def change(self, key: Any, old: Any, new: Any) -> None:
        """Take note that a key has another row, or None for none."""
        ...


class ByValue:
    """The keys of rows by each of the values that these have in a column."""

    def __init__(self, of: Callable[[Any], Iterable[Any]]) -> None:
        self.of = of
        self._keys: dict[Any, tuple[Any, ...] | dict[Any, None]] = {}
        """Few keys as a tuple, which takes a quarter of the room."""

    def change(self, key: Any, old: Any, new: Any) -> None:
        """See `Index`."""
        was: Iterable[Any] = () if old is None else self.of(old)
        now: Iterable[Any] = () if new is None else self.of(new)
        if was == now:
            return
        for value in dict.fromkeys(was):
            if value not in now:
                self._discard(value, key)
        for value in now:
            if value not in was:
                self._add(value, key)

    def keys(self, value: Any) -> Sequence[Any]:
        """The keys of the rows that have a value; a copy, made at once."""
        return list(self._keys.get(value, ()))

    def number(self, value: Any) -> int:
        """The number of rows that have a value."""
        return len(self._keys.get(value, ()))

    def values(self) -> Sequence[Any]:
        """All values."""
        return list(self._keys)

    def _add(self, value: Any, key: Any) -> None:
        keys = self._keys.get(value, ())
        if isinstance(keys, dict):
            keys[key] = None
        elif key not in keys:
            self._keys[value] = (*keys, key) if len(keys) < _FEW else dict.fromkeys((*keys, key))

    def _discard(self, value: Any, key: Any) -> None:
        keys = self._keys[value]
        if isinstance(keys, dict):
            del keys[key]
        else:
            keys = self._keys[value] = tuple(each for each in keys if each != key)
        if not keys:
            del self._keys[value]


class Forms:
    """By entity, as it was written, merged or not: how often each form occurs."""

    def __init__(self) -> None:
        self._counts: dict[UUID, dict[FormOf, int]] = {}

    def change(self, key: Any, old: MentionRow | None, new: MentionRow | None) -> None:  # noqa: ARG002 - an `Index`
        """See `Index`."""
        for row, step in ((old, -1), (new, 1)):
            if row is not None:
                forms = self._counts.setdefault(row.mention.entity_id, {})
                if not _count(forms, form_of(row), step) and not forms:
                    del self._counts[row.mention.entity_id]

    def of(self, entity: UUID) -> Mapping[FormOf, int]:
        """The forms of an entity with their counts."""
        return self._counts.get(entity, {}).copy()


class Users:
    """The number of elements with each signature."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def change(self, key: Any, old: Any, new: Any) -> None:  # noqa: ARG002 - an `Index`
        """See `Index`."""
        if old is not None:
            _count(self._counts, old.signature, -1)
        if new is not None:
            _count(self._counts, new.signature, 1)

    def of(self, code: int) -> int:
        """The number of a signature."""
        return self._counts.get(code, 0)


class Likeness:
    """The folded names with a trigram in their prefix, by their size and its position."""

    def __init__(self) -> None:
        self._names: dict[Cell, dict[str, None]] = {}
        self._entities: dict[str, int] = {}
        """How many entities show a name."""

    def change(self, key: Any, old: EntityRow | None, new: EntityRow | None) -> None:  # noqa: ARG002 - an `Index`
        """See `Index`."""
        was, now = folded_names(old), folded_names(new)
        for name in was - now:
            if not _count(self._entities, name, -1):
                for cell in cells_of(name):
                    _discard(self._names, cell, name)
        for name in now - was:
            if _count(self._entities, name, 1) == 1:
                for cell in cells_of(name):
                    self._names.setdefault(cell, {})[name] = None

    def candidates(self, folded: str, threshold: float) -> set[str]:
        """The names that may be similar to one."""
        size, prefix = len(trigrams(folded)), index_trigrams(folded, threshold)
        found = set[str]()
        for other in sizes(size, threshold):
            own, theirs = prefix_lengths(size, other, threshold)
            for trigram in prefix[:own]:
                for position in range(theirs):
                    found.update(list(self._names.get(Cell(trigram, other, position), ())))
        return found


def likeness_of(folded: str, names: Iterable[str], threshold: float) -> dict[str, float]:
    """The names that are similar to one, each with its similarity."""
    requested = trigrams(folded)
    scores = {name: overlap(requested, trigrams(name)) for name in names}
    return {name: score for name, score in scores.items() if score >= threshold}


def form_of(row: MentionRow) -> FormOf:
    """The form of a mention."""
    return (row.mention.surface, row.mention.type, row.signature)


def folded_names(row: EntityRow | None) -> frozenset[str]:
    """The names by which an entity is found, folded."""
    return frozenset(map(folded_name, names_of(row.entity if row else None)))


def _discard(index: dict[Any, dict[Any, None]], value: Any, key: Any) -> None:
    keys = index[value]
    del keys[key]
    if not keys:
        del index[value]


def _count(counts: dict[Any, int], key: Any, step: int) -> int:
    """Add to a count; one that becomes 0 is removed."""
    number = counts[key] = counts.get(key, 0) + step
    if not number:
        del counts[key]
    return number


def _updated(every: dict[Any, Any], rows: Mapping[Any, Any]) -> dict[Any, Any]:
    every.update(rows)  # as one: the keys are not hashed again
    for key in [key for key, row in rows.items() if row is None]:
        del every[key]
    return every


COLUMNS: Final[Mapping[str, Mapping[str, Callable[[Any], Iterable[Any]]]]] = {
    **KINDS,
    "entity": {**KINDS["entity"], "name": folded_names, "word": lambda row: words_of(names_of(row.entity))},
    "memory": {
        **KINDS["memory"],
        "session": lambda row: (row.memory.session_id,),
        "source": lambda row: (row.memory.source,),
    },
    "signature": {},
}
"""By kind: `KINDS`, and more columns that this store finds rows by."""

_OTHERS: Final[Mapping[tuple[str, str], Callable[[], Index]]] = {
    ("mention", "forms"): Forms,
    ("entity", "like"): Likeness,
    **{(kind, "users"): Users for kind in ("entity", "relation", "memory")},
}


# -- tables -----------------------------------------------------------------------------------------------------------


class Table:
    """The rows of one kind by key, and indexes of them, each made when it is first used.

    A load of a million relations thus makes no index that nobody asks for.
    """

    def __init__(self, kind: str, rows: dict[Any, Any] | None = None) -> None:
        self.kind = kind
        self.rows: dict[Any, Any] = {} if rows is None else rows
        self.indexes: dict[str, Any] = {}

    def change(self, rows: Mapping[Any, Any]) -> None:
        """Let keys have other rows, or None for none."""
        if not self.indexes:
            self.rows = _updated(self.rows, rows)
            return
        indexes = list(self.indexes.values())
        for key, new in rows.items():
            old = self.rows.get(key)
            if new is not None:
                self.rows[key] = new
            elif old is not None:
                del self.rows[key]
            for index in indexes:
                index.change(key, old, new)

    def replaced(self, rows: Mapping[Any, Any]) -> Table:
        """A table with other rows for some keys, without indexes."""
        return Table(self.kind, _updated(self.rows.copy(), rows))

    def restore(self, rows: Mapping[Any, Any]) -> None:
        """Put back rows after a change that failed; indexes are made anew."""
        self.indexes = {}
        self.change(rows)

    def make_index(self, name: str) -> Generator[None, None, Any]:
        """Make an index, in steps; nobody may change the table meanwhile."""
        if name not in self.indexes:
            other = _OTHERS.get((self.kind, name))
            index: Index = other() if other else ByValue(COLUMNS[self.kind][name])
            for number, (key, row) in enumerate(self.rows.items()):
                index.change(key, None, row)
                if not number % _AT_ONCE:
                    yield
            self.indexes[name] = index
        return self.indexes[name]
