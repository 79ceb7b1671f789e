"""The documents, name postings and vectors that searches read: written, deferred by bulk writes, and settled.

Entering thousands of new elements into every index costs more than writing their rows. A write of `BULK` elements or
more therefore defers these entries, and every read finds what is deferred row by row, with the same results:

* Documents and name postings. `index_documents` sets `Tally.behind` for the kind; an element without a document is
  unsettled.
* Relations in the indexes of walks, and the copied columns of their ends. They are written with ``settled = false``.
* Vectors of entities, and their names in the index of names. The vector is written in the entity's own row.
* Vectors in the index of a large scope; see `index.vector_index`.

`settle_scope` enters all of it, in steps. A small write settles twice as many elements as it writes, so that the
deferred entries shrink even if it is never called; vectors are indexed by `settle_scope` alone. The statements are in
``unsettled.sql``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from graphsearch.model import ElementKind, Entity, Memory, Relation, Scope
from graphsearch.stores.in_postgres.index.bulk import copy_in
from graphsearch.stores.in_postgres.index.incoming import (
    CHANGED,
    DOCUMENTS,
    LOOKUP,
    VECTORS,
    columns_of,
    document_row,
    lookup_row,
)
from graphsearch.stores.in_postgres.index.vector_index import settle_vectors
from graphsearch.stores.in_postgres.session.gateway import Gateway
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.session.watching import unbroken
from graphsearch.stores.shared.vectors import Matrix
from graphsearch.text.bm25 import document, searchable_text, stepped

Document = Mapping[str, float]

_REMOVED: Final = -1
"""The length of a document to drop."""


async def put_texts(session: Session, kind: ElementKind, elements: Collection[Any]) -> None:
    """Write the documents of the texts of elements."""
    words = await words_of(session, [element.id for element in elements]) if kind is ElementKind.ENTITY else {}
    await put_documents(
        session,
        kind,
        [(each.id, document(searchable_text(each), words.get(each.id, {}), session.analyser)) for each in elements],
    )


async def put_words(session: Session, words: Mapping[UUID, Mapping[str, float]]) -> None:
    """Store words of entities in addition to their texts; their documents must be indexed afterwards."""
    kept = {key: each for key, each in words.items() if each}
    if kept:
        encoded = [Jsonb({word: stepped(weight) for word, weight in each.items()}) for each in kept.values()]
        await session.run(statement("upsert words"), ids=list(kept), words=encoded)
    if len(kept) < len(words):
        await delete_rows(session, ElementKind.ENTITY, "entity_words", [key for key in words if key not in kept])


async def words_of(session: Session, ids: Collection[UUID]) -> dict[UUID, Mapping[str, float]]:
    """The words of entities in addition to their texts; entities without any are left out."""
    if not ids:
        return {}
    found = await session.rows_kept(statement("words of entities"), ids=list(ids))
    return dict(found)


async def drop_documents(session: Session, kind: ElementKind, ids: Iterable[Any]) -> None:
    """Drop the documents of elements, and subtract them from the sums."""
    gone = list(ids)
    await _replace_documents(session, kind, [(key, _REMOVED, (), ()) for key in gone])
    if kind is ElementKind.ENTITY:
        await _replace_lookups(session, [lookup_row(key, ()) for key in gone])
        await delete_rows(session, kind, "entity_lookup", gone)
        await delete_rows(session, kind, "entity_words", gone)


async def delete_rows(session: Session, kind: ElementKind, table: str, ids: Collection[Any], *, key: str = "id") -> int:
    """Delete what a table keeps for each of some elements; return the number of its rows."""
    return (await session.run(statement("delete rows", kind, table=table, key=key), ids=list(ids))).count


async def put_documents(session: Session, kind: ElementKind, documents: Sequence[tuple[Any, Document]]) -> None:
    """Write documents by the id of their element, and the name postings of entities."""
    await _replace_documents(session, kind, [document_row(key, counts) for key, counts in documents])
    if kind is ElementKind.ENTITY:
        await index_names(session, [key for key, _ in documents])


async def index_names(session: Session, ids: Collection[Any]) -> None:
    """Write the postings that find stored entities by words of their names and by similar names."""
    if ids:
        found = await session.rows(statement("names to index"), ids=list(ids))
        await _replace_lookups(session, [lookup_row(key, names) for key, names in found])


async def _replace_lookups(session: Session, rows: Collection[Sequence[Any]]) -> None:
    if rows:
        await copy_in(session, LOOKUP, columns_of(LOOKUP, rows))
        ids = [key for key, *_ in rows]
        same = set(await session.column(statement("same lookups"), ids=ids))
        if same:
            await session.run(statement("leave lookups out"), ids=list(same))
        changed = [key for key in ids if key not in same]
        for step in ("drop name postings", "upsert lookups", "post names") if changed else ():
            await session.run(statement(step), ids=changed)


async def _replace_documents(session: Session, kind: ElementKind, rows: Collection[Sequence[Any]]) -> None:
    if not rows:
        return
    await copy_in(session, DOCUMENTS[kind], columns_of(DOCUMENTS[kind], rows))
    await session.fill(CHANGED[kind].name, CHANGED[kind].columns)
    await session.run(statement("changed documents", kind), ids=[key for key, *_ in rows])
    changed_any, replaced = await session.row(statement("what changed", kind))
    if changed_any:
        steps = ["count terms", "count documents", "upsert documents", "post documents"]
        if replaced:
            steps = ["drop postings", *steps, "forget terms", "drop documents"]
        for step in steps:
            await session.run(statement(step, kind), ids=replaced)


async def put_vectors(session: Session, kind: ElementKind, vectors: Matrix, *, fresh: bool = False) -> None:
    """Store vectors of elements that exist. ``fresh`` states that none of them has one yet."""
    index = session.vector_index(kind)
    if not len(vectors):
        return
    if kind is ElementKind.ENTITY and not fresh:
        await move_vectors(session, ids=list(vectors.keys))
    await copy_in(session, VECTORS[kind], {"id": vectors.keys, "embedding": vectors.rows})
    there = 0 if fresh else (await session.row(statement("vectors there", kind)))[0]
    if there and index.part is not None:
        await session.run(statement("delete copies of changed vectors", kind), part=index.part)
    if there and session.next_embedder is not None:
        await session.run(statement("delete shadows of changed vectors", kind))
    name = "upsert vectors" if there else "insert vectors"
    await session.run(statement(name, kind), dimensions=session.dimensions, generation=index.generation)
    await count_vectors(session, kind, len(vectors) - there)


async def drop_vectors(session: Session, kind: ElementKind, ids: Collection[Any]) -> None:
    """Drop vectors."""
    if kind is ElementKind.ENTITY:
        await move_vectors(session, ids=list(ids))
    deleted = await delete_rows(session, kind, f"{kind}_embedding", ids)
    await drop_copies(session, kind, ids)
    await count_vectors(session, kind, -deleted)


async def drop_copies(session: Session, kind: ElementKind, ids: Collection[Any]) -> None:
    """Drop the copies of vectors in the vector index of a large scope, and their shadows by the next model."""
    if session.next_embedder is not None and ids:
        await delete_rows(session, kind, f"{kind}_shadow", ids)
    part = session.vector_index(kind).part
    if part is not None and ids:
        await session.run(statement("delete copies", kind), ids=list(ids), part=part)


async def count_vectors(session: Session, kind: ElementKind, step: int) -> None:
    """Add to the count of vectors."""
    if step:
        await session.run(statement("count vectors", kind), step=step)


async def move_vectors(session: Session, *, ids: list[UUID] | None = None, limit: int | None = None) -> int:
    """Move vectors from the rows of entities to the vector table; return their number."""
    moving = await session.column(statement("unmoved vectors"), ids=ids, limit=limit)
    if moving:
        generation = session.vector_index(ElementKind.ENTITY).generation
        await session.run(statement("move vectors"), ids=moving, dimensions=session.dimensions, generation=generation)
        await session.run(statement("moved vectors"), ids=moving)
    return len(moving)


# -- facts without vectors -----------------------------------------------------------------------------------------


def lists_facts(session: Session) -> bool:
    """Whether facts without vectors are listed: any fact had a vector when the transaction began.

    A scope in which no fact has a vector keeps no list, so that it costs nothing unless facts are embedded.
    """
    return session.tally(ElementKind.RELATION).vectors > 0


async def drop_changed_facts(session: Session) -> None:
    """Drop the vectors of facts that are about to be replaced."""
    dropped = [key for (key,) in await session.rows(statement("drop vectors of changed facts"))]
    await drop_copies(session, ElementKind.RELATION, dropped)
    await count_vectors(session, ElementKind.RELATION, -len(dropped))


async def strike_embedded(session: Session, ids: Collection[UUID]) -> None:
    """Remove facts that got vectors from the list, which begins with the first vectors of a scope."""
    if ids and not lists_facts(session):
        await session.run(statement("list all facts"))
    await strike_facts(session, ids)


async def strike_facts(session: Session, ids: Collection[UUID]) -> None:
    """Remove relations from the list."""
    if ids:
        await delete_rows(session, ElementKind.RELATION, "unembedded_fact", ids)


BULK: Final = 1_000
"""The minimum number of elements of a bulk write."""


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
        query = statement("existing", kind, table=f"{kind}_document")
        had = () if fresh else set(await session.column(query, ids=[element.id for element in elements]))
        known = [element for element in elements if element.id in had] if had else ()
        if len(known) < len(elements):
            await session.run(statement("fall behind", kind), behind=True)
    await put_texts(session, kind, known)


async def undocumented(session: Session, kind: ElementKind, limit: int | None = None) -> list[tuple[Any, Document]]:
    """At most ``limit`` elements without a document, by id, with the document to write."""
    found = await session.rows(statement("undocumented", kind), limit=limit)
    words = await words_of(session, [key for key, _ in found]) if kind is ElementKind.ENTITY else {}
    return [(key, document(text, words.get(key, {}), session.analyser)) for key, text in found]


async def settle(session: Session, kind: ElementKind, limit: int) -> int:
    """Settle up to ``limit`` elements of a kind; return their number."""
    settled = 0
    if limit >= BULK:
        await unbroken(session.connection, session.connection.execute(statement("settling")))
    if session.tally(kind).behind:
        missing = await undocumented(session, kind, limit)
        await put_documents(session, kind, missing)
        settled = max(len(missing), await _settle_rows(session, kind, limit))
        if settled < limit:
            await session.run(statement("fall behind", kind), behind=False)
    return settled


async def _settle_rows(session: Session, kind: ElementKind, limit: int) -> int:
    """Enter up to ``limit`` rows into the indexes that leave out unsettled rows; return their number."""
    if kind is ElementKind.ENTITY:
        return await move_vectors(session, limit=limit)
    if kind is ElementKind.RELATION:
        return (await session.run(statement("settle relations"), limit=limit)).count
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
        async with gateway.writing(scope) as session:
            total += await settle_vectors(session, kind)
    await gateway.analyse(growth=1.2, megabytes=1)
    return total
