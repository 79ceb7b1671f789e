"""Migrations while others use the tables."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from graphsearch.errors import InvalidInputError, MigrationLockError
from graphsearch.model import Batch, Entity
from graphsearch.stores.in_postgres.session import migrating
from graphsearch.stores.in_postgres.session.migrating import Migration, migrate, migrations
from graphsearch.stores.postgres import PostgresGraphStore
from tests.fix_postgres import APP_ROLE, Database
from tests.integrations.team import engine_over
from tests.operating.conftest import SCOPE
from tests.waiting import until


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
