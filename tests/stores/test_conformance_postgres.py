"""The conformance suite over the store in Postgres."""

from __future__ import annotations

import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.conformance import StoreConformance
from graphsearch.testing.fakes import FixedClock


class TestPostgres(StoreConformance):
    @pytest.fixture
    def unscoped(self, clock: FixedClock, shared_pool: AsyncConnectionPool) -> PostgresGraphStore:
        return PostgresGraphStore(shared_pool, clock=clock, exact=True)
