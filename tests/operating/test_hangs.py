"""A connection that hangs: a typed error in bounded time, and the pool works again when the network does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from graphsearch.errors import InvalidInputError, StoreUnavailableError
from graphsearch.model import Batch, Entity
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_postgres.session.watching import keepalive
from graphsearch.stores.postgres import PostgresGraphStore
from tests.fix_postgres import Database
from tests.integrations.team import PRIYA, engine_over
from tests.operating.conftest import SCOPE
from tests.operating.proxy import Proxy, proxied
from tests.waiting import LONGEST, until

LIMIT = 2.0


@pytest.fixture
async def proxy(postgres_database: Database) -> AsyncIterator[Proxy]:
    async with PostgresGraphStore.open(postgres_database.dsn) as graph:  # without the limits of time
        await engine_over(graph.with_scope(**SCOPE))
    async with proxied(postgres_database.dsn) as found:
        yield found


async def read(store: GraphStore) -> Any:
    return await store.get_entities([PRIYA.id])


async def write(store: GraphStore) -> Any:
    return await store.write(Batch(entities=[Entity(type="tool", name="new")]))


async def hang_within(store: GraphStore, proxy: Proxy) -> Any:
    """The network stops in the middle of a snapshot."""
    async with store.snapshot():
        await read(store)
        proxy.stick()
        await read(store)
        await store.statistics()


@pytest.mark.parametrize("work", [read, write])
async def test_work_that_hangs_is_given_up_and_the_pool_recovers(
    proxy: Proxy, work: Callable[[GraphStore], Awaitable[Any]]
) -> None:
    how = {"timeout": LIMIT, "answer_timeout": LIMIT, "max_connections": 3}
    async with PostgresGraphStore.open(proxy.dsn, **how) as graph:  # type: ignore[arg-type]
        store = graph.with_scope(**SCOPE)
        await asyncio.gather(*(read(store) for _ in range(3)))  # three connections
        proxy.stick()
        failed = await asyncio.gather(*(work(store) for _ in range(5)), return_exceptions=True)
        assert [type(error) for error in failed] == [StoreUnavailableError] * 5
        assert any("no answer within 2 s" in str(error) for error in failed)
        proxy.resume()
        await recovers(store, work)


async def test_a_snapshot_that_hangs_is_given_up(proxy: Proxy) -> None:
    async with PostgresGraphStore.open(proxy.dsn, timeout=LIMIT, answer_timeout=LIMIT) as graph:
        store = graph.with_scope(**SCOPE)
        with pytest.raises(StoreUnavailableError):
            await hang_within(store, proxy)
        proxy.resume()
        await recovers(store, read)


async def test_a_hanging_call_can_be_cancelled(proxy: Proxy) -> None:
    async with PostgresGraphStore.open(proxy.dsn, timeout=LIMIT, answer_timeout=LIMIT) as graph:
        store = graph.with_scope(**SCOPE)
        proxy.stick()
        call = asyncio.ensure_future(write(store))
        await until(lambda: proxy.held)
        call.cancel()
        with pytest.raises((asyncio.CancelledError, StoreUnavailableError)):
            await asyncio.wait_for(call, LONGEST)
        proxy.resume()
        await recovers(store, write)


async def recovers(store: GraphStore, work: Callable[[GraphStore], Awaitable[Any]]) -> None:
    """At most the calls that find one of the hanging connections fail."""
    async with asyncio.timeout(LONGEST):
        while True:
            with suppress(StoreUnavailableError):
                await work(store)
                break
    for _ in range(3):
        await work(store)


async def test_opening_a_store_over_a_network_that_hangs(proxy: Proxy) -> None:
    proxy.stick()
    with pytest.raises(StoreUnavailableError):
        async with PostgresGraphStore.open(proxy.dsn, timeout=LIMIT):
            pass


async def test_a_limit_is_positive_and_may_be_left_out(postgres_database: Database) -> None:
    with pytest.raises(InvalidInputError, match="answer_timeout"):
        async with PostgresGraphStore.open(postgres_database.dsn, answer_timeout=0):
            pass
    async with PostgresGraphStore.open(postgres_database.dsn, answer_timeout=None) as graph:
        await engine_over(graph.with_scope(**SCOPE))


def test_a_dsn_may_state_its_own_keepalive() -> None:
    assert "tcp_user_timeout" in keepalive("postgresql://host/db")
    assert "tcp_user_timeout" not in keepalive("postgresql://host/db?tcp_user_timeout=5")
