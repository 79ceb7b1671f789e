"""Changes to a scope in Postgres: transactions with a port, feedback, settling, and removal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Final

from graphsearch.errors import UnknownScopeError
from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres.index.vector_index import forget_vector_indexes, settle_vectors
from graphsearch.stores.in_postgres.read.rows import PostgresScope
from graphsearch.stores.in_postgres.session.watching import answered_within
from graphsearch.stores.in_postgres.write.port import PostgresPort, remove_rows

BULK: Final = 1_000
"""After writing so many elements it is looked whether tables have outgrown their statistics."""


class PostgresWriting(PostgresScope):
    """Changes in one transaction each; the writers of a scope take turns."""

    @asynccontextmanager
    async def writing(
        self, *, create: bool = False, alone: bool = True, changing: bool = False, renewing: bool = False
    ) -> AsyncIterator[PostgresPort]:
        """A transaction that changes the scope (`graphsearch.protocols.Store.writing`)."""
        if renewing:
            await self._forget_vector_indexes()
        how = {"create": create, "alone": alone, "changing": changing, "small": True}
        async with self._gateway.writing(self._scope, **how) as session:
            port = PostgresPort(session)
            with answered_within(session.connection, None) if renewing else nullcontext():  # as long as it takes
                yield port
            if port.discarded:
                await session.connection.rollback()
        if port.written >= BULK:
            await self._gateway.analyse(growth=2.0, megabytes=1)  # a check takes 7 ms and more

    async def _forget_vector_indexes(self) -> None:
        """In a transaction of its own, because readers wait for its end."""
        with suppress(UnknownScopeError):
            async with self._gateway.writing(self._scope) as session:
                await forget_vector_indexes(session)

    async def remove_scope(self) -> None:
        """Delete the scope and everything in it; do nothing if it was never written."""
        await self._forget_vector_indexes()
        with suppress(UnknownScopeError):
            async with self._gateway.writing(self._scope) as session:
                await forget_vector_indexes(session)
                await remove_rows(session)
                session.signatures.contents.clear()  # they may quote deleted elements

    async def settle(self) -> int:
        """Bring the vector indexes of the scope up to date; return the number of vectors that were entered."""
        await self._gateway.analyse(growth=1.2, megabytes=1)
        entered = 0
        for kind in ElementKind:
            async with self._gateway.writing(self._scope) as session:
                entered += await settle_vectors(session, kind)
        return entered
