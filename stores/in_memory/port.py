"""A write to a scope in memory: what it puts and drops is collected, and applied at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch._support.concurrency import MANY, finished
from graphsearch.model import ElementKind
from graphsearch.model.signatures import Signature
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import MentionRow, Weighed
from graphsearch.stores.in_memory.reading import Reads
from graphsearch.stores.in_memory.rows import COLUMNS, SignatureRow
from graphsearch.stores.in_memory.versions import Cell, Version

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
