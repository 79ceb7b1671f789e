from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg_pool import AsyncConnectionPool

from graphsearch.errors import (
    InvalidInputError,
    StoreConfigurationError,
    StoreError,
    StoreUnavailableError,
    UnknownScopeError,
    UnsafeRoleError,
)
from graphsearch.model import Batch, Entity, Scope
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.session.migrating import migrate
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from tests.fix_postgres import APP_ROLE, Database
from tests.waiting import LONGEST, until, working_on

ADA = Entity(type="person", name="Ada")
BOB = Entity(type="person", name="Bob")


@pytest.fixture
async def scoped(postgres_store: PostgresGraphStore) -> ScopedPostgresStore:
    scoped = postgres_store.with_scope(org_id="org", project_id="project")
    await scoped.write(Batch(entities=(ADA,)))
    return scoped


@pytest.fixture
async def pool(postgres_database: Database) -> AsyncIterator[AsyncConnectionPool[Any]]:
    async with AsyncConnectionPool[Any](postgres_database.dsn, min_size=1, max_size=2, open=False) as pool:
        yield pool


async def test_a_pool_of_the_callers_own(pool: AsyncConnectionPool[Any]) -> None:
    scoped = PostgresGraphStore(pool).with_scope(org_id="o", project_id="p")
    await scoped.write(Batch(entities=(ADA,)))
    assert [entity.id for entity in await scoped.list_entities()] == [ADA.id]


async def test_a_pool_of_the_admin_is_refused_when_first_used(postgres_database: Database) -> None:
    async with AsyncConnectionPool[Any](postgres_database.admin_dsn, min_size=1, open=False) as pool:
        scoped = PostgresGraphStore(pool).with_scope(org_id="o", project_id="p")
        for _ in range(2):
            with pytest.raises(UnsafeRoleError):
                await scoped.statistics()


@pytest.mark.parametrize("encoding", ["latin1", "sql_ascii"])
async def test_texts_are_whole_whatever_the_encoding_of_the_dsn(postgres_database: Database, encoding: str) -> None:
    dsn = make_conninfo(postgres_database.dsn, client_encoding=encoding)
    async with PostgresGraphStore.open(dsn) as store:
        scoped = store.with_scope(org_id="orgä", project_id="日本")
        await scoped.write(Batch(entities=(Entity(type="person", name="Jörg 日本"),)))
        assert [each.name for each in await scoped.list_entities()] == ["Jörg 日本"]
    async with AsyncConnectionPool[Any](dsn, min_size=1, open=False) as pool:
        with pytest.raises(StoreConfigurationError, match="client_encoding"):
            await PostgresGraphStore(pool).with_scope(org_id="orgä", project_id="日本").list_entities()


async def test_a_role_that_is_read_only_by_default_writes(postgres_database: Database) -> None:
    read_only = "-c default_transaction_read_only=on"
    await migrate(make_conninfo(postgres_database.admin_dsn, options=read_only), app_role=APP_ROLE)
    async with PostgresGraphStore.open(make_conninfo(postgres_database.dsn, options=read_only)) as store:
        scoped = store.with_scope(org_id="o", project_id="p")
        await scoped.write(Batch(entities=(ADA,)))
        assert [entity.id for entity in await scoped.list_entities()] == [ADA.id]


async def test_nothing_of_a_scope_stays_on_the_connection(pool: AsyncConnectionPool[Any]) -> None:
    await pool.resize(1, 1)
    store = PostgresGraphStore(pool)
    await store.with_scope(org_id="o", project_id="p").write(Batch(entities=(ADA,)))
    async with pool.connection() as connection:
        rows = await connection.execute(
            "SELECT current_setting('graphsearch.org_id', true), (SELECT count(*) FROM graphsearch.entity)"
        )
        assert await rows.fetchone() == ("", 0)


async def test_without_a_scope_no_row_can_be_written(scoped: ScopedPostgresStore, postgres_database: Database) -> None:
    with psycopg.connect(postgres_database.dsn, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO graphsearch.scope (org_id, project_id) VALUES ('org', 'other')")
        assert connection.execute("UPDATE graphsearch.entity SET name = 'x'").rowcount == 0
        connection.execute("SET graphsearch.org_id = 'org'")
        assert connection.execute("DELETE FROM graphsearch.entity").rowcount == 0
        connection.execute("SET graphsearch.project_id = 'project'")
        assert connection.execute("SELECT count(*) FROM graphsearch.entity").fetchone() == (1,)


async def test_a_snapshot_sees_one_state_in_its_children_too(scoped: ScopedPostgresStore) -> None:
    async def names() -> list[str]:
        return sorted(entity.name for entity in await scoped.list_entities())

    async with scoped.snapshot():
        assert await names() == ["Ada"]
        await scoped.write(Batch(entities=(BOB,)))
        async with scoped.snapshot():
            first, second = await asyncio.gather(names(), asyncio.create_task(names()))
            assert first == second == ["Ada"]
    assert await names() == ["Ada", "Bob"]


async def test_a_child_that_outlives_its_snapshot_reads_anew(scoped: ScopedPostgresStore) -> None:
    left = asyncio.Event()

    async def later() -> int:
        await left.wait()
        return len(await scoped.list_entities())

    async with scoped.snapshot():
        child = asyncio.create_task(later())
        await scoped.write(Batch(entities=(BOB,)))
    left.set()
    assert await child == 2


async def test_what_waits_to_be_read_when_its_snapshot_ends_is_refused(scoped: ScopedPostgresStore) -> None:
    async with scoped.snapshot():
        session = scoped._gateway.current(scoped.scope)
        assert session is not None
        slow = asyncio.create_task(session.run_kept(b"SELECT 1 FROM pg_sleep(0.2)"))
        for _ in range(3):
            await asyncio.sleep(0)  # until it is sent
        late = asyncio.create_task(session.run_kept(b"SELECT 2"))
    assert (await slow).rows == [(1,)]
    with pytest.raises(StoreError, match="snapshot of this read has ended"):
        await late  # its connection may be another's by now


async def test_scopes_with_quotes_and_backslashes_are_scopes(postgres_store: PostgresGraphStore) -> None:
    hostile = ["o'; DROP TABLE graphsearch.entity; --", "back\\slash", '"quoted"', "%s %(org)s {0}", "ünï", "_", "%"]
    for org in hostile:
        await postgres_store.with_scope(org_id=org, project_id=org[::-1]).write(Batch(entities=(ADA,)))
    for org in hostile:
        assert len(await postgres_store.with_scope(org_id=org, project_id=org[::-1]).list_entities()) == 1
        with pytest.raises(UnknownScopeError):
            await postgres_store.with_scope(org_id=org, project_id=org + "x").list_entities()


async def test_an_unscoped_store_has_no_data(postgres_store: PostgresGraphStore) -> None:
    public = {name for name in dir(postgres_store) if not name.startswith("_")}
    assert public == {"open", "with_scope"}
    with pytest.raises(InvalidInputError):
        postgres_store.with_scope(org_id="", project_id="p")


async def test_a_cancelled_call_leaves_the_pool_whole(
    pool: AsyncConnectionPool[Any], postgres_database: Database
) -> None:
    scoped = PostgresGraphStore(pool, timeout=LONGEST).with_scope(org_id="o", project_id="p")
    await scoped.write(Batch(entities=(ADA,)))

    async def slow() -> None:
        async with scoped._gateway.reading(scoped.scope) as session:
            await session.run(b"SELECT pg_sleep(600)")

    for _ in range(4):  # more than the pool has
        task = asyncio.create_task(slow())
        await until(lambda: working_on(postgres_database.admin_dsn, "pg_sleep"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(await scoped.list_entities()) == 1


async def test_a_cancelled_write_writes_nothing(scoped: ScopedPostgresStore, postgres_database: Database) -> None:
    many = [Entity(type="person", name=f"Person {number}") for number in range(2_000)]
    with psycopg.connect(postgres_database.admin_dsn) as other:
        other.execute("LOCK TABLE graphsearch.entity IN SHARE MODE")
        task = asyncio.create_task(scoped.write(Batch(entities=many)))
        await until(lambda: other.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (await scoped.statistics()).entities == 1


async def test_no_free_connection_is_a_typed_error(pool: AsyncConnectionPool[Any]) -> None:
    patient, hurried = (
        PostgresGraphStore(pool, timeout=seconds).with_scope(org_id="o", project_id="p") for seconds in (60, 0.2)
    )
    await patient.write(Batch(entities=(ADA,)))
    async with pool.connection(), pool.connection():
        with pytest.raises(StoreUnavailableError, match="pool is large enough"):
            await hurried.list_entities()


async def test_a_closed_store_is_a_typed_error(postgres_database: Database) -> None:
    async with PostgresGraphStore.open(postgres_database.dsn) as store:
        scoped = store.with_scope(org_id="o", project_id="p")
    with pytest.raises(StoreUnavailableError, match="closed: open it again"):
        await scoped.list_entities()


async def test_a_refused_statement_is_a_typed_error(scoped: ScopedPostgresStore) -> None:
    with pytest.raises(StoreError, match="refused a statement") as refused:
        await scoped.list_entities(limit=2**80)
    assert isinstance(refused.value.__cause__, psycopg.Error)
    assert len(await scoped.list_entities()) == 1


async def test_a_server_that_goes_and_comes_back(server_folder: Path) -> None:
    async with EmbeddedPostgres(server_folder) as server, PostgresGraphStore.open(server.dsn) as store:
        scoped = store.with_scope(org_id="o", project_id="p")
        await scoped.write(Batch(entities=(ADA,)))

        async def slow() -> None:
            async with scoped._gateway.reading(scoped.scope) as session:
                await session.run(b"SELECT pg_sleep(600)")

        busy = [asyncio.create_task(slow()) for _ in range(3)]
        await until(lambda: working_on(server.admin_dsn, "pg_sleep") == 3)
        process = psutil.Process(int((server_folder / "postmaster.pid").read_text().splitlines()[0]))
        workers = process.children(recursive=True)
        process.kill()
        for worker in workers:
            worker.kill()
        await asyncio.to_thread(psutil.wait_procs, [process, *workers], LONGEST)
        for result in await asyncio.gather(*busy, return_exceptions=True):
            assert isinstance(result, StoreUnavailableError)
            assert isinstance(result.__cause__, psycopg.OperationalError)
        with pytest.raises(StoreUnavailableError):
            async with PostgresGraphStore.open(server.dsn, timeout=1):
                pass
        async with EmbeddedPostgres(server_folder):
            assert [entity.id for entity in await scoped.list_entities()] == [ADA.id]


async def test_the_same_scope_in_two_stores_of_one_database(postgres_database: Database) -> None:
    async with (
        PostgresGraphStore.open(postgres_database.dsn) as one,
        PostgresGraphStore.open(postgres_database.dsn) as two,
    ):
        first = one.with_scope(org_id="o", project_id="p")
        second = two.with_scope(org_id="o", project_id="p")
        assert first.scope == Scope("o", "p")
        await first.write(Batch(entities=(ADA,)))
        async with first.snapshot():
            await second.write(Batch(entities=(BOB,)))
            assert len(await first.list_entities()) == 1
            assert len(await second.list_entities()) == 2
