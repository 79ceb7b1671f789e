"""Calls of every kind that are cancelled leave every connection of the pool usable, and changes done or undone."""

from __future__ import annotations

from tests.fix_postgres import Database
from tests.trust.cancellations import cancellations


async def test_every_connection_serves_after_cancellations(postgres_database: Database) -> None:
    counts = {1: 128, 2: 96, 8: 64}
    async for found in cancellations(postgres_database.dsn, counts):
        assert found["cancelled"] > 0.8 * counts[found["pool"]]
        assert found["opened"] == 0  # none had to be replaced
        assert found["sessions"] <= found["pool"]
