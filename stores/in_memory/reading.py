"""Reads of rows from a version of a scope in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Generator, Hashable, Iterator, Mapping
from datetime import datetime
from itertools import chain, islice
from typing import Any, Final, TypeVar, Unpack
from uuid import UUID

from graphsearch._support.concurrency import aside, in_slices
from graphsearch.model import ElementKind
from graphsearch.model.signatures import memory_signature
from graphsearch.protocols.rows import EntityRow, Filters, Form, MemoryRow, RelationRow
from graphsearch.stores.in_memory.columns import SPECIALLY_ORDERED, listing, order_of
from graphsearch.stores.in_memory.rows import COLUMNS, form_of
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
