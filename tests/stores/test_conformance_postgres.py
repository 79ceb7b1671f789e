from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.conformance import StoreConformance
from graphsearch.testing.fakes import FixedClock
from tests.fix_postgres import Database, Server


@pytest.fixture(scope="module")
async def conformance_database(postgres_server: Server) -> AsyncIterator[Database]:
    database = await postgres_server.database()
    yield database
    await postgres_server.drop(database)


class TestPostgres(StoreConformance):
    @pytest.fixture
    async def unscoped(self, clock: FixedClock, conformance_database: Database) -> AsyncIterator[PostgresGraphStore]:
        async with PostgresGraphStore.open(conformance_database.dsn, clock=clock, exact=True) as store:
            yield store
