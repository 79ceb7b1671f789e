"""A server whose log is archived, with a team's graph in a database of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import attrs
import pytest

from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.postgres import PostgresGraphStore
from tests.fix_postgres import NOT_DURABLE, copied, folder_for_a_server
from tests.integrations.team import engine_over

SCOPE = {"org_id": "acme", "project_id": "web"}


@attrs.frozen
class Primary:
    """The server, and the folder with its archived log."""

    folder: Path
    admin_dsn: str
    dsn: str
    archive: Path


@pytest.fixture(scope="session")
async def primary(finished_folder: Path) -> AsyncIterator[Primary]:
    with copied(finished_folder) as folder:
        archive = folder.parent / "archive"
        archive.mkdir(mode=0o777)
        archive.chmod(0o777)
        settings = {**NOT_DURABLE, "archive_mode": "on", "archive_command": f"cp %p {archive}/%f"}
        async with EmbeddedPostgres(folder, settings=settings) as server:
            async with PostgresGraphStore.open(server.dsn) as graph:
                await engine_over(graph.with_scope(**SCOPE))
            yield Primary(folder, server.admin_dsn, server.dsn, archive)


@pytest.fixture
def copy_folder() -> Iterator[Path]:
    """A folder for a copy of the server."""
    with folder_for_a_server() as folder:
        folder.parent.chmod(0o777)
        yield folder
