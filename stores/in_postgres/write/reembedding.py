"""Changing the embedding model of a scope in Postgres: new vectors as shadows of the old ones, and one switch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from graphsearch.model import ElementKind, validation
from graphsearch.model.reembedding import OutdatedVector, Reembedding
from graphsearch.protocols import Reembeddable
from graphsearch.protocols.graph_store import NewVector, Remake
from graphsearch.stores.in_postgres.base import PostgresScope
from graphsearch.stores.in_postgres.index.bulk import copy_in
from graphsearch.stores.in_postgres.index.incoming import SHADOWS
from graphsearch.stores.in_postgres.index.indexing import count_vectors, move_vectors
from graphsearch.stores.in_postgres.index.vector_index import forget_vector_indexes
from graphsearch.stores.in_postgres.read.moving import rows_of
from graphsearch.stores.in_postgres.rows import element_of
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.session.watching import answered_within
from graphsearch.stores.shared.reembedding import checked_vectors, is_begun, refuse_model, refuse_other_change

_SCANNED: Final = 2_000
"""Most vectors that are looked at in one statement, for those that are outdated: at first all may be, later few are."""


class PostgresReembedding(PostgresScope, Reembeddable):
    """New vectors in tables of their own, beside the old ones."""

    async def reembedding(self) -> Reembedding | None:
        async with self._reading() as session:
            if session.next_embedder is None or session.next_dimensions is None:
                return None
            done = {kind: await rows_of(session, f"{kind}_shadow") for kind in ElementKind}
            total = {kind: session.tally(kind).vectors for kind in ElementKind}
            return Reembedding(
                embedder=session.next_embedder, dimensions=session.next_dimensions, done=done, total=total
            )

    async def begin_reembedding(self, name: str, dimensions: int, *, restart: bool = False) -> bool:
        refuse_model(name, dimensions)
        async with self._writing() as session:
            unfinished = (session.next_embedder, session.next_dimensions)
            present = (session.embedder, session.dimensions)
            begun = is_begun(session.scope, present, unfinished, (name, dimensions), restart=restart)
            if unfinished[0] is not None and restart:
                await _discard(session)
            if begun:
                await session.run(statement("begin reembedding"), name=name, length=dimensions)
                await move_vectors(session)
            return begun

    async def outdated_vectors(
        self, kind: ElementKind, name: str, *, after: UUID | str | None = None, limit: int = 256
    ) -> Sequence[OutdatedVector]:
        async with self._reading() as session:
            validation.refuse("page", validation.number("limit", limit, 0))
            every, found, last = session.next_embedder != name, list[OutdatedVector](), after
            size = min(limit, _SCANNED)
            while len(found) < limit:
                page = statement("page of ids", kind, table=f"{kind}_embedding", key="id")
                ids = [key for (key,) in await session.rows(page, after=last, limit=size)]
                found += await _outdated(session, kind, limit - len(found), ids=ids, every=every) if ids else ()
                if len(ids) < size:
                    break
                last, size = ids[-1], min(2 * size, _SCANNED)
            return found

    async def put_new_vectors(self, kind: ElementKind, name: str, vectors: Sequence[NewVector]) -> int:
        async with self._writing() as session:
            refuse_other_change(session.scope, session.next_embedder, name)
            return await _put(session, kind, vectors)

    async def switch_embedder(self, name: str, remake: Remake, *, most: int) -> int:
        """A vector index is dropped before, if nothing is left to do: readers wait until its transaction ends."""
        left = 0
        for kind in ElementKind:
            left += len(await self.outdated_vectors(kind, name, limit=most + 1 - left))
        if left > most:
            return left
        async with self._writing() as session:
            refuse_other_change(session.scope, session.next_embedder, name)
            await forget_vector_indexes(session)
        async with self._writing(changing=True) as session:
            refuse_other_change(session.scope, session.next_embedder, name)
            with answered_within(session.connection, None):  # as long as it takes
                return await _switch(session, remake, most)

    async def cancel_reembedding(self) -> bool:
        async with self._writing() as session:
            await _discard(session)
            return session.next_embedder is not None


async def _outdated(
    session: Session, kind: ElementKind, limit: int, *, ids: Sequence[Any] | None = None, every: bool = False
) -> list[OutdatedVector]:
    """Up to ``limit`` outdated vectors of a kind, of these elements or of the whole scope."""
    query = statement("outdated", kind)
    rows = await session.dicts(query, ids=None if ids is None else list(ids), every=every, limit=limit)
    digests = [row.pop("digest") for row in rows]
    return [OutdatedVector(element_of(kind, row), digest) for row, digest in zip(rows, digests, strict=True)]


async def _put(session: Session, kind: ElementKind, vectors: Sequence[NewVector]) -> int:
    """Enter shadows of elements that have a vector; return their number."""
    digests = {outdated.element.id: outdated.digest for outdated, _ in vectors}
    given = checked_vectors(vectors, session.next_embedder, session.next_dimensions)
    blank = [outdated.element.id for outdated, vector in vectors if vector is None]
    there = 0
    for keys, rows in (*((matrix.keys, matrix.rows) for matrix in given.matrices), (blank, None)):
        if keys:
            columns = {"id": keys, "digest": [digests[key] for key in keys]}
            embedding = [None] * len(keys) if rows is None else rows
            await copy_in(session, SHADOWS[kind], {**columns, "embedding": embedding})
            there += (await session.run(statement("put shadows", kind))).count
    return there


async def _switch(session: Session, remake: Remake, most: int) -> int:
    """Replace the vectors and the model of a scope, unless more than ``most`` are outdated; return their number then.

    Vectors that a bulk write left in rows of entities become old vectors like the others first.
    """
    await move_vectors(session)
    left: dict[ElementKind, list[OutdatedVector]] = {}
    for kind in ElementKind:
        left[kind] = await _outdated(session, kind, most + 1 - sum(map(len, left.values())))
    if (number := sum(map(len, left.values()))) > most:
        return number
    for kind, outdated in left.items():
        if outdated:
            await _put(session, kind, await remake(outdated))
    await forget_vector_indexes(session)
    for kind in ElementKind:
        await session.run(statement("remove scope", table=f"{kind}_embedding"))
        generation = session.vector_index(kind).generation
        query = statement("shadows to vectors", kind)
        taken = await session.run(query, length=session.next_dimensions, generation=generation)
        await count_vectors(session, kind, taken.count - session.tally(kind).vectors)
        if kind is ElementKind.RELATION and taken.count < session.tally(kind).vectors:
            await session.run(statement("list all facts"))
    await session.run(statement("switch embedder"))
    await _discard_shadows(session)
    return 0


async def _discard(session: Session) -> None:
    """End an unfinished change, with all that it has made."""
    await session.run(statement("begin reembedding"), name=None, length=None)
    await _discard_shadows(session)


async def _discard_shadows(session: Session) -> None:
    for kind in ElementKind:
        await session.run(statement("remove scope", table=f"{kind}_shadow"))
