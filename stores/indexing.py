"""Documents and vectors of elements: what searches read, with the sums that BM25 needs (design 10).

A bulk write leaves them unsettled, to be searched row by row; settling puts vectors into the HNSW index and documents
into postings. Either way the answers are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from psycopg import sql

from graphsearch.model import ElementKind, Entity, Memory, Relation
from graphsearch.records import Vector
from graphsearch.stores.copying import Incoming
from graphsearch.stores.incoming import DOCUMENTS, VECTORS, Row, document_rows, vector_rows
from graphsearch.stores.sessions import Session
from graphsearch.stores.statements import composable, statement

EXACT_UNTIL: Final = 2_000
"""Vectors of a kind in a scope up to which an exact scan is as fast as the HNSW index, and perfect."""
BULK: Final = 1_000
"""Elements from which on a batch is left unsettled."""


async def copy_in(session: Session, table: Incoming, rows: Iterable[Row]) -> None:
    """Make a temporary table and fill it."""
    await session.connection.execute(table.ddl.encode())
    async with session.connection.cursor() as cursor, cursor.copy(table.copy.encode()) as copy:
        for chunk in table.encode(rows):
            await copy.write(chunk)


async def index_documents(session: Session, kind: ElementKind, elements: Iterable[Entity | Memory | Relation]) -> None:
    """Give elements the documents that their texts make, and count them."""
    await _replace_documents(session, kind, document_rows(elements))


async def drop_documents(session: Session, kind: ElementKind, ids: Iterable[Any]) -> None:
    """Take elements' documents away, and count them out."""
    await _replace_documents(session, kind, ((key, 0, (), ()) for key in ids))


async def _replace_documents(session: Session, kind: ElementKind, rows: Iterable[Row]) -> None:
    await copy_in(session, DOCUMENTS[kind], rows)
    changed = composable("changed documents", kind)
    scope = {"org": sql.Literal(session.scope.org_id), "project": sql.Literal(session.scope.project_id)}
    await session.connection.execute(changed.format(**scope))
    changed_any, replaced_any = await session.columns(statement("what changed", kind))
    if changed_any:
        steps = ["count terms", "count documents", "upsert documents"]
        if replaced_any:
            steps += ["forget terms", "drop postings", "drop documents"]
        for step in steps:
            await session.run(statement(step, kind))
    await session.connection.execute(f"DROP TABLE changed_{kind}, {DOCUMENTS[kind].name}".encode())


async def put_vectors(session: Session, kind: ElementKind, vectors: Mapping[Any, Vector]) -> None:
    """Keep vectors of elements that exist."""
    if not vectors:
        return
    await copy_in(session, VECTORS[kind], vector_rows(vectors))
    (there,) = await session.columns(statement("vectors there", kind))
    await session.run(statement("upsert vectors", kind), dimensions=session.dimensions)
    await session.run(statement("count vectors", kind), step=len(vectors) - there)


async def drop_vectors(session: Session, kind: ElementKind, ids: Collection[Any]) -> None:
    """Take vectors away."""
    deleted = await session.run(statement("delete vectors", kind), ids=list(ids))
    if deleted.rowcount:
        await session.run(statement("count vectors", kind), step=-deleted.rowcount)


async def settle(session: Session, kind: ElementKind, limit: int) -> int:
    """Put up to ``limit`` documents and as many vectors where they are found faster; how many there were.

    A scope too small for the HNSW index keeps its vectors out of it.
    """
    (settled,) = await session.columns(statement("settle documents", kind), limit=limit)
    if session.tally(kind).vectors > EXACT_UNTIL:
        settled += (await session.run(statement("settle vectors", kind), limit=limit)).rowcount
    return int(settled)
