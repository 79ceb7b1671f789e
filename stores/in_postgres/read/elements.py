"""Whole elements from Postgres: a snapshot reads each of them once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from graphsearch.columns import Keys
from graphsearch.errors import StoreError
from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres import rows
from graphsearch.stores.in_postgres.base import PostgresScope
from graphsearch.stores.in_postgres.session.copying import UuidArray
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement


class PostgresElements(PostgresScope):
    """Elements by the keys of searches and walks."""

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """Raises `StoreError` if an element is missing that others refer to."""
        requested: Sequence[Any] = rows.texts(keys) if kind is ElementKind.MEMORY else rows.bytes_of(keys)
        async with self._reading() as session:
            known = session.once.elements(kind)
            if unread := [key for key in requested if key not in known]:
                await _read(session, kind, unread)
            if any(key not in known for key in requested):
                raise StoreError(
                    f"{kind} rows of {session.scope} that others lead to are not there: repair what deleted them"
                )
            return [known[key] for key in requested]


async def _read(session: Session, kind: ElementKind, unread: Sequence[Any]) -> None:
    """Read elements, and with relations the entities at their ends in the same round trip: they are asked for next."""
    ids = rows.storable(unread) if kind is ElementKind.MEMORY else UuidArray.of(unread)
    asked = [session.run_kept(statement("get", kind), ids=ids)]
    if kind is ElementKind.RELATION:
        asked.append(session.run_kept(statement("ends of relations"), ids=ids))
    for each, answer in zip((kind, ElementKind.ENTITY), await asyncio.gather(*asked), strict=False):
        there = session.once.elements(each)
        for row in answer.dicts:
            key = row["id"] if each is ElementKind.MEMORY else row["id"].bytes
            if key not in there:
                there[key] = rows.element_of(each, row)
