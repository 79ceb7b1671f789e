"""The connection pool of the Postgres store, and the opening of its transactions."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeAlias, cast
from uuid import uuid5
from weakref import WeakValueDictionary

import attrs
import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool

from graphsearch._support.concurrency import finished
from graphsearch._support.observing import stage
from graphsearch.errors import AnalyserError, StoreConfigurationError, StoreUnavailableError, UnknownScopeError
from graphsearch.model import Scope
from graphsearch.stores.in_postgres.session.faults import is_connection_fault, translated
from graphsearch.stores.in_postgres.session.migrating import MAINTAIN_SINCE, Database
from graphsearch.stores.in_postgres.session.rows import register_sent
from graphsearch.stores.in_postgres.session.sending import (
    Answer,
    Connection,
    Statement,
    literal_statements,
    send_together,
)
from graphsearch.stores.in_postgres.session.sessions import Session, SignatureCaches, Tally, VectorIndex
from graphsearch.stores.in_postgres.session.statements import numbered, statement
from graphsearch.stores.in_postgres.session.watching import answered_within, unbroken
from graphsearch.text.analyser import ENGLISH, Analyser

Pool: TypeAlias = AsyncConnectionPool[Any]

_snapshots: ContextVar[Mapping[tuple[int, Scope], Session]] = ContextVar("graphsearch_snapshots")


@attrs.define(eq=False, kw_only=True)
class Gateway:
    """A pool, and what is known of the database behind it; without that, it is checked when it is first used."""

    pool: Pool
    server: str
    """The server's address for error messages."""
    timeout: float = 10.0
    """Seconds to wait for a connection."""
    analyser: Analyser = ENGLISH
    database: Database | None = None
    settled: bool = False
    """Whether the connections have the settings of a read, so that no transaction need set them; see `settle`."""
    _lock: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    _shares: WeakValueDictionary[str, asyncio.Semaphore] = attrs.field(factory=WeakValueDictionary)
    """On a cluster, the connections that each organisation may still take."""
    _library: SignatureCaches = attrs.field(factory=SignatureCaches)
    _process: int = attrs.field(factory=os.getpid)

    @asynccontextmanager
    async def reading(self, scope: Scope) -> AsyncIterator[Session]:
        """The snapshot of the current task, else one of its own. Raises `UnknownScopeError`."""
        current = self.current(scope)
        if current is not None and current.open:
            with translated(self.server):
                yield current
            return
        async with self._session(scope, "begin read", "enter scope") as session:
            session.keeps_plans = True
            yield session

    def current(self, scope: Scope) -> Session | None:
        """The snapshot of the current task."""
        return _snapshots.get({}).get((id(self), scope))

    @asynccontextmanager
    async def snapshot(self, scope: Scope) -> AsyncIterator[None]:
        """Let all reads inside, of this task and of those it starts, see one state of the graph.

        Inside a snapshot of another scope it is of the same state, in the same transaction: a question to several
        scopes takes one connection. On a cluster, where no transaction spans two nodes, only in the same organisation.
        """
        around = _snapshots.get({})
        other = next((each for key, each in around.items() if key[0] == id(self) and each.spans(scope)), None)
        inside = other is not None and self.current(scope) is None
        async with self._beside(other, scope) if other and inside else self.reading(scope) as session:
            token = _snapshots.set({**around, (id(self), scope): session})
            try:
                yield
            finally:
                _snapshots.reset(token)

    @asynccontextmanager
    async def _beside(self, other: Session, scope: Scope) -> AsyncIterator[Session]:
        """A session in the transaction of that of another scope."""
        with translated(self.server):
            answer = await other.sender.execute(scope, _scope_row(scope))
            session = self._session_of(other.connection, scope, answer)
            session.sender, session.keeps_plans = other.sender, True
            try:
                yield session
            finally:
                session.open = False

    @asynccontextmanager
    async def writing(
        self, scope: Scope, *, create: bool = False, alone: bool = True, changing: bool = False, small: bool = False
    ) -> AsyncIterator[Session]:
        """A transaction that changes the scope. Raises `UnknownScopeError` for a missing scope, `ReadOnlyStoreError`.

        With ``create`` a missing scope is created. The writers of a scope take turns; those not ``alone``, which only
        append to the log, run concurrently. A write that is ``changing`` elements or names increases `Session.changes`.
        One that may be ``small`` keeps its plans, as reads do, until `Session.plan_for_values`.
        """
        steps = [] if small else ["write settings"]
        steps += ["enter scope", "lock scope" if alone else "share scope"]
        steps += ["make scope"] if create else []
        steps += ["move scope"] if changing else []
        async with self._session(scope, "begin write", *steps) as session:
            session.small = small
            yield session
            if session.connection.info.transaction_status == TransactionStatus.INTRANS:  # else it was rolled back
                await session.flush()

    @asynccontextmanager
    async def _session(self, scope: Scope, *steps: str) -> AsyncIterator[Session]:
        if os.getpid() != self._process:
            raise StoreConfigurationError(
                "the store was made before this process was forked, and its connections are the parent's: make it anew"
            )
        writing = steps[0] == "begin write"
        async with AsyncExitStack() as stack:
            stack.enter_context(translated(self.server, writing=writing))
            stack.enter_context(stage("transaction", database="postgresql"))
            await stack.enter_async_context(self._share(scope.org_id))
            connection, answer = await self._begin(stack, scope, steps, writing=writing)
            session = self._session_of(connection, scope, answer)
            stack.push_async_callback(session.sender.close)
            try:
                yield session
            finally:
                session.open = False

    def _session_of(self, connection: Connection, scope: Scope, answer: Answer) -> Session:
        """The session of a transaction that is in a scope, with the scope's row. Raises `UnknownScopeError`."""
        if not (found := answer.dicts):
            raise UnknownScopeError(
                f"nothing was ever written to scope {scope}: check how it is spelt, or write to it first"
            )
        (row,) = found
        database = cast(Database, self.database)  # known, for its transaction began
        if (analyser := row.pop("analyser")) != self.analyser.name:
            raise AnalyserError(
                f"scope {scope} was indexed by the analyser {analyser!r}, not by {self.analyser.name!r}: "
                "open the store with that one, or write to another scope"
            )
        return Session(
            connection=connection,
            scope=scope,
            analyser=self.analyser,
            distributed=database.distributed,
            tallies={kind: Tally(*sums) for kind, sums in row.pop("tallies").items()},
            vector_indexes={kind: VectorIndex(*row) for kind, row in row.pop("vector_indexes").items()},
            signatures=self._library.book(scope, row.pop("signatures_dropped")),
            id_key=row.pop("id_key") or uuid5(database.secret, scope.org_id),
            **row,
        )

    @asynccontextmanager
    async def _share(self, org: str) -> AsyncIterator[None]:
        """On a cluster, one of the connections that an organisation may have at a time: half of the pool.

        A node that does not answer would otherwise take them all, and stop the organisations of the others.
        """
        if self.database is None or not self.database.distributed:
            yield
            return
        most = max(1, self.pool.max_size // 2)
        share = self._shares.setdefault(org, asyncio.Semaphore(most))
        try:
            async with asyncio.timeout(self.timeout):
                await share.acquire()
        except TimeoutError as error:
            raise StoreUnavailableError(
                f"all {most} connections to {self.server} that one organisation may have at a time are in use: check "
                "that its node answers, and that the pool is large enough"
            ) from error
        try:
            yield
        finally:
            share.release()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        """A connection of the pool, committed at the end; it goes back idle or closed, whatever is cancelled when."""
        getting = asyncio.ensure_future(self.pool.getconn(timeout=self.timeout))
        ended = False
        try:
            connection = await asyncio.shield(getting)
            if not connection.autocommit:
                await connection.set_autocommit(True)
            yield connection
            ended = True
        finally:
            getting.cancel()  # what waits for a connection is cancelled but once, or the pool would lose count
            await finished(self._give_back(getting, commit=ended))

    async def _give_back(self, got: asyncio.Future[Connection], *, commit: bool) -> None:
        await asyncio.wait([got])
        if got.cancelled() or got.exception() is not None:
            return
        connection = got.result()
        try:
            with nullcontext() if commit else suppress(psycopg.Error):
                await (connection.commit() if commit else connection.rollback())
        finally:
            if connection.pgconn.pipeline_status or connection.pgconn.transaction_status != TransactionStatus.IDLE:
                connection.pgconn.finish()  # whoever gets it next could not use it
            await self.pool.putconn(connection)

    async def _begin(
        self, stack: AsyncExitStack, scope: Scope, steps: Sequence[str], *, writing: bool
    ) -> tuple[Connection, Answer]:
        """A connection in a new transaction, and the scope's row, in one round trip.

        Broken connections in the pool, as all are after the server restarts, are discarded.
        """
        for _ in range(self.pool.max_size + 1):
            attempt = AsyncExitStack()
            connection = await attempt.enter_async_context(self._connection())
            try:
                register_sent(connection)
                database = await self._look(connection)
                settings = [] if self.settled else ["settings"]
                settings += ["plan for values"] if database.distributed else []
                opening = _opening(scope, (steps[0], *settings, *steps[1:]), self.analyser.name)
                # A read begins at once; a write waits for the writers before it.
                with nullcontext() if writing else answered_within(connection, self.timeout):
                    *_, row = await unbroken(send_together(connection, opening))
            except BaseException as error:
                await attempt.__aexit__(type(error), error, error.__traceback__)
                lost = isinstance(error, psycopg.Error) and connection.closed and is_connection_fault(error)
                if lost and not getattr(connection, "gave_up", False):
                    continue
                raise
            stack.push_async_exit(attempt)
            return connection, row
        raise psycopg.OperationalError("every connection of the pool was lost")

    async def _look(self, connection: Connection) -> Database:
        """What is known of the database, checked once; and the connection, set up for it."""
        async with self._lock:
            if self.database is None:
                self.database = await Database.behind(connection)
        if self.database.pooled:
            connection.prepare_threshold = None
        return self.database

    async def analyse(self, growth: float) -> None:
        """Analyse the tables that have grown by a factor and by a megabyte since they were last analysed.

        Outdated statistics of a formerly small table are worse than none: the planner then joins large tables row by
        row. On a server below 17 only autovacuum may analyse them, a minute later; so does that of each node of a
        cluster, where a table belongs to all organisations.
        """
        with translated(self.server):
            async with self._connection() as connection:
                database = await self._look(connection)
                if connection.info.server_version >= MAINTAIN_SINCE and not database.distributed:
                    await unbroken(_analyse(connection, growth))


async def _analyse(connection: Connection, growth: float) -> None:
    grown = await (await connection.execute(statement("grown tables"), {"growth": growth})).fetchall()
    if grown:
        tables = sql.SQL(", ").join(sql.Identifier("graphsearch", name) for (name,) in grown)
        # A small sample costs a tenth; autovacuum takes a large one a minute later.
        await connection.execute(sql.SQL("SET LOCAL default_statistics_target = 10; ANALYZE {}").format(tables))


async def settle(connection: Connection) -> None:
    """Give a connection the settings of a read for good; it must have a process of the server to itself."""
    await connection.execute(statement("settings").replace(b"SET LOCAL", b"SET"), prepare=False)


@lru_cache(maxsize=1_024)
def _opening(scope: Scope, names: tuple[str, ...], analyser: str) -> Sequence[Statement]:
    """The statements that open a transaction, cached: building them takes longer than executing them.

    The last reads the scope's row.
    """
    lock = int.from_bytes(hashlib.blake2b(repr(scope).encode(), digest_size=8).digest(), "big", signed=True)
    literals = {"org": scope.org_id, "project": scope.project_id, "lock": lock, "analyser": analyser}
    return [*(each for name in names for each in literal_statements(name, **literals)), _scope_row(scope)]


def _scope_row(scope: Scope) -> Statement:
    text, names = numbered(statement("scope"))
    values = {"org": scope.org_id, "project": scope.project_id}
    return Statement(text, [values[name] for name in names], kept=True)
