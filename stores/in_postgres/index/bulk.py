"""Bulk transfer into temporary tables, and writing elements as if all of them were new."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from psycopg.errors import UniqueViolation

from graphsearch.model import ElementKind, Entity, Relation
from graphsearch.stores.in_postgres.copying import Columns, Incoming
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement

Element = TypeVar("Element")
Written = TypeVar("Written")

PART: Final = 2_500
"""Rows that are copied at a time: the server works on some while the next are made ready."""
LOOKED_FOR: Final = 1_000
"""Of many elements, how many are looked for before all are taken for new."""


async def copy_in(session: Session, table: Incoming, columns: Columns) -> None:
    """Fill a temporary table with columns and nothing else."""
    await _fill(session, table, table.encode(columns))


def in_parts(elements: Sequence[Element]) -> Iterator[Sequence[Element]]:
    """`PART` elements at a time."""
    return (elements[start : start + PART] for start in range(0, len(elements), PART))


async def copy_parts(
    session: Session, table: Incoming, parts: Iterable[Columns], work: Callable[[], Awaitable[int]]
) -> int:
    """Fill a temporary table with part after part, and do ``work`` on each; the sum of what it gives.

    While the server works on one part, the next is made ready: ``parts`` should make each on demand.
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
    """Make a temporary table, or empty it where this transaction has filled it before."""
    emptying = table.clearing if table.name in session.filled else table.ddl
    await session.connection.execute(emptying.encode())
    session.filled.add(table.name)


async def as_new(
    session: Session,
    kind: ElementKind,
    elements: Sequence[Entity | Relation],
    put: Callable[[bool], Awaitable[Written]],
) -> Written:
    """Call ``put`` with whether all the elements are new, and so may be inserted as they are; return what it returns.

    To look for each first takes a third of a write into a large scope, so only some are looked for. Where not all are
    new after all, the server refuses the first that is not, and all is put again.
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
