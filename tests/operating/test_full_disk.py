"""A disk that is full: a typed error, reads go on, nothing is half written, and writes work when there is room."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from psycopg import AsyncConnection

from graphsearch.errors import StoreError
from graphsearch.model import Batch, Memory
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import portrait
from tests.fix_postgres import NOT_DURABLE, folder_for_a_server
from tests.integrations.team import engine_over
from tests.operating.conftest import SCOPE

ROOM = 1 << 20
"""What is left on the full disk: too little for the batch."""


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A folder with a file system of its own, of 200 MB, in memory."""
    with folder_for_a_server() as folder:
        folder.mkdir()
        mount = ["/bin/mount", "-t", "tmpfs", "-o", "size=200m", "none", str(folder)]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            pytest.skip("only root may mount a small disk, and not in every container")
        try:
            folder.chmod(0o755)
            yield folder
        finally:
            subprocess.run(["/bin/umount", "--lazy", str(folder)], check=True)


async def with_log_ahead(dsn: str) -> None:
    """Let the server have files for its log ahead: where these are missing, it ends, whatever a store does."""
    async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
        for _ in range(4):
            await connection.execute("SELECT pg_logical_emit_message(true, '', '')")
            await connection.execute("SELECT pg_switch_wal()")
        await connection.execute("CHECKPOINT")


async def test_a_full_disk(small_disk: Path) -> None:
    log = {"max_wal_size": "96MB", "min_wal_size": "96MB", "wal_recycle": "on", "wal_init_zero": "on"}
    settings = {**NOT_DURABLE, **log, "shared_buffers": "16MB"}
    async with (
        EmbeddedPostgres(small_disk / "data", settings=settings) as server,
        PostgresGraphStore.open(server.dsn, clock=FixedClock()) as graph,
    ):
        store = graph.with_scope(**SCOPE)
        await engine_over(store)
        before = await portrait(store)
        rng = np.random.default_rng(1)
        texts = [rng.bytes(4_000).hex() for _ in range(1_500)]
        batch = Batch(memories=[Memory(id=f"m{number}", text=text) for number, text in enumerate(texts)])
        await with_log_ahead(server.admin_dsn)
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - ROOM))
        with pytest.raises(StoreError) as failed:
            await store.write(batch)
        assert "No space left" in str(failed.value)
        assert await portrait(store) == before
        ballast.unlink()
        await store.write(batch)
        await store.settle()
        assert (await store.statistics()).memories == (before["statistics"].memories + len(texts))
