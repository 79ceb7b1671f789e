"""The versions of a scope: readers hold one and see it unchanged, without locks, while a writer changes the tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from itertools import count
from threading import Lock
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.protocols.rows import ScopeRow
from graphsearch.stores.in_memory.rows import COLUMNS, Table
from graphsearch.text.analyser import Analyser

T = TypeVar("T")
Changes = Mapping[str, Mapping[Any, Any]]
"""By kind and key: the row that is to be there, or None for none."""

BY_ID: Final = frozenset({"entity", "relation", "entity_vector", "relation_vector"})
"""Kinds with UUIDs as keys that are listed in order."""
_NOTHING: Final[Mapping[Any, Any]] = {}
_NUMBERS: Final = count(1)
"""Of changes to any scope of the process."""
_TELLING: Final = (
    *("entity", "relation", "memory", "mention", "claim", "merge", "words", "scope"),
    *("entity_vector", "relation_vector", "memory_vector"),
)
"""The kinds a change of which makes another version of a store."""


def weights_of(kind: str) -> str:
    """What counts as changed where only the feedback weights of a kind change."""
    return f"{kind}_weight"


@attrs.define(eq=False)
class _Change:
    """The keys that a write changed, by kind; and the next one, once there is one."""

    keys: Mapping[str, Collection[Any]] = attrs.field(factory=dict)
    """Ids of `BY_ID`, and marks of others: no text of what is forgotten stays here."""
    number: int = 0
    """How many keys were changed by this and all before."""
    next: _Change | None = None

    def follow(self, changes: Changes) -> _Change:
        """The next one, with the keys of some changes."""
        keys = {kind: tuple(rows) if kind in BY_ID else marks_of(rows) for kind, rows in changes.items()}
        self.next = _Change(keys, self.number + sum(map(len, keys.values())))
        return self.next


@attrs.frozen(eq=False)
class Former(Generic[T]):
    """What was made for an earlier version, and is to be brought up to date."""

    value: T
    since: _Change

    def changed(self, *kinds: str) -> NDArray[np.int64]:
        """The marks of the keys of some kinds that were changed since."""
        found: list[Any] = [keys if kind not in BY_ID else marks_of(keys) for kind in kinds for keys in self.keys(kind)]
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)

    def keys(self, kind: str) -> Iterator[Collection[Any]]:
        """The changed keys of a kind, write by write."""
        change = self.since.next
        while change is not None:
            if kind in change.keys:
                yield change.keys[kind]
            change = change.next


def marks_of(keys: Collection[Any]) -> NDArray[np.int64]:
    """Numbers that stand for keys: the same as long as the process runs."""
    return np.fromiter(map(hash, keys), np.int64, len(keys))


def made_of(*kinds: str, lasts: bool | Collection[str] = True) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Declare the kinds of rows that a function of a version reads; ``{}`` is the kind that is its first argument.

    What it makes is shared by all versions in which none of them has changed. If it ``lasts``, perhaps of some kinds
    alone, the last argument of the function is what it made for an earlier version, as a `Former`, or None. What lasts
    has no text: it stays until the next question after something was forgotten.
    """

    def declare(build: Callable[..., T]) -> Callable[..., T]:
        build.kinds, build.lasts = kinds, lasts  # type: ignore[attr-defined]
        return build

    return declare


class Version:
    """A state of a scope.

    A write publishes the rows that it is about to replace to the present version, before it changes the tables: whoever
    reads looks into a table first, and then at what was replaced. These rows are kept as long as the version is.
    """

    def __init__(
        self, tables: Mapping[str, Table], scope: ScopeRow, analyser: Analyser, stamps: Mapping[str, int]
    ) -> None:
        self.tables = tables
        self.scope = scope
        self.analyser = analyser
        self._stamps = stamps
        """The number of the last change, by kind."""
        self.overwritten: Changes | None = None
        """What the next version has replaced, None for the present one."""
        self.following: Version | None = None
        self._rows: dict[str, dict[Any, Any]] = {}
        """All that later versions have replaced, up to the one ``_until``."""
        self._until = self
        self.change = _Change()
        self.memo: dict[tuple[Any, ...], Any] = {}
        self.formers: dict[tuple[Any, ...], Former[Any]] = {}

    @classmethod
    def of_nothing(cls, scope: ScopeRow, analyser: Analyser) -> Version:
        """An empty scope."""
        return cls({kind: Table(kind) for kind in COLUMNS}, scope, analyser, dict.fromkeys(_TELLING, next(_NUMBERS)))

    # -- rows ------------------------------------------------------------------------------------------------------

    def get(self, kind: str, key: Any) -> Any:
        """A row, or None."""
        row = self.tables[kind].rows.get(key)
        if self.overwritten is not None and key in (replaced := self.replaced(kind)):
            return replaced[key]
        return row

    def some(self, kind: str, keys: Collection[Any]) -> list[Any]:
        """The existing ones of some rows, in the order of their keys."""
        if not self.tables[kind].rows and self.overwritten is None:
            return []
        rows = list(map(self.tables[kind].rows.get, keys))
        if self.overwritten is not None and (replaced := self.replaced(kind)):
            rows = [replaced.get(key, row) for key, row in zip(keys, rows, strict=True)]
        return [row for row in rows if row is not None]

    def all(self, kind: str) -> Mapping[Any, Any]:
        """All rows of a kind, by key; a copy, made at once."""
        rows = self.tables[kind].rows.copy()
        for key, row in self.replaced(kind).items():
            if row is None:
                rows.pop(key, None)
            else:
                rows[key] = row
        return rows

    def size(self, kind: str) -> int:
        """The number of rows of a kind."""
        size = len(self.tables[kind].rows)
        return len(self.all(kind)) if self.replaced(kind) else size

    def replaced(self, kind: str) -> Mapping[Any, Any]:
        """The rows of this version that were replaced later: None where it has none."""
        if self.overwritten is None:
            return _NOTHING
        while (later := self._until).overwritten is not None and later.following is not None:
            for each, rows in later.overwritten.items():
                if later.tables[each] is self.tables[each]:  # else the table that this version reads is as it was
                    own = self._rows.setdefault(each, {})
                    for key, row in rows.items():
                        own.setdefault(key, row)
            self._until = later.following
        return self._rows.get(kind, _NOTHING)

    # -- what is made of them --------------------------------------------------------------------------------------

    @property
    def token(self) -> Hashable:
        """Another one for every change to elements, their names, words, vectors, types or model."""
        return tuple(self._stamps[kind] for kind in _TELLING)

    def has(self, build: Callable[..., Any], *of: Hashable) -> bool:
        """Whether `made` is at hand."""
        return (build, *of) in self.memo

    def made(self, build: Callable[..., T], *of: Hashable) -> T:
        """What a function that was declared by `made_of` makes of this version; made once."""
        known: T | None = self.memo.get((build, *of))
        if known is None:
            lasts = build.lasts  # type: ignore[attr-defined]
            known = build(self, *of, self.formers.get((build, *of))) if lasts else build(self, *of)
            self.memo[build, *of] = known
            self.formers.pop((build, *of), None)
        return known

    # -- the next one ----------------------------------------------------------------------------------------------

    def advance(self, changes: Changes, scope: ScopeRow, weighed: Changes = _NOTHING) -> Version:
        """Change the tables; return the next version. ``weighed`` are elements with nothing but another weight.

        If that fails, the tables are as they were, and this version must be `renewed`.
        """
        tables, replaced = dict(self.tables), dict[str, dict[Any, Any]]()
        every = [*changes.items(), *weighed.items()]
        for kind, rows in every:
            if 2 * len(rows) > len(tables[kind].rows):  # readers keep the table that they read
                tables[kind] = tables[kind].replaced(rows)
            else:
                now = tables[kind].rows
                replaced.setdefault(kind, {}).update((key, now.get(key)) for key in rows)
        told = {**changes, **{weights_of(kind): rows for kind, rows in weighed.items()}}
        if _told(scope) != _told(self.scope):
            told["scope"] = _NOTHING
        later = Version(tables, scope, self.analyser, {**self._stamps, **dict.fromkeys(told, next(_NUMBERS))})
        later.inherit(self, told)
        self.following, self.overwritten = later, replaced
        try:
            for kind, rows in every:
                if tables[kind] is self.tables[kind]:
                    tables[kind].change(rows)
        except BaseException:
            for kind, rows in replaced.items():
                self.tables[kind].restore(rows)
            raise
        return later

    def renewed(self) -> Version:
        """The same version once more."""
        same = Version(self.tables, self.scope, self.analyser, self._stamps)
        same.inherit(self, {})
        return same

    def inherit(self, before: Version, changes: Changes) -> None:
        """Take over what was made of kinds of rows that have not changed, and what can be brought up to date."""
        self.change = before.change.follow(changes)
        most = self.change.number - sum(len(table.rows) for table in self.tables.values())
        made, formers = before.memo.copy(), before.formers.copy()
        for of, value in made.items():
            if changes.keys().isdisjoint(_kinds(of)):
                self.memo[of] = value
            elif of[0].lasts is True or (of[0].lasts and of[1] in of[0].lasts):
                formers[of] = Former(value, before.change)
        self.formers = {of: each for of, each in formers.items() if of not in self.memo and each.since.number >= most}


def _kinds(of: tuple[Any, ...]) -> Iterator[str]:
    """The kinds of rows that something is made of."""
    build, *arguments = of
    return (kind.format(*arguments[:1]) for kind in build.kinds)


def _told(scope: ScopeRow) -> Any:
    return scope.types, scope.embedder, scope.dimensions


class Cell:
    """The present version of one scope, None until something is written; and the lock of its writers."""

    def __init__(self, analyser: Analyser, id_key: UUID) -> None:
        self.analyser = analyser
        self.id_key = id_key
        self.version: Version | None = None
        self.lock = Lock()
        self.numbers = count(1)
        """The numbers of signatures; 0 is that of unknown ones."""
