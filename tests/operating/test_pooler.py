"""PgBouncer in transaction mode: the store works through it, and leaves nothing behind on the server's processes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.context import ContextBuilder
from graphsearch.curation import Curator
from graphsearch.model import Batch, Entity, Outcome, Relation
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_postgres.index import upkeep
from graphsearch.stores.in_postgres.session.migrating import migrate, migrations
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock, WordCounter
from graphsearch.testing.samples import portrait
from tests.fix_postgres import APP_ROLE, Database
from tests.integrations.team import EMBEDDER, PRIYA, engine_over, member
from tests.operating.pgbouncer import PGBOUNCER, pooled

pytestmark = pytest.mark.skipif(PGBOUNCER is None, reason="there is no program pgbouncer on this machine")
SCOPES = [{"org_id": "acme", "project_id": name} for name in ("web", "api")]


@pytest.fixture(autouse=True)
def _small_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes in bulk that are compared quickly."""
    monkeypatch.setattr(upkeep, "WAITING", 100)


@pytest.fixture
def folder(copy_folder: Path) -> Path:
    return copy_folder


@pytest.fixture
def pooled_dsn(postgres_database: Database, folder: Path) -> Iterator[str]:
    """Two processes of the server for all clients."""
    with pooled(postgres_database.dsn, folder, processes=2) as dsn:
        yield dsn


async def lifetime(store: GraphStore, name: str) -> None:
    """Write, ask, learn, merge and forget, by statements repeated often enough to be prepared."""
    engine = await engine_over(store)
    builder, gate = ContextBuilder(engine, counter=WordCounter()), member(store)
    tools = [Entity(type="tool", name=f"{name} {number}") for number in range(2 * upkeep.WAITING)]
    relations = [Relation(source_id=PRIYA.id, type="uses", target_id=tool.id) for tool in tools[:20]]
    await store.write(Batch(entities=tools, relations=relations))
    await store.settle()
    for number in range(8):
        await store.write(Batch(entities=[Entity(type="tool", name=f"{name} later {number}")]))
        await engine.search("who does Priya report to?", gate=gate, limit=3)
        await engine.recall("who leads search?", gate=gate, limit=3)
    await builder.build("who does Priya report to?", gate=gate, session_id="s1")
    await builder.feedback("s1", Outcome.ACCEPTED, gate=gate)
    curator = Curator(engine)
    await curator.merge_entities(tools[0].id, tools[1].id)
    await curator.forget(memory="m-lead")


async def test_everything_works_as_without_it(pooled_dsn: str) -> None:
    """Two scopes at once, on two processes of the server, end as they do in memory."""
    memory = InMemoryGraphStore(clock=FixedClock())
    async with PostgresGraphStore.open(pooled_dsn, clock=FixedClock(), exact=True) as graph:
        stores = [graph.with_scope(**scope) for scope in SCOPES]
        await asyncio.gather(*(lifetime(store, str(place)) for place, store in enumerate(stores)))
        vectors = [EMBEDDER.vector("Priya")]
        for place, store in enumerate(stores):
            alike = memory.with_scope(**SCOPES[place])
            await lifetime(alike, str(place))
            assert await portrait(store, vectors=vectors) == await portrait(alike, vectors=vectors)


async def test_nothing_is_left_on_the_processes(pooled_dsn: str, postgres_database: Database) -> None:
    """What a session would keep: settings, prepared statements, temporary tables, advisory locks."""
    pool = AsyncConnectionPool(pooled_dsn, min_size=1, max_size=4, open=False, kwargs={"prepare_threshold": 0})
    async with pool:  # a pool of the caller's own that would prepare everything at once
        store = PostgresGraphStore(pool, clock=FixedClock()).with_scope(**SCOPES[0])
        await lifetime(store, "one")
        async with await psycopg.AsyncConnection.connect(pooled_dsn, autocommit=True, prepare_threshold=None) as other:
            for query, nothing in (
                ("SELECT count(*) FROM pg_prepared_statements", 0),
                ("SELECT count(*) FROM pg_class WHERE relpersistence = 't'", 0),
                ("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", 0),
                ("SELECT coalesce(current_setting('graphsearch.org_id', true), '')", ""),
                ("SELECT current_setting('plan_cache_mode')", "auto"),
                ("SELECT count(*) FROM graphsearch.entity", 0),  # no scope is entered: the wall hides everything
            ):
                for _ in range(4):
                    assert await (await other.execute(query.encode())).fetchone() == (nothing,), query


async def test_migrations_pass_through_it(empty_database: Database, folder: Path) -> None:
    """They hold their lock in one transaction; a direct DSN is recommended, but not needed."""
    with pooled(empty_database.admin_dsn, folder, processes=2) as dsn:
        applied = await asyncio.gather(*(migrate(dsn, app_role=APP_ROLE) for _ in range(3)))
    assert sorted(applied) == [[], [], [migration.name for migration in migrations()]]
