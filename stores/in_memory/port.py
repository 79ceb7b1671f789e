"""Reads of rows from a version of a scope in memory, and a write: what it puts and drops is applied at its end."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Collection, Generator, Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any, Final, TypeVar, Unpack
from uuid import UUID

import attrs

from graphsearch._support.concurrency import MANY, aside, finished, in_slices
from graphsearch.model import ElementKind
from graphsearch.model.signatures import Signature, memory_signature
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import EntityRow, Filters, Form, MemoryRow, MentionRow, RelationRow, Weighed
from graphsearch.stores.in_memory.columns import SPECIALLY_ORDERED, listing, order_of
from graphsearch.stores.in_memory.rows import COLUMNS, SignatureRow, form_of
from graphsearch.stores.in_memory.versions import Cell, Version

T = TypeVar("T")
_STEP: Final = 64
"""Rows of a page that are looked at in one step."""


class Reads:
    """The rows of a version; see `graphsearch.protocols.rows.Rows`."""

    _cell: Cell
    _is_alone = False
    """Whether the lock of the scope is held for this."""

    @property
    def _version(self) -> Version:
        """The version to read."""
        raise NotImplementedError

    async def rows(self, kind: str, keys: Collection[Any]) -> list[Any]:
        return self._version.some(kind, keys)

    async def rows_by(self, kind: str, column: str, values: Collection[Any]) -> list[Any]:
        return await self.rows_of(self._version, kind, column, values)

    async def forms(self, entity_ids: Collection[UUID], without: Collection[str]) -> list[Form]:
        version = self._version
        counts: dict[tuple[UUID, str, str, int], int] = {}
        index = await self.index(version, "mention", "forms")
        if index is not None:
            counts = {(key, *form): number for key in entity_ids for form, number in index.of(key).items()}
        if index is None or version.replaced("mention"):
            counts = {}
            for row in await self.rows_of(version, "mention", "written", entity_ids):
                form = (row.mention.entity_id, *form_of(row))
                counts[form] = counts.get(form, 0) + 1
        for row in await self.rows_of(version, "mention", "memory", without):
            if (form := (row.mention.entity_id, *form_of(row))) in counts:
                counts[form] -= 1
        return [Form(*form, count=number) for form, number in counts.items() if number]

    async def tree(self, entity_ids: Collection[UUID]) -> dict[UUID, UUID]:
        version, found, waiting = self._version, dict[UUID, UUID](), set(entity_ids)
        while waiting:
            merges = [row.merge for row in await self.rows_of(version, "merge", "end", waiting)]
            new = {each.source_id: each.target_id for each in merges if each.undone_at is None}
            waiting = {end for source, target in new.items() if source not in found for end in (source, target)}
            found |= new
        return found

    async def page(
        self, kind: str, *, after: Any = None, limit: int | None = None, **filters: Unpack[Filters]
    ) -> list[Any]:
        version, wanted = self._version, {name: value for name, value in filters.items() if value is not None}
        order = order_of(kind)
        if (few := await self._few(version, kind, wanted)) is not None:
            rows = iter(sorted(few, key=order))
        elif kind in SPECIALLY_ORDERED:
            rows = iter(sorted(version.all(kind).values(), key=order))
        else:
            ids = (await once(version, listing, kind)).ids
            start = 0 if after is None else bisect_right(ids, after)
            rows = (row for key in islice(ids, start, None) if (row := version.get(kind, key)) is not None)
        if after is not None:
            rows = (row for row in rows if order(row) > after)
        kept = (row for row in rows if all(_FILTERS[name](version, row, value) for name, value in wanted.items()))
        return await in_slices(_taken(kept, limit))

    async def _few(self, version: Version, kind: str, filters: Mapping[str, Any]) -> list[Any] | None:
        """The rows that an index finds for one of the filters; None if there is none."""
        for name, column in (("entity_id", "end"), ("session_id", "session"), ("source", "source")):
            if name in filters:
                return await self.rows_of(version, kind, column, [filters[name]])
        return None

    # -- of a version ----------------------------------------------------------------------------------------------

    async def rows_of(self, version: Version, kind: str, column: str, values: Collection[Any]) -> list[Any]:
        """The rows with any of some values in a column."""
        found = await self.keys_of(version, kind, column, values)
        return version.some(kind, dict.fromkeys(chain.from_iterable(found.values())))

    async def keys_of(self, version: Version, kind: str, column: str, values: Collection[Any]) -> dict[Any, list[Any]]:
        """By value the keys of the rows that have it in a column."""
        of, found = COLUMNS[kind][column], {value: list[Any]() for value in values}
        if not found or not (version.tables[kind].rows or version.replaced(kind)):
            return found
        index = await self.index(version, kind, column)
        if index is not None:
            found = {value: index.keys(value) for value in found}
        others = version.all(kind) if index is None else version.replaced(kind)  # looked at last: see `Version`
        if others and index is not None:
            found = {value: [key for key in keys if key not in others] for value, keys in found.items()}
        for key, row in others.items():
            for value in () if row is None else of(row):
                if value in found:
                    found[value].append(key)
        return found

    async def index(self, version: Version, kind: str, name: str) -> Any:
        """An index of the rows of a kind, made if there is none; None where a writer is changing them."""
        table, present = version.tables[kind], self._cell.version
        if name in table.indexes:
            return table.indexes[name]
        is_free = self._is_alone or present is None or present.tables[kind] is not table
        if not is_free and not self._cell.lock.acquire(blocking=False):
            return None
        try:
            return await in_slices(table.make_index(name))
        finally:
            if not is_free:
                self._cell.lock.release()


async def once(version: Version, build: Callable[..., T], *of: Hashable) -> T:
    """What is made of a version; if it is made of many elements, off the event loop."""
    if version.has(build, *of):
        return version.made(build, *of)
    return await aside(lambda: version.made(build, *of), sum(len(version.tables[kind].rows) for kind in ElementKind))


def _taken(rows: Iterator[Any], limit: int | None) -> Generator[None, None, list[Any]]:
    """The first rows, in steps."""
    found = list[Any]()
    while limit is None or len(found) < limit:
        step = list(islice(rows, _STEP if limit is None else min(_STEP, limit - len(found))))
        if not step:
            break
        found += step
        yield
    return found


# -- filters ----------------------------------------------------------------------------------------------------------


def _is_embedded(version: Version, row: Any, wanted: bool) -> bool:
    kind = _KIND_OF[type(row)]
    has = version.get(f"{kind}_vector", row.key) is not None
    if wanted or kind != ElementKind.RELATION:
        return has == wanted
    return not has and row.relation.retracted_at is None and bool(row.relation.fact)


def _is_before(_: Version, row: MemoryRow, wanted: datetime) -> bool:
    written = row.memory.occurred_at or row.memory.created_at
    return written is not None and written < wanted


_KIND_OF: Final = {EntityRow: ElementKind.ENTITY, RelationRow: ElementKind.RELATION, MemoryRow: ElementKind.MEMORY}
_FILTERS: Final[Mapping[str, Callable[[Version, Any, Any], bool]]] = {
    "type": lambda _, row, wanted: getattr(row, _KIND_OF[type(row)]).type == wanted,
    "live": lambda _, row, wanted: (row.relation.retracted_at is None) == wanted,
    "entity_id": lambda _, row, wanted: wanted in row.ends,
    "embedded": _is_embedded,
    "shadowed": lambda version, row, wanted: (
        (version.get(f"{_KIND_OF[type(row)]}_shadow", row.key) is not None) == wanted
    ),
    "state": lambda _, row, wanted: row.value.state == wanted,
    "source": lambda _, row, wanted: row.memory.source == wanted,
    "session_id": lambda _, row, wanted: row.memory.session_id == wanted,
    "subject": lambda _, row, wanted: row.memory.subject == wanted,
    "owner": lambda _, row, wanted: memory_signature(row.memory).owner == wanted,
    "label": lambda _, row, wanted: wanted in row.memory.labels,
    "before": _is_before,
}
"""See `graphsearch.protocols.rows.Filters`."""


# -- a write ----------------------------------------------------------------------------------------------------------

_ELEMENTS: Final = tuple(map(str, ElementKind))
_BELONGING: Final[Mapping[str, Sequence[str]]] = {
    kind: (f"{kind}_vector", f"{kind}_shadow", *(("words",) if kind == "entity" else ())) for kind in _ELEMENTS
}
"""What goes with an element."""


class MemoryPort(Reads):
    """One transaction; its owner holds the lock of the scope."""

    _is_alone = True

    def __init__(self, cell: Cell, version: Version) -> None:
        self._cell = cell
        self.scope = attrs.evolve(version.scope, types=dict(version.scope.types))
        self.version: Hashable = version.token
        self.before = version
        self._changes: dict[str, dict[Any, Any]] = {}
        self._weighed: dict[str, dict[Any, Any]] = {}
        self.is_kept = True

    @property
    def _version(self) -> Version:
        return self.before

    # -- changes ---------------------------------------------------------------------------------------------------

    async def put(self, kind: str, rows: Sequence[Any], before: Mapping[Any, Any]) -> None:  # noqa: ARG002 - a `Port`
        self._changed(kind).update((row.key, row) for row in rows)

    async def drop(self, kind: str, keys: Collection[Any], before: Mapping[Any, Any] | None = None) -> None:  # noqa: ARG002
        for each in (kind, *_BELONGING.get(kind, ())):
            there, changed = self.before.tables[each].rows, self._changed(each)
            changed.update((key, None) for key in keys if key in there or key in changed)

    async def drop_by(self, kind: str, column: str, values: Collection[Any]) -> int:
        keys = [row.key for row in await self.rows_by(kind, column, values)]
        await self.drop(kind, keys)
        return len(keys)

    async def repoint(self, roots: Mapping[UUID, UUID]) -> None:
        changed = self._changed("mention")
        for stored in await self.rows_by("mention", "written", roots):
            row: MentionRow = changed.get(stored.key, stored)
            if row is not None and (root := roots.get(row.mention.entity_id, row.entity_id)) != row.entity_id:
                changed[row.key] = revised(row, entity_id=root)

    async def add(self, kind: str, row: Any) -> Any:
        changed = self._changed(kind)
        there = changed[row.key] if row.key in changed else self.before.get(kind, row.key)
        if there is None:
            there = changed[row.key] = row
        return there

    async def clear(self, kinds: Collection[str] | None = None) -> None:
        for kind in COLUMNS if kinds is None else kinds:
            self._changes[kind] = dict.fromkeys(self.before.tables[kind].rows)

    async def switch_vectors(self) -> None:
        for kind in _ELEMENTS:
            vectors, shadows = self._changed(f"{kind}_vector"), self._changed(f"{kind}_shadow")
            new = {**self.before.tables[f"{kind}_shadow"].rows, **shadows}
            vectors.update(dict.fromkeys(self.before.tables[f"{kind}_vector"].rows))
            vectors.update((key, row) for key, row in new.items() if row is not None and row.value is not None)
            shadows.update(dict.fromkeys(new))

    async def weighed(self, kind: str, keys: Collection[Any], session_id: str) -> Mapping[Any, Weighed]:
        index, found = await self.index(self.before, "outcome", "element"), dict[Any, Weighed]()
        for row in self.before.some(kind, keys):
            of, weight = (str(kind), str(row.key)), getattr(row, kind).feedback_weight
            given = self.before.get("outcome", (*of, session_id))
            found[row.key] = Weighed(weight, index.number(of), given and given.value)
        return found

    async def weigh(self, kind: str, weights: Mapping[Any, tuple[float, int]]) -> None:
        changed = self._weighed.setdefault(kind, {}) if weights else {}
        for row in self.before.some(kind, weights):
            element = revised(getattr(row, kind), feedback_weight=weights[row.key][0])
            changed[row.key] = revised(row, **{kind: element})

    async def finish(self, contents: Mapping[int, Signature]) -> None:
        known, changed = self.before.tables["signature"].rows, self._changed("signature")
        used = {row.signature for kind in _ELEMENTS for row in self._changed(kind).values() if row is not None}
        for code in sorted(used):
            if code in contents and (changed.get(code) is None if code in changed else code not in known):
                changed[code] = SignatureRow(code, next(self._cell.numbers), contents[code])
        replaced = {row.signature for kind in _ELEMENTS for row in self.before.some(kind, self._changed(kind))}
        for code in await self._unused(replaced - used):
            changed[code] = None

    async def _unused(self, codes: Collection[int]) -> list[int]:
        """Those of some signatures that no element has after this write."""
        left = dict.fromkeys(codes, 0)
        for kind in _ELEMENTS if left else ():
            users = await self.index(self.before, kind, "users")
            for code in left:
                left[code] += users.of(code)
            rows = self.before.tables[kind].rows
            for key, new in self._changed(kind).items():
                for row, step in ((rows.get(key), -1), (new, 1)):
                    if row is not None and row.signature in left:
                        left[row.signature] += step
        return [code for code, number in left.items() if not number and code in self.before.tables["signature"].rows]

    def _changed(self, kind: str) -> dict[Any, Any]:
        return self._changes.setdefault(kind, {})

    # -- the end ---------------------------------------------------------------------------------------------------

    @property
    def changes(self) -> Mapping[str, Mapping[Any, Any]]:
        """By kind and key: the rows put so far, None for those dropped, and the elements with another weight."""
        kinds = self._weighed.keys() | self._changes.keys()
        return {kind: {**self._changes.get(kind, {}), **self._weighed.get(kind, {})} for kind in sorted(kinds)}

    def discard(self) -> None:
        self.is_kept = False

    async def commit(self) -> None:
        """Apply all changes, in a thread if they are many: then this is the present version."""
        if not self.is_kept:
            return
        if (size := sum(map(len, self._changes.values()))) > MANY:
            await finished(asyncio.to_thread(self._apply))  # not to be stopped half way
        elif size or self._weighed or self.scope != self.before.scope or self._cell.version is not self.before:
            self._apply()

    def _apply(self) -> None:
        changes = {kind: rows for kind, rows in self._changes.items() if rows}
        try:
            self._cell.version = self.before.advance(changes, self.scope, self._weighed)
        except BaseException:
            if self._cell.version is not None:
                self._cell.version = self.before.renewed()
            raise
