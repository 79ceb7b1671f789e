"""Bulk transfer into temporary tables, and optimistic insertion of elements as new."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from psycopg.errors import UniqueViolation

from graphsearch.model import ElementKind, Entity, Relation
from graphsearch.stores.in_postgres.session.copying import Columns, Incoming
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement

Element = TypeVar("Element")
Written = TypeVar("Written")

PART: Final = 2_500
"""Rows per copied part: the server processes one while the next is prepared."""
LOOKED_FOR: Final = 1_000
"""The sample of many elements that is looked up before all are assumed to be new."""


async def copy_in(session: Session, table: Incoming, columns: Columns) -> None:
    """Fill a temporary table with columns and nothing else."""
    await _fill(session, table, table.encode(columns))


def in_parts(elements: Sequence[Element]) -> Iterator[Sequence[Element]]:
    """`PART` elements at a time."""
    return (elements[start : start + PART] for start in range(0, len(elements), PART))


async def copy_parts(
    session: Session, table: Incoming, parts: Iterable[Columns], work: Callable[[], Awaitable[int]]
) -> int:
    """Fill a temporary table part by part, and do ``work`` on each; return the sum of its results.

    While the server works on one part, the next is prepared: ``parts`` should produce each on demand.
    """
    total = 0
    contents = (table.encode(part) for part in parts)
    content = next(contents, None)
    while content is not None:
        await _fill(session, table, content)
        working = asyncio.ensure_future(work())
        try:
            await asyncio.sleep(0)  # until the statement is sent
            content = next(contents, None)
        finally:
            total += await working
    return total


async def _fill(session: Session, table: Incoming, content: bytes) -> None:
    await empty_table(session, table)
    async with session.connection.cursor() as cursor, cursor.copy(table.copy.encode()) as copy:
        await copy.write(content)


async def empty_table(session: Session, table: Incoming) -> None:
    """Create a temporary table, or empty it if this transaction has filled it before."""
    emptying = table.clearing if table.name in session.filled else table.ddl
    await session.connection.execute(emptying.encode())
    session.filled.add(table.name)


async def as_new(
    session: Session,
    kind: ElementKind,
    elements: Sequence[Entity | Relation],
    put: Callable[[bool], Awaitable[Written]],
) -> Written:
    """Call ``put`` with whether all the elements are new, and so may be inserted directly; return its result.

    Looking up all of them first takes a third of a write into a large scope, so only a sample is looked up. If some
    exist after all, the server refuses the first of them, and ``put`` is repeated.
    """
    some = elements[:: max(1, len(elements) // LOOKED_FOR)]
    empty, none = await session.columns(statement("none existing", kind), ids=[each.id for each in some])
    if empty or not none or len(some) == len(elements):
        return await put(bool(none))
    filled = set(session.filled)
    try:
        async with session.connection.transaction():
            return await put(True)
    except UniqueViolation as error:
        if error.diag.constraint_name != f"{kind}_pkey":
            raise
        session.filled = filled
    return await put(False)
