"""The upkeep of what is derived from rows, by the functions of the former writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres.index.indexing import (
    drop_documents,
    index_documents,
    is_bulk,
    lists_facts,
    put_words,
    settle,
    strike_embedded,
    strike_facts,
)
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.write.renaming import index_entities
from graphsearch.text.bm25 import searchable_text


class Upkeep:
    """What a transaction changes of elements and of words, until it ends."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._before: dict[str, dict[Any, Any]] = {kind: {} for kind in ("entity", "memory", "relation")}
        self._after: dict[str, dict[Any, Any]] = {kind: {} for kind in ("entity", "memory", "relation")}
        self._words: dict[UUID, Mapping[str, float]] = {}
        self._embedded: list[UUID] = []

    async def put(self, kind: str, rows: Sequence[Any], before: Mapping[Any, Any]) -> None:
        """Remember rows that are written."""
        if kind == "words":
            self._words.update((row.key, row.value) for row in rows)
            return
        self._before[kind].update(before)
        self._after[kind].update((row.key, row) for row in rows)

    async def drop(self, kind: str, before: Mapping[Any, Any]) -> None:
        """Remember rows that are removed."""
        self._before[kind].update(before)

    def embedded(self, kind: str, keys: Sequence[Any]) -> None:
        """Remember elements that got vectors."""
        if kind == "relation":
            self._embedded += keys

    async def finish(self) -> None:
        """Bring the indexes up to date."""
        await put_words(self.session, self._words)
        for kind in ElementKind:
            before, after = self._before[kind.value], self._after[kind.value]
            if gone := [key for key in before if key not in after]:
                await drop_documents(self.session, kind, gone)
                if kind is ElementKind.RELATION:
                    await strike_facts(self.session, gone)
                if kind is ElementKind.ENTITY:
                    await self.session.run(
                        b"DELETE FROM entity_alias WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = ANY(%(ids)s::uuid[])",
                        ids=gone,
                    )
            if kind is ElementKind.ENTITY:
                await self._index_entities(before, after)
                continue
            name = kind.value
            texts = [
                getattr(row, name)
                for key, row in after.items()
                if key not in before
                or searchable_text(getattr(before[key], name)) != searchable_text(getattr(row, name))
            ]
            await index_documents(self.session, kind, texts, fresh=not before)
            if kind is ElementKind.RELATION and lists_facts(self.session):
                query = (
                    "INSERT INTO unembedded_fact (org_id, project_id, id) SELECT org_id, project_id, id FROM relation e"
                    " WHERE org_id = %(org)s AND project_id = %(project)s AND e.id = ANY(%(ids)s) AND fact <> '' AND retracted_at IS NULL ON CONFLICT DO NOTHING"
                )
                if keys := [each.id for each in texts]:
                    await self.session.run(query.encode(), ids=keys)
        await strike_embedded(self.session, self._embedded)
        for kind in ElementKind:
            size = len(self._after[kind.value])
            if size and not is_bulk(range(size)):
                await settle(self.session, kind, limit=2 * size)

    async def _index_entities(self, before: Mapping[UUID, Any], after: Mapping[UUID, Any]) -> None:
        def named(row: Any) -> Any:
            each = row.entity
            return (each.name, each.aliases, each.description, each.merged_into)

        again = [key for key in self._words if key not in after]
        worded = [
            row.entity
            for key, row in after.items()
            if key not in before or key in self._words or named(before[key]) != named(row)
        ]
        merged = {each.id for each in worded if each.merged_into is not None}
        await index_entities(self.session, worded, fresh=not before, merged=merged)
        if again:
            from graphsearch.stores.in_postgres.read.reading import stored

            await index_documents(
                self.session, ElementKind.ENTITY, await stored(self.session, ElementKind.ENTITY, again)
            )
