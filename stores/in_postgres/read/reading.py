"""Elements behind keys in Postgres: a snapshot reads each of them once."""

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
from graphsearch.stores.in_postgres.session.statements import statement


class PostgresElements(PostgresScope):
    """Elements out of what a snapshot has read, or else of a statement."""

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """Raises `StoreError` if an element is missing that others refer to."""
        requested: Sequence[Any] = rows.texts(keys) if kind is ElementKind.MEMORY else rows.bytes_of(keys)
        async with self._reading() as session:
            known = session.once.elements(kind)
            if unread := [key for key in requested if key not in known]:
                ids = rows.storable(unread) if kind is ElementKind.MEMORY else UuidArray.of(unread)
                asked = [session.run_kept(statement("get", kind), ids=ids)]
                if kind is ElementKind.RELATION:  # their ends are asked for next: in the same round trip
                    asked.append(session.run_kept(statement("ends of relations"), ids=ids))
                for each, answer in zip((kind, ElementKind.ENTITY), await asyncio.gather(*asked), strict=False):
                    there = session.once.elements(each)
                    for row in answer.dicts:
                        key = row["id"] if each is ElementKind.MEMORY else row["id"].bytes
                        if key not in there:
                            there[key] = rows.element_of(each, row)
            found = list(map(known.get, requested))
            if any(element is None for element in found):
                raise StoreError(
                    f"{kind} rows of {session.scope} that others lead to are not there: repair what deleted them"
                )
            return found
