from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.spec_expanding import ExpandingSpec
from graphsearch.testing.spec_finding import FindingSpec
from graphsearch.testing.spec_reading import ReadingSpec
from graphsearch.testing.spec_writing import WritingSpec
from tests.fix_postgres import Database, Server


@pytest.fixture(scope="module")
async def conformance_database(postgres_server: Server) -> AsyncIterator[Database]:
    database = await postgres_server.database()
    yield database
    await postgres_server.drop(database)


class TestPostgres(ExpandingSpec, FindingSpec, ReadingSpec, WritingSpec):
    @pytest.fixture
    async def unscoped(self, clock: FixedClock, conformance_database: Database) -> AsyncIterator[PostgresGraphStore]:
        async with PostgresGraphStore.open(conformance_database.dsn, clock=clock, exact=True) as store:
            yield store
