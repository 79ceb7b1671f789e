"""Deferred index entries of bulk writes, and how they are settled.

Entering thousands of new elements into every index costs more than writing their rows. A write of `BULK` elements or
more therefore defers these entries, and every read finds what is deferred row by row, with the same results:

* Documents and name postings. `index_documents` sets `Tally.behind` for the kind; an element without a document is
  unsettled.
* Relations in the indexes of walks, and the copied columns of their ends. They are written with ``settled = false``.
* Vectors of entities, and their names in the index of names. The vector is written in the entity's own row.
* Vectors in the HNSW index. They are written with ``settled = false``, and stay so in a scope of up to `EXACT_UNTIL`.

`settle` enters all of it, in steps. A small write settles twice as many elements as it writes, so that the deferred
entries shrink even if `settle_scope` is never called. The statements are in ``unsettled.sql``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sized
from typing import Any, Final

from graphsearch.model import ElementKind, Entity, Memory, Relation, Scope
from graphsearch.stores.in_postgres.index.indexing import Document, move_vectors, put_documents, put_texts
from graphsearch.stores.in_postgres.session.gateway import Gateway
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.text.bm25 import document

BULK: Final = 1_000
"""The minimum number of elements of a bulk write."""
EXACT_UNTIL: Final = 2_000
"""The number of vectors of a kind up to which an exact scan is as fast as the HNSW index, with perfect recall."""


def is_bulk(elements: Sized) -> bool:
    """Whether a write of these elements defers index entries."""
    return len(elements) >= BULK


async def index_documents(
    session: Session,
    kind: ElementKind,
    elements: Collection[Entity] | Collection[Memory] | Collection[Relation],
    *,
    fresh: bool = False,
) -> None:
    """Write the documents of elements, or in a bulk write only of those that had one before.

    ``fresh`` states that none had.
    """
    known: Collection[Any] = elements
    if is_bulk(elements):
        had = set[Any]() if fresh else await _documented(session, kind, [element.id for element in elements])
        known = [element for element in elements if element.id in had] if had else ()
        if len(known) < len(elements):
            await session.run(statement("fall behind", kind), behind=True)
    await put_texts(session, kind, known)


async def _documented(session: Session, kind: ElementKind, ids: list[Any]) -> set[Any]:
    return {key for (key,) in await (await session.run(statement("documented", kind), ids=ids)).fetchall()}


async def undocumented(session: Session, kind: ElementKind, limit: int | None = None) -> list[tuple[Any, Document]]:
    """At most ``limit`` elements without a document, by id, with the document to write."""
    found = await (await session.run(statement(f"undocumented {kind}"), limit=limit)).fetchall()
    return [(key, document(text, words, session.analyser)) for key, text, words in found]


async def settle_owed(session: Session, sizes: Mapping[ElementKind, int]) -> None:
    """After a small write, settle twice as many elements of each kind as it wrote."""
    for kind, size in sizes.items():
        if 0 < size < BULK:
            await settle(session, kind, limit=2 * size)


async def settle(session: Session, kind: ElementKind, limit: int) -> int:
    """Settle up to ``limit`` elements of a kind and as many vectors; return their number."""
    settled = 0
    if limit >= BULK:
        await session.connection.execute(statement("settling"))
    if session.tally(kind).behind:
        missing = await undocumented(session, kind, limit)
        await put_documents(session, kind, missing)
        settled = max(len(missing), await _settle_rows(session, kind, limit))
        if settled < limit:
            await session.run(statement("fall behind", kind), behind=False)
    if session.tally(kind).vectors > EXACT_UNTIL:
        settled += (await session.run(statement("settle vectors", kind), limit=limit)).rowcount
    return settled


async def _settle_rows(session: Session, kind: ElementKind, limit: int) -> int:
    """Enter up to ``limit`` rows into the indexes that leave out unsettled rows; return their number."""
    if kind is ElementKind.ENTITY:
        return await move_vectors(session, limit=limit)
    if kind is ElementKind.RELATION:
        return (await session.run(statement("settle relations"), limit=limit)).rowcount
    return 0


async def settle_scope(gateway: Gateway, scope: Scope, step: int) -> int:
    """Settle everything, ``step`` elements per transaction; return their number."""
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
