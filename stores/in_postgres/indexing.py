"""Documents and vectors of elements: what searches read, with the sums that BM25 needs (design 10).

A bulk write leaves texts without documents and vectors out of the HNSW index, to be read row by row; settling puts them
where they are found faster. Either way the answers are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from psycopg import sql

from graphsearch.model import ElementKind, Entity, Memory, Relation
from graphsearch.records import Vector
from graphsearch.scoring.lexical import frequencies, searchable_text
from graphsearch.stores.in_postgres.copying import Incoming
from graphsearch.stores.in_postgres.incoming import DOCUMENTS, VECTORS, Row, document_row, vector_rows
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import composable, insertion, statement

EXACT_UNTIL: Final = 2_000
"""Vectors of a kind in a scope up to which an exact scan is as fast as the HNSW index, and perfect."""
BULK: Final = 1_000
"""Elements from which on a batch is left unsettled."""

_REMOVED: Final = -1
"""The length of a document that is to go."""


async def copy_in(session: Session, table: Incoming, rows: Iterable[Row]) -> None:
    """Make a temporary table and fill it."""
    await session.connection.execute(table.ddl.encode())
    async with session.connection.cursor() as cursor, cursor.copy(table.copy.encode()) as copy:
        for chunk in table.encode(rows):
            await copy.write(chunk)


async def index_documents(
    session: Session,
    kind: ElementKind,
    elements: Collection[Entity] | Collection[Memory] | Collection[Relation],
    *,
    fresh: bool = False,
) -> None:
    """Give elements the documents that their texts make, and count them; of many, only those that had one before.

    ``fresh`` says that none had.
    """
    known: Collection[Any] = elements
    if len(elements) >= BULK:
        had = set[Any]() if fresh else await _documented(session, kind, [element.id for element in elements])
        known = [element for element in elements if element.id in had]
        if len(known) < len(elements):
            await session.run(statement("fall behind", kind), behind=True)
    await _put_documents(session, kind, [(element.id, searchable_text(element)) for element in known])


async def _documented(session: Session, kind: ElementKind, ids: list[Any]) -> set[Any]:
    return {key for (key,) in await (await session.run(statement("documented", kind), ids=ids)).fetchall()}


async def drop_documents(session: Session, kind: ElementKind, ids: Iterable[Any]) -> None:
    """Take elements' documents away, and count them out."""
    await _replace_documents(session, kind, [(key, _REMOVED, (), ()) for key in ids])


async def _put_documents(session: Session, kind: ElementKind, texts: Iterable[tuple[UUID | str, str]]) -> None:
    await _replace_documents(session, kind, [document_row(key, frequencies(text)) for key, text in texts])


async def _replace_documents(session: Session, kind: ElementKind, rows: Collection[Row]) -> None:
    if not rows:
        return
    await copy_in(session, DOCUMENTS[kind], rows)
    changed = composable("changed documents", kind)
    scope = {"org": sql.Literal(session.scope.org_id), "project": sql.Literal(session.scope.project_id)}
    await session.connection.execute(changed.format(**scope))
    changed_any, replaced_any = await session.columns(statement("what changed", kind))
    if changed_any:
        steps = ["count terms", "count documents", "upsert documents", "post documents"]
        if replaced_any:
            steps = ["drop postings", *steps, "forget terms", "drop documents"]
        for step in steps:
            await session.run(statement(step, kind))
    await session.connection.execute(f"DROP TABLE changed_{kind}, {DOCUMENTS[kind].name}".encode())


async def put_vectors(session: Session, kind: ElementKind, vectors: Mapping[Any, Vector]) -> None:
    """Keep vectors of elements that exist."""
    if not vectors:
        return
    await copy_in(session, VECTORS[kind], vector_rows(vectors))
    (there,) = await session.columns(statement("vectors there", kind))
    await session.run(insertion("upsert vectors", kind, fresh=there == 0), dimensions=session.dimensions)
    await session.run(statement("count vectors", kind), step=len(vectors) - there)


async def drop_vectors(session: Session, kind: ElementKind, ids: Collection[Any]) -> None:
    """Take vectors away."""
    deleted = await session.run(statement("delete vectors", kind), ids=list(ids))
    if deleted.rowcount:
        await session.run(statement("count vectors", kind), step=-deleted.rowcount)


async def settle(session: Session, kind: ElementKind, limit: int) -> int:
    """Put up to ``limit`` texts and as many vectors where they are found faster; how many there were.

    A scope too small for the HNSW index keeps its vectors out of it.
    """
    settled = 0
    if limit >= BULK:
        await session.connection.execute(statement("settling"))
    if session.tally(kind).behind:
        texts = await undocumented(session, kind, limit)
        await _put_documents(session, kind, texts)
        if len(texts) < limit:
            await session.run(statement("fall behind", kind), behind=False)
        settled += len(texts)
    if session.tally(kind).vectors > EXACT_UNTIL:
        settled += (await session.run(statement("settle vectors", kind), limit=limit)).rowcount
    return settled


async def undocumented(session: Session, kind: ElementKind, limit: int | None = None) -> list[tuple[Any, str]]:
    """Ids and texts of the elements that have no document yet; at most ``limit``."""
    found: list[tuple[Any, str]] = await (await session.run(statement("undocumented", kind), limit=limit)).fetchall()
    return found
