"""Documents and vectors of elements: what searches read, with the sums that BM25 needs (design 10).

A bulk write leaves texts without documents and vectors out of the HNSW index, to be read row by row; settling puts them
where they are found faster. Either way the answers are the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar
from uuid import UUID

from psycopg.types.json import Jsonb

from graphsearch.model import ElementKind, Entity, Memory, Relation, Scope
from graphsearch.stores.in_postgres.copying import Columns, Incoming
from graphsearch.stores.in_postgres.incoming import (
    CHANGED,
    DOCUMENTS,
    LOOKUP,
    VECTORS,
    columns_of,
    document_row,
    lookup_row,
)
from graphsearch.stores.in_postgres.sessions import Gateway, Session
from graphsearch.stores.in_postgres.statements import insertion, statement
from graphsearch.stores.in_postgres.vectors import Matrix
from graphsearch.text.bm25 import document, searchable_text, stepped

Element = TypeVar("Element")
Document = Mapping[str, float]

EXACT_UNTIL: Final = 2_000
"""Vectors of a kind in a scope up to which an exact scan is as fast as the HNSW index, and perfect."""
BULK: Final = 1_000
"""Elements from which on a batch is left unsettled."""
PART: Final = 2_500
"""Rows that are copied at a time: the server works on some while the next are made ready."""

_REMOVED: Final = -1
"""The length of a document that is to go."""


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

    While the server works on one part, the next is made ready: ``parts`` should make each when it is asked for.
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
    await _prepare(session, table)
    async with session.connection.cursor() as cursor, cursor.copy(table.copy.encode()) as copy:
        await copy.write(content)


async def _prepare(session: Session, table: Incoming) -> None:
    """An empty temporary table."""
    emptying = table.clearing if table.name in session.filled else table.ddl
    await session.connection.execute(emptying.encode())
    session.filled.add(table.name)


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
        known = [element for element in elements if element.id in had] if had else ()
        if len(known) < len(elements):
            await session.run(statement("fall behind", kind), behind=True)
    words = await words_of(session, [element.id for element in known]) if kind is ElementKind.ENTITY else {}
    await _put_documents(
        session,
        kind,
        [(each.id, document(searchable_text(each), words.get(each.id, {}), session.analyser)) for each in known],
    )


async def put_words(session: Session, words: Mapping[UUID, Mapping[str, float]]) -> None:
    """Keep what entities are found by beside their texts; whoever writes these indexes them after that."""
    kept = {key: each for key, each in words.items() if each}
    if kept:
        encoded = [Jsonb({word: stepped(weight) for word, weight in each.items()}) for each in kept.values()]
        await session.run(statement("upsert words"), ids=list(kept), words=encoded)
    if len(kept) < len(words):
        await session.run(statement("drop words"), ids=[key for key in words if key not in kept])


async def words_of(session: Session, ids: Collection[UUID]) -> dict[UUID, Mapping[str, float]]:
    """What those of some entities are found by beside their texts that are found by anything."""
    if not ids:
        return {}
    found = await session.run_kept(statement("words of entities"), ids=list(ids))
    return dict(await found.fetchall())


async def _documented(session: Session, kind: ElementKind, ids: list[Any]) -> set[Any]:
    return {key for (key,) in await (await session.run(statement("documented", kind), ids=ids)).fetchall()}


async def drop_documents(session: Session, kind: ElementKind, ids: Iterable[Any]) -> None:
    """Take elements' documents away, and count them out."""
    gone = list(ids)
    await _replace_documents(session, kind, [(key, _REMOVED, (), ()) for key in gone])
    if kind is ElementKind.ENTITY:
        await _replace_lookups(session, [lookup_row(key, ()) for key in gone])
        await session.run(statement("drop lookups"), ids=gone)
        await session.run(statement("drop words"), ids=gone)


async def _put_documents(session: Session, kind: ElementKind, documents: Sequence[tuple[Any, Document]]) -> None:
    await _replace_documents(session, kind, [document_row(key, counts) for key, counts in documents])
    if kind is ElementKind.ENTITY:
        await index_names(session, [key for key, _ in documents])


async def index_names(session: Session, ids: Collection[Any]) -> None:
    """Make stored entities to be found by words of their names, and by names that are like theirs."""
    if ids:
        found = await (await session.run(statement("names to index"), ids=list(ids))).fetchall()
        await _replace_lookups(session, [lookup_row(key, names) for key, names in found])


async def _replace_lookups(session: Session, rows: Collection[Sequence[Any]]) -> None:
    if rows:
        await copy_in(session, LOOKUP, columns_of(LOOKUP, rows))
        ids = [key for key, *_ in rows]
        for step in ("same lookups", "drop name postings", "upsert lookups", "post names"):
            await session.run(statement(step), ids=ids)


async def _replace_documents(session: Session, kind: ElementKind, rows: Collection[Sequence[Any]]) -> None:
    if not rows:
        return
    await copy_in(session, DOCUMENTS[kind], columns_of(DOCUMENTS[kind], rows))
    await _prepare(session, CHANGED[kind])
    await session.run(statement("changed documents", kind), ids=[key for key, *_ in rows])
    changed_any, replaced_any = await session.columns(statement("what changed", kind))
    if changed_any:
        steps = ["count terms", "count documents", "upsert documents", "post documents"]
        if replaced_any:
            steps = ["drop postings", *steps, "forget terms", "drop documents"]
        for step in steps:
            await session.run(statement(step, kind))


async def put_vectors(session: Session, kind: ElementKind, vectors: Matrix, *, fresh: bool = False) -> None:
    """Keep vectors of elements that exist. ``fresh`` says that none of them has one yet."""

    async def upsert() -> int:
        there = 0 if fresh else (await session.columns(statement("vectors there", kind)))[0]
        await session.run(insertion("upsert vectors", kind, fresh=there == 0), dimensions=session.dimensions)
        return int(there)

    if len(vectors):
        if kind is ElementKind.ENTITY and not fresh:
            await _move_vectors(session, ids=list(vectors.keys))
        there = await copy_parts(session, VECTORS[kind], vectors.parts(PART), upsert)
        await count_vectors(session, kind, len(vectors) - there)


async def drop_vectors(session: Session, kind: ElementKind, ids: Collection[Any]) -> None:
    """Take vectors away."""
    if kind is ElementKind.ENTITY:
        await _move_vectors(session, ids=list(ids))
    deleted = await session.run(statement("delete vectors", kind), ids=list(ids))
    await count_vectors(session, kind, -deleted.rowcount)


async def count_vectors(session: Session, kind: ElementKind, step: int) -> None:
    """Keep count of vectors."""
    if step:
        await session.run(statement("count vectors", kind), step=step)


async def _move_vectors(session: Session, *, ids: list[UUID] | None = None, limit: int | None = None) -> int:
    """Move vectors of entities that lie in the entities' rows to where vectors are; how many there were."""
    found = await (await session.run(statement("unmoved vectors"), ids=ids, limit=limit)).fetchall()
    if found:
        moving = [key for (key,) in found]
        await session.run(statement("move vectors"), ids=moving, dimensions=session.dimensions)
        await session.run(statement("moved vectors"), ids=moving)
    return len(found)


async def settle(session: Session, kind: ElementKind, limit: int) -> int:
    """Put up to ``limit`` elements and as many vectors where they are found faster; how many there were.

    A scope too small for the HNSW index keeps its vectors out of it.
    """
    settled = 0
    if limit >= BULK:
        await session.connection.execute(statement("settling"))
    if session.tally(kind).behind:
        missing = await undocumented(session, kind, limit)
        await _put_documents(session, kind, missing)
        settled = max(len(missing), await _settle_rows(session, kind, limit))
        if settled < limit:
            await session.run(statement("fall behind", kind), behind=False)
    if session.tally(kind).vectors > EXACT_UNTIL:
        settled += (await session.run(statement("settle vectors", kind), limit=limit)).rowcount
    return settled


async def settle_scope(gateway: Gateway, scope: Scope, step: int) -> int:
    """`settle` everything, ``step`` elements a transaction; how many there were."""
    total = 0
    await gateway.analyse(growth=1.2, megabytes=1)
    for kind in ElementKind:
        settled = step
        while settled:
            async with gateway.writing(scope) as session:
                settled = await settle(session, kind, step)
            total += settled
    await gateway.analyse(growth=1.2, megabytes=1)
    return total


async def _settle_rows(session: Session, kind: ElementKind, limit: int) -> int:
    """Enter the rows of up to ``limit`` elements into the indexes that a bulk write keeps them out of; how many."""
    if kind is ElementKind.ENTITY:
        return await _move_vectors(session, limit=limit)
    if kind is ElementKind.RELATION:
        return (await session.run(statement("settle relations"), limit=limit)).rowcount
    return 0


async def undocumented(session: Session, kind: ElementKind, limit: int | None = None) -> list[tuple[Any, Document]]:
    """The elements that have no document yet, by id with the one that they should have; at most ``limit``."""
    found = await (await session.run(statement("undocumented", kind), limit=limit)).fetchall()
    return [(key, document(text, words, session.analyser)) for key, text, words in found]
