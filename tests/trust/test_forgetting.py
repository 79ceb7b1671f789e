"""A graph that stored secrets and forgot them equals one that never stored them, whatever happened in between."""

from __future__ import annotations

import pytest

from graphsearch.caching import InProcessCache, cached
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.fix_postgres import Database
from tests.stores.test_forgetting import rows
from tests.trust.forgetting import MARK, lives, pickled


@pytest.mark.parametrize("seed", range(16))
async def test_memory_keeps_nothing_of_secrets(seed: int) -> None:
    clock = FixedClock()
    stores = InMemoryGraphStore(clock=clock)
    told, never = (stores.with_scope(org_id="acme", project_id=name) for name in ("told", "never"))
    cache = InProcessCache(scope=told.scope, clock=clock)
    await lives(seed, cached(told, cache), never, clock)
    assert MARK not in pickled(told._cell.state)
    assert MARK not in pickled(dict(cache._entities))


async def test_postgres_keeps_nothing_of_secrets(postgres_database: Database) -> None:
    clock = FixedClock()
    async with PostgresGraphStore.open(postgres_database.dsn, clock=clock, exact=True) as store:
        for seed in range(4):
            told, never = (store.with_scope(org_id="acme", project_id=f"{name} {seed}") for name in ("told", "never"))
            await lives(seed, told, never, clock, steps=10)
        assert MARK not in pickled(store._gateway._library)
    assert {name for name, content in rows(postgres_database.admin_dsn).items() if MARK in content} == set()
