"""Two databases on one Postgres server for one run: a migrated one for graphsearch, an empty one for the bare cost."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, LiteralString

import attrs
import psutil  # type: ignore[import-untyped]
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.session.migrating import migrate

_PASSWORD: Final = "of a role that lives as long as a benchmark"  # noqa: S105


@attrs.frozen
class Databases:
    """The DSNs of graphsearch's app role and its admin, and of the admin of the empty database."""

    app: str
    admin: str
    bare: str


@asynccontextmanager
async def databases(dsn: str | None) -> AsyncIterator[Databases]:
    """Databases on the server with this admin's DSN, or an embedded one; they and the role are dropped at the end."""
    if dsn is not None:
        async with _made(dsn) as made:
            yield made
        return
    with tempfile.TemporaryDirectory(prefix="graphsearch") as folder:
        async with EmbeddedPostgres(Path(folder, "data")) as server, _made(server.admin_dsn) as made:
            yield made


@asynccontextmanager
async def _made(dsn: str) -> AsyncIterator[Databases]:
    name = f"graphsearch_benchmark_{os.getpid()}"
    bare = f"{name}_bare"
    made = Databases(
        app=make_conninfo(dsn, dbname=name, user=name, password=_PASSWORD),
        admin=make_conninfo(dsn, dbname=name),
        bare=make_conninfo(dsn, dbname=bare),
    )
    await _execute(dsn, "CREATE DATABASE {}", name, bare)
    try:
        await migrate(made.admin, app_role=name, app_password=_PASSWORD)
        yield made
    finally:
        await _execute(dsn, "DROP DATABASE IF EXISTS {} WITH (FORCE)", name, bare)
        await _execute(dsn, "DROP ROLE IF EXISTS {}", name)


async def _execute(dsn: str, statement: LiteralString, *names: str) -> None:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        for name in names:
            await connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


async def analyse(admin_dsn: str) -> None:
    """Update the planner's statistics, as autovacuum does a minute later."""
    async with await psycopg.AsyncConnection.connect(admin_dsn, autocommit=True) as connection:
        await connection.execute("VACUUM ANALYZE")


def server_seconds(folder: Path) -> float:
    """Processor time that an embedded server, by its data folder, and its processes have taken so far."""
    server = psutil.Process(int((folder / "postmaster.pid").read_text(encoding="utf-8").split()[0]))
    total = 0.0
    for process in (server, *server.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            used = process.cpu_times()
            # a server waits for its processes that ended, so that theirs is in its own
            total += used.user + used.system + used.children_user + used.children_system
    return total
