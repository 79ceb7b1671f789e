"""Removing the bytes of deleted rows from the files of a server.

Postgres marks what is deleted; the bytes stay in its files until they are overwritten. `scrub` rewrites the files of
graphsearch and the statistics of the planner, which quote columns, and lets the server drop its write-ahead log.
"""

from __future__ import annotations

from typing import Any, Final, LiteralString

import psycopg
from psycopg import sql

from graphsearch.stores.in_postgres.session.faults import describe, translated

_TABLES: Final = "SELECT relname FROM pg_class WHERE relnamespace = 'graphsearch'::regnamespace AND relkind = 'r'"
_RECYCLES: Final = """
SELECT setting FROM pg_file_settings WHERE name = 'wal_recycle' AND sourcefile LIKE '%/postgresql.auto.conf'
"""
_AHEAD: Final = """
SELECT count(*) FROM pg_ls_waldir()
WHERE name ~ '^[0-9A-F]{24}$' AND name > pg_walfile_name(pg_current_wal_insert_lsn())
"""


async def scrub(admin_dsn: str) -> None:
    """Rewrite all tables of graphsearch, with their indexes, and drop the write-ahead log written so far.

    Needs a superuser. Each table is locked while it is rewritten, and needs its size again on the disk. Afterwards no
    file of the server's data folder has the bytes of what was deleted before, as long as nothing else needs the log: a
    replication slot, a standby, an archive or `wal_keep_size` keep it, and are to be emptied by whoever set them up.
    What the disk keeps of deleted files is beyond any program: encrypt it. Raises what connecting raises.
    """
    with translated(describe(admin_dsn)):
        async with await psycopg.AsyncConnection.connect(admin_dsn, autocommit=True) as connection:
            for (name,) in await _rows(connection, _TABLES):
                table = sql.Identifier("graphsearch", name)
                await connection.execute(sql.SQL("VACUUM (FULL, ANALYZE) {}").format(table))
            await connection.execute("VACUUM FULL pg_catalog.pg_statistic")
            await _drop_log(connection)


async def _drop_log(connection: psycopg.AsyncConnection[Any]) -> None:
    """Let the server write to new files of its log, and remove the others instead of using them again."""
    [(recycles,)] = await _rows(connection, _RECYCLES) or [("",)]
    await _recycle(connection, sql.SQL("ALTER SYSTEM SET wal_recycle = off"))
    try:
        [(ahead,)] = await _rows(connection, _AHEAD)
        for _ in range(ahead + 1):  # files that were prepared from old ones are used up
            await connection.execute("SELECT pg_logical_emit_message(false, 'graphsearch', ''), pg_switch_wal()")
        await connection.execute("CHECKPOINT")
        await connection.execute("SELECT pg_logical_emit_message(false, 'graphsearch', ''), pg_switch_wal()")
        await connection.execute("CHECKPOINT")
    finally:
        before = sql.SQL("ALTER SYSTEM SET wal_recycle = {}").format(sql.Literal(recycles))
        await _recycle(connection, before if recycles else sql.SQL("ALTER SYSTEM RESET wal_recycle"))


async def _recycle(connection: psycopg.AsyncConnection[Any], statement: sql.SQL | sql.Composed) -> None:
    await connection.execute(statement)
    await connection.execute("SELECT pg_reload_conf()")


async def _rows(connection: psycopg.AsyncConnection[Any], query: LiteralString) -> list[tuple[Any, ...]]:
    return await (await connection.execute(query)).fetchall()
