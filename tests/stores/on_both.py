"""The two stores of the library, to run tests of all stores on."""

from __future__ import annotations

import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock


class InMemory:
    @pytest.fixture
    def unscoped(self, clock: FixedClock) -> InMemoryGraphStore:
        return InMemoryGraphStore(clock=clock)


class InPostgres:
    @pytest.fixture
    def unscoped(self, clock: FixedClock, shared_pool: AsyncConnectionPool) -> PostgresGraphStore:
        return PostgresGraphStore(shared_pool, clock=clock, exact=True)
