"""The port of rows on plain dictionaries, as plain as it can be: what the writer does is shown by it alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.model import KNOWN_RELATION_TYPES
from graphsearch.model.signatures import Signature
from graphsearch.protocols.rows import KINDS, Form, ScopeRow

GOES_WITH: Final = {
    "entity": ("entity_vector", "entity_shadow", "words"),
    "relation": ("relation_vector", "relation_shadow"),
    "memory": ("memory_vector", "memory_shadow"),
}
"""The kinds of rows that go with an element of a kind."""


class DictScope:
    """The rows of one scope by kind and key, and its signatures by code."""

    def __init__(self) -> None:
        self.row = ScopeRow(id_key=UUID(int=7), types=dict(KNOWN_RELATION_TYPES))
        self.tables: dict[str, dict[Any, Any]] = {kind: {} for kind in KINDS}
        self.signatures: dict[int, Signature] = {}

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[DictPort]:
        """A port, the changes through which are kept unless an error is raised."""
        port = DictPort(self)
        yield port
        self.row, self.tables, self.signatures = port.scope, port.tables, port.signatures


class DictPort:
    """`graphsearch.protocols.rows.Port`."""

    def __init__(self, of: DictScope) -> None:
        self.scope = attrs.evolve(of.row, types=dict(of.row.types))
        self._stored = of.tables
        self.tables = {kind: dict(table) for kind, table in of.tables.items()}
        self.signatures = dict(of.signatures)

    async def rows(self, kind: str, keys: Collection[Any]) -> Sequence[Any]:
        return [row for key in keys if (row := self._stored[kind].get(key)) is not None]

    async def rows_by(self, kind: str, column: str, values: Collection[Any]) -> Sequence[Any]:
        wanted, of = set(values), KINDS[kind][column]
        return [row for row in self._stored[kind].values() if not wanted.isdisjoint(of(row))]

    async def forms(self, entity_ids: Collection[UUID], without: Collection[str]) -> Sequence[Form]:
        written = await self.rows_by("mention", "written", entity_ids)
        counts = Counter(
            (row.mention.entity_id, row.mention.surface, row.mention.type, row.signature)
            for row in written
            if row.mention.memory_id not in without
        )
        return [Form(*form, count) for form, count in counts.items()]

    async def tree(self, entity_ids: Collection[UUID]) -> Mapping[UUID, UUID]:
        entities = (row.entity for row in self._stored["entity"].values())
        into = {each.id: each.merged_into for each in entities if each.merged_into is not None}

        def root(key: UUID) -> UUID:
            return root(into[key]) if key in into else key

        roots = {root(key) for key in entity_ids}
        return {source: target for source, target in into.items() if root(source) in roots}

    async def repoint(self, roots: Mapping[UUID, UUID]) -> None:
        for key, row in self.tables["mention"].items():
            if (written := row.mention.entity_id) in roots:
                self.tables["mention"][key] = attrs.evolve(row, entity_id=roots[written])

    async def put(self, kind: str, rows: Sequence[Any], before: Mapping[Any, Any]) -> None:
        for row in rows:
            assert kind not in GOES_WITH or self._stored[kind].get(row.key) == before.get(row.key), (kind, row.key)
            self.tables[kind][row.key] = row

    async def drop(self, kind: str, keys: Collection[Any], before: Mapping[Any, Any]) -> None:
        for key in keys:
            assert kind not in GOES_WITH or self._stored[kind][key] == before[key], (kind, key)
            for each in (kind, *GOES_WITH.get(kind, ())):
                self.tables[each].pop(key, None)

    async def drop_by(self, kind: str, column: str, values: Collection[Any]) -> int:
        found = await self.rows_by(kind, column, values)
        await self.drop(kind, [row.key for row in found], {})
        return len(found)

    async def finish(self, contents: Mapping[int, Signature]) -> None:
        self.signatures |= contents
        used = {row.signature for kind in GOES_WITH for row in self.tables[kind].values()}
        self.signatures = {code: content for code, content in self.signatures.items() if code in used}
