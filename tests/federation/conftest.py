"""Scopes of a fresh organisation, on each store; on Postgres over a pool of a single connection."""

from uuid import uuid4

import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore


@pytest.fixture(scope="session")
async def single_connection(postgres_server):
    """A pool of one connection of the app role, which forced row-level security binds."""
    database = await postgres_server.database()
    async with AsyncConnectionPool(database.dsn, min_size=1, max_size=1, open=False) as pool:
        yield pool
    await postgres_server.drop(database)


@pytest.fixture(params=["memory", "postgres"])
def scopes(request, clock):
    """A function from the name of a project to its store."""
    org = f"acme-{uuid4().hex}"
    if request.param == "memory":
        memory = InMemoryGraphStore(clock=clock)
        return lambda name: memory.with_scope(org_id=org, project_id=name)
    pool = request.getfixturevalue("single_connection")
    postgres = PostgresGraphStore(pool, clock=clock, exact=True, timeout=60.0)
    return lambda name: postgres.with_scope(org_id=org, project_id=name)
