"""A fresh scope on every store."""

from uuid import UUID, uuid4, uuid5

import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.model.identity import entity_id, keyed_id
from graphsearch.stores import memory
from graphsearch.stores.in_postgres.session import gateway
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock

SECRET = UUID(int=7)


@pytest.fixture(autouse=True)
def one_secret(request, monkeypatch):
    """Ids are minted alike in all stores, so that these can be compared, but where it is shown what ids tell."""

    if "trust" not in request.path.parts:
        for store in (memory, gateway):
            monkeypatch.setattr(store, "uuid5", lambda _, org: uuid5(SECRET, org))


def minted(entity_type, name, org="acme"):
    """The id that ingest mints in the scopes of an organisation."""
    return keyed_id(entity_id(entity_type, name), uuid5(SECRET, org))


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture(scope="session")
async def shared_database(postgres_server):
    """One database, whose scopes the tests share out."""
    database = await postgres_server.database()
    yield database
    await postgres_server.drop(database)


@pytest.fixture(scope="session")
async def shared_pool(shared_database):
    """Connections to it."""
    async with AsyncConnectionPool(shared_database.dsn, min_size=1, max_size=4, open=False) as pool:
        yield pool


def scope_on(request, clock):
    """A scope of its own on the store that is asked for."""
    scope = {"org_id": "acme", "project_id": f"web-{uuid4()}"}
    if request.param == "memory":
        return InMemoryGraphStore(clock=clock).with_scope(**scope)
    return PostgresGraphStore(request.getfixturevalue("shared_pool"), clock=clock, exact=True).with_scope(**scope)


@pytest.fixture(params=["memory", "postgres"])
def scoped(request, clock):
    """A scope of the test's own."""
    return scope_on(request, clock)


@pytest.fixture(scope="module", params=["memory", "postgres"])
def kept(request):
    """A scope for tests of a module that write nothing but what they share."""
    return scope_on(request, FixedClock())
