"""A graph store in Postgres with pgvector, behind row-level security."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any, Final

from psycopg_pool import AsyncConnectionPool

from graphsearch._support.timing import SystemClock
from graphsearch.errors import UnknownScopeError
from graphsearch.model import ElementKind, Scope, validation
from graphsearch.protocols import Clock
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_postgres.index.vector_index import forget_vector_indexes, settle_vectors
from graphsearch.stores.in_postgres.read.searching import PostgresSearching
from graphsearch.stores.in_postgres.read.walking import PostgresWalking
from graphsearch.stores.in_postgres.session.faults import describe, translated
from graphsearch.stores.in_postgres.session.gateway import Gateway, Pool, settle
from graphsearch.stores.in_postgres.session.migrating import Database
from graphsearch.stores.in_postgres.session.watching import (
    ANSWER_TIMEOUT,
    ANSWER_TIMEOUT_ON_CLUSTER,
    WatchedConnection,
    answered_within,
    keepalive,
)
from graphsearch.stores.in_postgres.write.port import PostgresPort, remove_rows
from graphsearch.text.analyser import ENGLISH, Analyser

BULK: Final = 1_000
"""After writing so many elements it is looked whether tables have outgrown their statistics."""


class PostgresGraphStore:
    """A source of scopes in Postgres.

    ``pool``, of the app role and in UTF-8, is opened and closed by the caller; its connections are put into autocommit,
    and psycopg prepares no statements of its own on them.
    ``exact`` searches vectors without the HNSW index, ``timeout`` is the number of seconds to wait for a connection.
    ``analyser`` produces the terms of texts and questions; a scope first written with another raises `AnalyserError`.
    """

    def __init__(
        self,
        pool: AsyncConnectionPool[Any],
        *,
        clock: Clock | None = None,
        exact: bool = False,
        timeout: float = 10.0,
        analyser: Analyser = ENGLISH,
    ) -> None:
        server = describe(pool.conninfo) if isinstance(pool.conninfo, str) else "Postgres"
        self._gateway = Gateway(pool=pool, server=server, timeout=timeout, analyser=analyser)
        self._clock = clock or SystemClock()
        self._exact = exact

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        dsn: str,
        *,
        clock: Clock | None = None,
        exact: bool = False,
        max_connections: int = 8,
        timeout: float = 10.0,  # noqa: ASYNC109 - of each wait for a connection, not of the whole
        answer_timeout: float | None = ANSWER_TIMEOUT,
        analyser: Analyser = ENGLISH,
    ) -> AsyncIterator[PostgresGraphStore]:
        """A store with a pool of its own, closed at the end of the ``async with``.

        A statement that is not answered within ``answer_timeout`` seconds, and a read that is not begun within
        ``timeout``, raise `StoreUnavailableError` and close their connection; building a vector index may take longer.
        On a cluster ``answer_timeout`` is 30 unless another is given, and an organisation gets half of the connections
        at most, so that a node that does not answer stops its own organisations alone.

        Raises `StoreUnavailableError` when the server cannot be reached, `UnsafeRoleError` for a role that row-level
        security does not bind, and `MigrationError` for a database that `graphsearch init` did not prepare.
        """
        if answer_timeout is not None:
            validation.refuse("store", validation.number("answer_timeout", answer_timeout, 0.001))
        server, limit = describe(dsn), max(1, round(timeout))
        with translated(server):
            # First without the pool, which would retry again and again, and hide the reason of a failure.
            how: dict[str, Any] = {"autocommit": True, "connect_timeout": limit, "client_encoding": "utf8"}
            how |= keepalive(dsn)
            async with await WatchedConnection.connect(dsn, **how) as connection:
                connection.patience = timeout
                database = await Database.behind(connection)
            settled = not (database.pooled or database.distributed)
            hurried = database.distributed and answer_timeout == ANSWER_TIMEOUT
            patience = ANSWER_TIMEOUT_ON_CLUSTER if hurried else answer_timeout

            async def prepare(connection: WatchedConnection) -> None:
                connection.patience = patience
                if settled:
                    await settle(connection)

            pool: Pool = AsyncConnectionPool(
                dsn,
                connection_class=WatchedConnection,
                configure=prepare,
                min_size=1,
                max_size=max_connections,
                reconnect_timeout=timeout,  # or its waits grow to minutes, even after the server is back
                open=False,
                kwargs={**how, "application_name": "graphsearch"},
            )
            await pool.open(wait=True, timeout=timeout)
        try:
            store = cls(pool, clock=clock, exact=exact, timeout=timeout, analyser=analyser)
            store._gateway.database, store._gateway.settled = database, settled
            yield store
        finally:
            await pool.close()

    def with_scope(self, *, org_id: str, project_id: str) -> ScopedPostgresStore:
        """The graph of one scope. Raises `InvalidInputError` if either part is empty."""
        return ScopedPostgresStore(Scope(org_id, project_id), self._gateway, self._clock, exact=self._exact)


class ScopedPostgresStore(PostgresSearching, PostgresWalking, GraphStore):
    """One scope of a `PostgresGraphStore`. Changes are in one transaction each; the writers of a scope take turns."""

    @asynccontextmanager
    async def writing(
        self, *, create: bool = False, alone: bool = True, changing: bool = False, renewing: bool = False
    ) -> AsyncIterator[PostgresPort]:
        """A transaction that changes the scope (`graphsearch.protocols.Store.writing`)."""
        if renewing:
            await self._forget_vector_indexes()
        how = {"create": create, "alone": alone, "changing": changing, "small": True}
        async with self._gateway.writing(self.scope, **how) as session:
            port = PostgresPort(session)
            with answered_within(session.connection, None) if renewing else nullcontext():  # as long as it takes
                yield port
            if port.discarded:
                await session.connection.rollback()
        if port.written >= BULK:
            await self._gateway.analyse(growth=2.0)  # a check takes 7 ms and more

    async def _forget_vector_indexes(self) -> None:
        """In a transaction of its own, because readers wait for its end."""
        with suppress(UnknownScopeError):
            async with self._gateway.writing(self.scope) as session:
                await forget_vector_indexes(session)

    async def remove_scope(self) -> None:
        """Delete the scope and everything in it; do nothing if it was never written."""
        await self._forget_vector_indexes()
        with suppress(UnknownScopeError):
            async with self._gateway.writing(self.scope) as session:
                await forget_vector_indexes(session)
                await remove_rows(session)
                session.signatures.contents.clear()  # they may quote deleted elements

    async def settle(self) -> int:
        """Bring the vector indexes of the scope up to date; return the number of vectors that were entered."""
        await self._gateway.analyse(growth=1.2)
        entered = 0
        for kind in ElementKind:
            async with self._gateway.writing(self.scope) as session:
                entered += await settle_vectors(session, kind)
        return entered
