"""Transactions in one scope: the only way in which the Postgres store reaches its tables."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs
import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from graphsearch.errors import UnknownScopeError
from graphsearch.model import ElementKind, Scope
from graphsearch.stores.in_postgres import roles
from graphsearch.stores.in_postgres.copying import UuidArray, UuidArrayDumper
from graphsearch.stores.in_postgres.faults import is_connection_fault, translated
from graphsearch.stores.in_postgres.statements import composable, statement
from graphsearch.stores.migrate import check_schema

Connection: TypeAlias = psycopg.AsyncConnection[Any]
Pool: TypeAlias = AsyncConnectionPool[Any]

# A generic plan of arrays, or of another tenant, is 10 to 50 × slower; an index is worth using for hundreds of ids.
_SETTINGS: Final = """
SET LOCAL search_path = graphsearch, public, extensions;
SET LOCAL timezone = 'UTC';
SET LOCAL plan_cache_mode = force_custom_plan;
SET LOCAL random_page_cost = 1.1;
SET LOCAL jit = off;
SET LOCAL hnsw.iterative_scan = relaxed_order;
SET LOCAL hnsw.ef_search = 100;
"""


@attrs.frozen
class Tally:
    """Sums of one kind in a scope: documents, their terms, and vectors; and whether elements may lack documents."""

    documents: int = 0
    total_length: int = 0
    vectors: int = 0
    behind: bool = False


@attrs.define
class Session:
    """A transaction in one scope, and what the scope's row said when it began."""

    connection: Connection
    scope: Scope
    alpha: float = 0.1
    embedder: str | None = None
    dimensions: int | None = None
    tallies: Mapping[str, Tally] = attrs.field(factory=dict)
    types: Sequence[Mapping[str, Any]] = ()
    """The fields of the relation types registered in the scope."""
    open: bool = True

    async def run(self, query: bytes, **values: Any) -> psycopg.AsyncCursor[tuple[Any, ...]]:
        """Execute a statement; %(org)s and %(project)s are the scope."""
        return await self.connection.execute(query, self._bound(values), binary=True)

    async def dicts(self, query: bytes, **values: Any) -> list[dict[str, Any]]:
        """The rows of a statement, each by column name."""
        async with self.connection.cursor(binary=True, row_factory=dict_row) as cursor:
            await cursor.execute(query, self._bound(values))
            return await cursor.fetchall()

    async def columns(self, query: bytes, **values: Any) -> tuple[Any, ...]:
        """The one row of a statement that aggregates."""
        row = await (await self.run(query, **values)).fetchone()
        return row if row is not None else ()

    def tally(self, kind: ElementKind) -> Tally:
        """The sums of a kind."""
        return self.tallies.get(kind.value, Tally())

    def _bound(self, values: dict[str, Any]) -> dict[str, Any]:
        return {"org": self.scope.org_id, "project": self.scope.project_id, **_packed(values)}


def _packed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: UuidArray.of([each.bytes for each in value])
        if isinstance(value, list) and value and isinstance(value[0], UUID)
        else value
        for name, value in values.items()
    }


_snapshots: ContextVar[Mapping[tuple[int, Scope], Session]] = ContextVar("graphsearch_snapshots")


@attrs.define(eq=False)
class Gateway:
    """A pool, checked once: it must be of the app role, and on a database of this version's schema."""

    pool: Pool
    server: str
    timeout: float = 10.0
    _checked: bool = False
    _lock: asyncio.Lock = attrs.field(factory=asyncio.Lock)

    @asynccontextmanager
    async def reading(self, scope: Scope) -> AsyncIterator[Session]:
        """The snapshot that this task is in, else one of its own. Raises `UnknownScopeError`."""
        current = _snapshots.get({}).get((id(self), scope))
        if current is not None and current.open:
            with translated(self.server):
                yield current
            return
        begin = sql.SQL("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ")
        async with self._session(scope, begin, sql.SQL("")) as session:
            yield session

    @asynccontextmanager
    async def snapshot(self, scope: Scope) -> AsyncIterator[None]:
        """Everything read inside, in this task and its children, sees one state."""
        async with self.reading(scope) as session:
            around = _snapshots.get({})
            token = _snapshots.set({**around, (id(self), scope): session})
            try:
                yield
            finally:
                _snapshots.reset(token)

    @asynccontextmanager
    async def writing(self, scope: Scope, *, create: bool = False, alone: bool = True) -> AsyncIterator[Session]:
        """A transaction that changes the scope; ``create`` makes it when there is none, else `UnknownScopeError`.

        The writers of a scope take turns; those not ``alone``, who only move feedback weights, share one turn.
        """
        key = int.from_bytes(hashlib.blake2b(repr(scope).encode(), digest_size=8).digest(), "big", signed=True)
        lock = sql.SQL("SELECT {}({}); ").format(
            sql.Identifier("pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"), sql.Literal(key)
        )
        made = _MAKE_SCOPE.format(sql.Literal(scope.org_id), sql.Literal(scope.project_id)) if create else sql.SQL("")
        begin = sql.SQL("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ")
        async with self._session(scope, begin, sql.Composed([lock, made])) as session:
            yield session

    @asynccontextmanager
    async def _session(self, scope: Scope, begin: sql.SQL, then: sql.Composable) -> AsyncIterator[Session]:
        with translated(self.server):
            async with AsyncExitStack() as stack:
                opening = sql.Composed([begin, _local_settings(scope), then, _scope_row(scope)])
                connection, row = await self._begin(stack, opening)
                if row is None:
                    raise UnknownScopeError(
                        f"nothing was ever written to scope {scope}: check how it is spelt, or write to it first"
                    )
                alpha, embedder, dimensions, tallies, types = row
                sums = {kind: Tally(*numbers) for kind, numbers in tallies.items()}
                session = Session(connection, scope, alpha, embedder, dimensions, sums, types)
                try:
                    yield session
                finally:
                    session.open = False

    async def _begin(self, stack: AsyncExitStack, opening: sql.Composed) -> tuple[Connection, tuple[Any, ...] | None]:
        """A connection in a new transaction, and the scope's row, in one round trip.

        Connections that died while they lay in the pool, as all do when the server starts again, are thrown away.
        """
        for _ in range(self.pool.max_size + 1):
            attempt = AsyncExitStack()
            connection = await attempt.enter_async_context(self.pool.connection(timeout=self.timeout))
            try:
                await connection.set_autocommit(True)
                connection.adapters.register_dumper(UuidArray, UuidArrayDumper)
                if not self._checked:
                    await self._check(connection)
                row = await _last_row(connection, opening)
            except BaseException as error:
                await attempt.__aexit__(type(error), error, error.__traceback__)
                if isinstance(error, psycopg.Error) and connection.closed and is_connection_fault(error):
                    continue
                raise
            stack.push_async_exit(attempt)
            return connection, row
        raise psycopg.OperationalError("every connection of the pool was lost")

    async def analyse(self) -> None:
        """Tell the planner of tables that have grown much; on a server below 17 only autovacuum can, a minute later.

        What it knows of a table that was small is worse than nothing: it then joins large tables row by row.
        """
        with translated(self.server):
            async with self.pool.connection(timeout=self.timeout) as connection:
                await connection.set_autocommit(True)
                if connection.info.server_version < roles.MAINTAIN_SINCE:
                    return
                grown = await (await connection.execute(statement("grown tables"))).fetchall()
                if grown:
                    tables = sql.SQL(", ").join(sql.Identifier("graphsearch", name) for (name,) in grown)
                    await connection.execute(sql.SQL("ANALYZE {}").format(tables))

    async def _check(self, connection: Connection) -> None:
        async with self._lock:
            await roles.check_app_role(connection)
            await check_schema(connection)
            self._checked = True


_MAKE_SCOPE: Final = sql.SQL("INSERT INTO scope (org_id, project_id) VALUES ({}, {}) ON CONFLICT DO NOTHING; ")


def _local_settings(scope: Scope) -> sql.Composable:
    """The scope and the planner's settings, for this transaction alone.

    Statements and not calls of set_config: a cluster passes only those on to its workers.
    """
    local = sql.SQL("SET LOCAL graphsearch.org_id = {}; SET LOCAL graphsearch.project_id = {}; {}")
    return local.format(sql.Literal(scope.org_id), sql.Literal(scope.project_id), _PLANNING)


_PLANNING: Final = sql.SQL(_SETTINGS)


def _scope_row(scope: Scope) -> sql.Composable:
    return composable("scope").format(org_id=sql.Literal(scope.org_id), project_id=sql.Literal(scope.project_id))


async def _last_row(connection: Connection, opening: sql.Composed) -> tuple[Any, ...] | None:
    async with connection.cursor() as cursor:
        await cursor.execute(opening, prepare=False)
        while cursor.nextset():
            pass
        row: tuple[Any, ...] | None = await cursor.fetchone()
        return row
