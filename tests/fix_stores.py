"""A fresh scope on every store."""

from uuid import uuid4

import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture(scope="session")
async def shared_pool(postgres_server):
    """Connections to one database, whose scopes the tests share out."""
    database = await postgres_server.database()
    async with AsyncConnectionPool(database.dsn, min_size=1, max_size=4, open=False) as pool:
        yield pool
    await postgres_server.drop(database)


@pytest.fixture(params=["memory", "postgres"])
def scoped(request, clock):
    scope = {"org_id": "acme", "project_id": f"web-{uuid4()}"}
    if request.param == "memory":
        return InMemoryGraphStore(clock=clock).with_scope(**scope)
    return PostgresGraphStore(request.getfixturevalue("shared_pool"), clock=clock, exact=True).with_scope(**scope)
