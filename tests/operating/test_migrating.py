"""Migrations of databases with data: from every released schema, and while others use the tables."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest
from psycopg import sql

from graphsearch.errors import InvalidInputError, MigrationLockError
from graphsearch.model import Batch, Entity
from graphsearch.stores.in_postgres.session import migrating
from graphsearch.stores.in_postgres.session.migrating import Migration, apply_text, migrate, migrations
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import portrait
from tests.fix_postgres import APP_ROLE, Database, Server
from tests.integrations.team import EMBEDDER, engine_over
from tests.operating.conftest import SCOPE
from tests.waiting import until

TABLES = """
SELECT relname FROM pg_class
WHERE relnamespace = 'graphsearch'::regnamespace AND relkind = 'r' AND relname <> 'migration'
"""
COLUMNS = """
SELECT attname FROM pg_attribute WHERE attrelid = format('graphsearch.%%I', %s::text)::regclass
    AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
"""


async def names(connection: psycopg.AsyncConnection[Any], query: str, *values: str) -> list[str]:
    return [name for (name,) in await (await connection.execute(query.encode(), values or None)).fetchall()]


async def make_old(dsn: str, latest: Migration) -> None:
    """The schema as a release left it."""
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        await connection.execute("CREATE EXTENSION vector; CREATE EXTENSION pg_trgm")
        await connection.execute(migrating._JOURNAL)
        for each in migrations()[: latest.number]:
            await apply_text(connection, each.text)
            row = (each.number, each.name, each.checksum)
            await connection.execute("INSERT INTO graphsearch.migration VALUES (%s, %s, %s)", row)


async def copy_rows(source: str, target: str) -> None:
    """Copy the rows of one database to another: in each of its tables, the columns that both have."""
    async with (
        await psycopg.AsyncConnection.connect(source) as one,
        await psycopg.AsyncConnection.connect(target) as other,
    ):
        await other.execute("SET session_replication_role = replica")  # in any order of tables
        for table in await names(other, TABLES):
            there = await names(one, COLUMNS, table)
            columns = [name for name in await names(other, COLUMNS, table) if name in there]
            what = sql.SQL("graphsearch.{} ({})").format(
                sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
            )
            async with (
                one.cursor().copy(sql.SQL("COPY {} TO STDOUT").format(what)) as reading,
                other.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(what)) as writing,
            ):
                async for data in reading:
                    await writing.write(data)


@pytest.mark.parametrize("latest", migrations(), ids=lambda migration: migration.name)
async def test_from_every_released_schema_with_data(
    latest: Migration, postgres_server: Server, postgres_database: Database
) -> None:
    async with PostgresGraphStore.open(postgres_database.dsn, clock=FixedClock()) as graph:
        store = graph.with_scope(**SCOPE)
        await engine_over(store)
        before = await portrait(store, vectors=[EMBEDDER.vector("Priya")])
    old = await postgres_server.database(migrated=False)
    await make_old(old.admin_dsn, latest)
    await copy_rows(postgres_database.admin_dsn, old.admin_dsn)
    assert await migrate(old.admin_dsn, app_role=APP_ROLE) == [each.name for each in migrations()[latest.number :]]
    async with PostgresGraphStore.open(old.dsn, clock=FixedClock()) as graph:
        store = graph.with_scope(**SCOPE)
        assert await portrait(store, vectors=[EMBEDDER.vector("Priya")]) == before
        await store.write(Batch(entities=[Entity(type="tool", name="after")]))
    await postgres_server.drop(old)


@pytest.fixture
def another(monkeypatch: pytest.MonkeyPatch) -> Migration:
    """A next migration, which needs a table for itself."""
    text = "CREATE TABLE more (); ALTER TABLE entity ADD more integer"
    found = [*migrations(), Migration(len(migrations()) + 1, "9999_more.sql", text)]
    monkeypatch.setattr(migrating, "migrations", lambda: found)
    return found[-1]


async def test_a_table_in_use_is_waited_for_so_long_and_nothing_is_changed(
    postgres_database: Database, another: Migration
) -> None:
    async with await psycopg.AsyncConnection.connect(postgres_database.admin_dsn) as reader:
        await reader.execute("SELECT FROM graphsearch.entity")  # its transaction stays open
        with pytest.raises(MigrationLockError, match=r"longer than 0\.2 s, and nothing was changed.*--lock-timeout"):
            await migrate(postgres_database.admin_dsn, app_role=APP_ROLE, lock_timeout=0.2)
        found = await reader.execute("SELECT to_regclass('graphsearch.more'), max(number) FROM graphsearch.migration")
        assert await found.fetchone() == (None, another.number - 1)
    assert await migrate(postgres_database.admin_dsn, app_role=APP_ROLE, lock_timeout=30) == [another.name]


async def test_readers_and_writers_go_on_during_a_migration(
    postgres_database: Database, request: pytest.FixtureRequest
) -> None:
    async with PostgresGraphStore.open(postgres_database.dsn) as graph:
        store = graph.with_scope(**SCOPE)
        engine, done = await engine_over(store), asyncio.Event()
        numbers = dict.fromkeys("abc", 0)
        another = request.getfixturevalue("another")  # once the store is open, of the version before

        async def work(name: str) -> None:
            while not done.is_set():
                await store.write(Batch(entities=[Entity(type="tool", name=f"{name} {numbers[name]}")]))
                await engine.recall("who leads search?", limit=3)
                numbers[name] += 1

        async def all_go_on() -> None:
            before = dict(numbers)
            await until(lambda: done.is_set() or all(numbers[name] > before[name] for name in numbers))

        working = asyncio.gather(*map(work, numbers))
        working.add_done_callback(lambda _: done.set())
        await all_go_on()
        applied = await migrate(postgres_database.admin_dsn, app_role=APP_ROLE)
        await all_go_on()
        done.set()
        await working
        assert applied == [another.name]


async def test_a_time_limit_is_positive(postgres_database: Database) -> None:
    with pytest.raises(InvalidInputError, match="lock_timeout"):
        await migrate(postgres_database.admin_dsn, app_role=APP_ROLE, lock_timeout=0)
