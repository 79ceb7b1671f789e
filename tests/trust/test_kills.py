"""Clients and servers killed in the middle of a change leave it undone or done, and it can be repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.index import indexing
from tests.trust.kills import kills


async def test_kills(server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "BULK", indexing.BULK)  # put back at the end
    async with EmbeddedPostgres(server_folder, settings={"fsync": "off"}) as server:
        found = await kills(server.dsn, 10, seed=1)
    assert found["kills"] == 10
