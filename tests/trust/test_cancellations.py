"""Calls of every kind that are cancelled leave every connection of the pool usable, and changes done or undone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from psycopg import waiting

from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.session.migrating import migrate
from tests.fix_postgres import APP_ROLE, Database
from tests.trust.cancellations import Steps, cancellations, sessions


async def test_every_connection_serves_after_cancellations(postgres_database: Database) -> None:
    async for found in cancellations(postgres_database.dsn, {1: 16, 8: 16}):
        assert found["cancelled"] > 0.8 * found["calls"]
        assert found["opened"] == 0  # none had to be replaced
        assert found["sessions"] <= found["pool"]


@pytest.mark.parametrize("insisting", [False, True])
async def test_a_cancelled_migration_leaves_the_database_as_it_was_and_no_session(
    empty_database: Database, insisting: bool
) -> None:
    steps, rng = Steps(), random.Random(0)  # noqa: S311 - no secret
    with steps.counted(), patch.object(waiting, "MAX_BUSY_TIME", 0.0):
        for at in sorted(rng.sample(range(1, 60), 12)):
            again = range(at + 1, at + 1_000) if insisting else ()
            cancelled = await steps.run(migrate(empty_database.admin_dsn, app_role=APP_ROLE), at, *again)
            assert cancelled
            with psycopg.connect(empty_database.admin_dsn) as connection:
                assert connection.execute("SELECT to_regnamespace('graphsearch')").fetchone() == (None,)
    assert await sessions(empty_database.admin_dsn, 0) == 0


async def test_a_cancelled_start_of_a_server_stops_it(new_server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    for name in ("_start", "_stop"):
        monkeypatch.setattr(EmbeddedPostgres, name, _noted(getattr(EmbeddedPostgres, name), ended))
    starting = asyncio.ensure_future(EmbeddedPostgres(new_server_folder).__aenter__())
    await asyncio.sleep(0)  # it runs in a thread from here on
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert ended == ["_start", "_stop"]
    assert not (new_server_folder / "postmaster.pid").exists()


def _noted(method: Callable[[Any], None], ended: list[str]) -> Callable[[Any], None]:
    def run(server: Any) -> None:
        method(server)
        ended.append(method.__name__)

    return run
