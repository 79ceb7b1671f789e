"""Transactions in one scope: the only way in which the Postgres store reaches its tables."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs
import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from graphsearch.errors import AnalyserError, StoreConfigurationError, UnknownScopeError
from graphsearch.model import ElementKind, Scope
from graphsearch.observing import stage
from graphsearch.query.analyser import ENGLISH, Analyser
from graphsearch.stores.in_postgres import roles
from graphsearch.stores.in_postgres.copying import UuidArray, UuidArrayDumper, packed
from graphsearch.stores.in_postgres.faults import is_connection_fault, translated
from graphsearch.stores.in_postgres.known import Book, Library, ReadOnce
from graphsearch.stores.in_postgres.migrating import check_schema
from graphsearch.stores.in_postgres.sending import Connection, Row, Sender
from graphsearch.stores.in_postgres.statements import composable, statement

Pool: TypeAlias = AsyncConnectionPool[Any]

# An index is worth using for hundreds of ids. With 64 candidates the HNSW index finds all of the ten nearest among
# 100,000 vectors of 256 dimensions, as with 100, which take half as long again; with 40, the default, 98 in a hundred.
_SETTINGS: Final = """
SET LOCAL search_path = graphsearch, public, extensions;
SET LOCAL timezone = 'UTC';
SET LOCAL random_page_cost = 1.1;
SET LOCAL jit = off;
SET LOCAL hnsw.iterative_scan = relaxed_order;
SET LOCAL hnsw.ef_search = 64;
"""

# A generic plan of arrays, or of another tenant, is 10 to 50 × slower: statements are planned for their values. But
# planning a step of a walk costs as much as running it, and one plan is as good as another while it goes by the index:
# `Session.run_kept` plans it once a connection, kept from the sequential scan that was right while a table was small.
_READING: Final = """
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL plan_cache_mode = force_generic_plan;
SET LOCAL enable_seqscan = off;
"""
_WRITING: Final = """
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL plan_cache_mode = force_custom_plan;
"""


@attrs.frozen
class Tally:
    """Sums of one kind in a scope: documents, their terms, and vectors; and whether elements may lack documents."""

    documents: int = 0
    total_length: float = 0.0
    vectors: int = 0
    behind: bool = False


@attrs.define
class Session:
    """A transaction in one scope, and what the scope's row said when it began."""

    connection: Connection
    scope: Scope
    scope_hash: int
    alpha: float = 0.1
    analyser: Analyser = ENGLISH
    embedder: str | None = None
    dimensions: int | None = None
    tallies: Mapping[str, Tally] = attrs.field(factory=dict)
    types: Sequence[Mapping[str, Any]] = ()
    """The fields of the relation types registered in the scope."""
    signatures: Book = attrs.field(factory=lambda: Book(0))
    """Signatures that were read before."""
    merges: int = 0
    """How many merges were ever made in the scope."""
    shares: bool = False
    """Whether any of its signatures ever was shared."""
    changes: int = 0
    """Moves with every change to elements and their names."""
    keeps_plans: bool = False
    """Whether this is a read: see `run_kept`."""
    open: bool = True
    sender: Sender = attrs.field(default=attrs.Factory(lambda self: Sender(self.connection), takes_self=True))
    once: ReadOnce = attrs.field(factory=ReadOnce)
    """What was read; of use in a snapshot alone."""
    filled: set[str] = attrs.field(factory=set)
    """The temporary tables that this transaction has put something into."""

    async def run(self, query: bytes, **values: Any) -> psycopg.AsyncCursor[tuple[Any, ...]]:
        """Execute a statement, planned for its values; %(org)s and %(project)s are the scope."""
        return await self._execute(self.connection.cursor(binary=True), query, values)

    async def run_kept(self, query: bytes, **values: Any) -> psycopg.AsyncCursor[tuple[Any, ...]]:
        """Execute a statement of which there is one good plan, whatever its values: a read keeps it."""
        return await self._send(self.connection.cursor(binary=True), query, self._bound(values))

    async def run_kept_here(self, query: bytes, **values: Any) -> psycopg.AsyncCursor[tuple[Any, ...]]:
        """Execute a statement whose good plan depends on the scope, the limit and what a view leaves out.

        A read keeps one for these. Of conditions on unknown values the planner takes each for one that hardly any row
        meets: it would then look at all relations of a scope for the nearest few.
        """
        here = tuple(
            (name, tuple(value) if isinstance(value, list) else value)
            for name, value in values.items()
            if name in _HERE and not (name == "refolded" and value)  # which can be thousands
        )
        cursor = self.connection.cursor(binary=True)
        return await self._send(cursor, _put_in(query, self.scope, here), self._bound(values))

    async def dicts(self, query: bytes, **values: Any) -> list[dict[str, Any]]:
        """The rows of a statement, each by column name."""
        cursor = self.connection.cursor(binary=True, row_factory=dict_row)
        return await (await self._execute(cursor, query, values)).fetchall()

    async def columns(self, query: bytes, **values: Any) -> tuple[Any, ...]:
        """The one row of a statement that aggregates."""
        row = await (await self.run(query, **values)).fetchone()
        return row if row is not None else ()

    async def _execute(
        self, cursor: psycopg.AsyncCursor[Row], query: bytes, values: Mapping[str, Any]
    ) -> psycopg.AsyncCursor[Row]:
        if not self.keeps_plans:
            return await cursor.execute(query, self._bound(values))
        # What has its values put into it is planned for them, and plans are only kept of what has none.
        literal = psycopg.AsyncClientCursor(self.connection).mogrify(query, {**self._here, **values})
        return await self._send(cursor, literal.encode(), prepare=False)

    async def _send(
        self, cursor: psycopg.AsyncCursor[Row], query: bytes, values: Any = None, *, prepare: bool | None = None
    ) -> psycopg.AsyncCursor[Row]:
        """Execute a statement; a read's together with those of other tasks."""
        if not self.keeps_plans:
            return await cursor.execute(query, values, prepare=prepare)
        return await self.sender.execute(cursor, query, values, prepare=prepare)

    def tally(self, kind: ElementKind) -> Tally:
        """The sums of a kind."""
        return self.tallies.get(kind.value, Tally())

    def _bound(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return self._here | _packed(values)

    @property
    def _here(self) -> dict[str, Any]:
        return {"org": self.scope.org_id, "project": self.scope.project_id, "scope": self.scope_hash}


def _packed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: UuidArray.of(packed(value)) if isinstance(value, list) and value and isinstance(value[0], UUID) else value
        for name, value in values.items()
    }


_HERE: Final = frozenset({"limit", "least", "skipped", "only", "refolded"})
_PLACE: Final = re.compile(rb"%\(([a-z_]+)\)s")


@lru_cache(maxsize=1_024)
def _put_in(query: bytes, scope: Scope, here: tuple[tuple[str, Any], ...]) -> bytes:
    """A statement with a scope and some values in it, for psycopg to put the others into."""
    values = {"org": scope.org_id, "project": scope.project_id, **dict(here)}
    literals = {name.encode(): _literal(value) for name, value in values.items()}
    return _PLACE.sub(lambda place: literals.get(place[1], place[0]), query)


def _literal(value: Any) -> bytes:
    given = list(value) if isinstance(value, tuple) else value
    return sql.Literal(given).as_bytes(None).replace(b"%", b"%%")


_snapshots: ContextVar[Mapping[tuple[int, Scope], Session]] = ContextVar("graphsearch_snapshots")


@attrs.define(eq=False)
class Gateway:
    """A pool, checked once: it must be of the app role, and on a database of this version's schema."""

    pool: Pool
    server: str
    timeout: float = 10.0
    analyser: Analyser = ENGLISH
    _checked: bool = False
    _lock: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    _library: Library = attrs.field(factory=Library)
    _process: int = attrs.field(factory=os.getpid)

    @asynccontextmanager
    async def reading(self, scope: Scope) -> AsyncIterator[Session]:
        """The snapshot that this task is in, else one of its own. Raises `UnknownScopeError`."""
        current = self.current(scope)
        if current is not None and current.open:
            with translated(self.server):
                yield current
            return
        async with self._session(scope, _opening_of_read(scope)) as session:
            session.keeps_plans = True
            yield session

    def current(self, scope: Scope) -> Session | None:
        """The snapshot that this task is in."""
        return _snapshots.get({}).get((id(self), scope))

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
    async def writing(
        self, scope: Scope, *, create: bool = False, alone: bool = True, changing: bool = False
    ) -> AsyncIterator[Session]:
        """A transaction that changes the scope; ``create`` makes it when there is none, else `UnknownScopeError`.

        The writers of a scope take turns; those not ``alone``, who only log what was surfaced, share one turn. Whatever
        is ``changing`` elements or their names moves `Session.changes`.
        """
        key = int.from_bytes(hashlib.blake2b(repr(scope).encode(), digest_size=8).digest(), "big", signed=True)
        lock = sql.SQL("SELECT {}({}); ").format(
            sql.Identifier("pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"), sql.Literal(key)
        )
        row = (scope.org_id, scope.project_id, self.analyser.name)
        made = _MAKE_SCOPE.format(*map(sql.Literal, row)) if create else sql.SQL("")
        moved = _MOVE_SCOPE.format(*map(sql.Literal, row[:2])) if changing else sql.SQL("")
        opening = _opening(scope, sql.SQL(_WRITING), sql.Composed([lock, made, moved]))
        async with self._session(scope, opening) as session:
            yield session

    @asynccontextmanager
    async def _session(self, scope: Scope, opening: bytes) -> AsyncIterator[Session]:
        self._refuse_fork()
        with translated(self.server), stage("transaction", database="postgresql"):
            async with AsyncExitStack() as stack:
                connection, row = await self._begin(stack, opening)
                if row is None:
                    raise UnknownScopeError(
                        f"nothing was ever written to scope {scope}: check how it is spelt, or write to it first"
                    )
                alpha, analyser, embedder, length, merges, dropped, shares, changes, hashed, tallies, types = row
                self._refuse_other(analyser, scope)
                sums = {kind: Tally(*numbers) for kind, numbers in tallies.items()}
                book = self._library.book(scope, dropped)
                session = Session(
                    *(connection, scope, hashed, alpha, self.analyser, embedder, length, sums, types, book),
                    *(merges, shares, changes),
                )
                try:
                    yield session
                finally:
                    session.open = False

    def _refuse_fork(self) -> None:
        if os.getpid() != self._process:
            raise StoreConfigurationError(
                "the store was made before this process was forked, and its connections are the parent's: make it anew"
            )

    def _refuse_other(self, analyser: str, scope: Scope) -> None:
        if analyser != self.analyser.name:
            raise AnalyserError(
                f"scope {scope} was indexed by the analyser {analyser!r}, not by {self.analyser.name!r}: "
                "open the store with that one, or write to another scope"
            )

    async def _begin(self, stack: AsyncExitStack, opening: bytes) -> tuple[Connection, tuple[Any, ...] | None]:
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

    async def analyse(self, growth: float, megabytes: int) -> None:
        """Tell the planner of tables that are ``growth`` times as large as when it was told last, and so much larger.

        What it knows of a table that was small is worse than nothing: it then joins large tables row by row. On a
        server below 17 only autovacuum can tell it, a minute later.
        """
        with translated(self.server):
            async with self.pool.connection(timeout=self.timeout) as connection:
                await connection.set_autocommit(True)
                if connection.info.server_version < roles.MAINTAIN_SINCE:
                    return
                grown = await (
                    await connection.execute(statement("grown tables"), {"growth": growth, "megabytes": megabytes})
                ).fetchall()
                if grown:
                    tables = sql.SQL(", ").join(sql.Identifier("graphsearch", name) for (name,) in grown)
                    # A rough look now, which costs a tenth; autovacuum takes a close one a minute later.
                    await connection.execute(
                        sql.SQL("SET LOCAL default_statistics_target = 10; ANALYZE {}").format(tables)
                    )

    async def _check(self, connection: Connection) -> None:
        async with self._lock:
            await roles.check_app_role(connection)
            await check_schema(connection)
            self._checked = True


# What was kept in memory of a scope that was removed is older than one that is made again under its name.
_MAKE_SCOPE: Final = sql.SQL(
    "INSERT INTO scope (org_id, project_id, analyser, signatures_dropped, changes)"
    " SELECT {}, {}, {}, now, now FROM (SELECT extract(epoch FROM clock_timestamp()) * 1000000 AS now) clock"
    " ON CONFLICT DO NOTHING; "
)
_MOVE_SCOPE: Final = sql.SQL("UPDATE scope SET changes = changes + 1 WHERE org_id = {} AND project_id = {}; ")


def _local_settings(scope: Scope) -> sql.Composable:
    """The scope and the planner's settings, for this transaction alone.

    Statements and not calls of set_config: a cluster passes only those on to its workers.
    """
    local = sql.SQL("SET LOCAL graphsearch.org_id = {}; SET LOCAL graphsearch.project_id = {}; {}")
    return local.format(sql.Literal(scope.org_id), sql.Literal(scope.project_id), _PLANNING)


_PLANNING: Final = sql.SQL(_SETTINGS)


def _scope_row(scope: Scope) -> sql.Composable:
    return composable("scope").format(org_id=sql.Literal(scope.org_id), project_id=sql.Literal(scope.project_id))


def _opening(scope: Scope, begin: sql.SQL, then: sql.Composable) -> bytes:
    return sql.Composed([begin, _local_settings(scope), then, _scope_row(scope)]).as_bytes(None)


@lru_cache(maxsize=1_024)
def _opening_of_read(scope: Scope) -> bytes:
    """The same for every read of a scope, and longer in the making than in the server."""
    return _opening(scope, sql.SQL(_READING), sql.SQL(""))


async def _last_row(connection: Connection, opening: bytes) -> tuple[Any, ...] | None:
    async with connection.cursor() as cursor:
        await cursor.execute(opening, prepare=False)
        while cursor.nextset():
            pass
        row: tuple[Any, ...] | None = await cursor.fetchone()
        return row
