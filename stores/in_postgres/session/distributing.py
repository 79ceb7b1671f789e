"""A cluster of Citus: the tables distributed by organisation, and the checks that it is set up as the store needs it.

All rows of an organisation are on one node, and every statement states the organisation, so that Citus sends it to that
node whole. The coordinator, through which every store is opened, keeps temporary tables and the locks of writers.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg
from psycopg import sql

from graphsearch.errors import ClusterError, MigrationError
from graphsearch.stores.in_postgres.session.statements import statement

_SETTING: Final = "citus.propagate_set_commands"
_PASS_SETTINGS_ON: Final = sql.SQL("ALTER DATABASE {database} SET citus.propagate_set_commands = 'local'")
_INIT: Final = "`graphsearch init --distributed` with the admin's DSN"

Connection = psycopg.AsyncConnection[Any]


async def check_coordinator(connection: Connection) -> None:
    """Raise `ClusterError` for a connection to a worker of a cluster, whose locks exclude no other writers."""
    if await _has_cluster(connection) and not await _holds(connection, "is coordinator"):
        raise ClusterError(
            "this is a worker of a cluster: open the store through the coordinator, which has the locks of all writers"
        )


async def check_distribution(connection: Connection) -> bool:
    """Whether the tables are distributed over a cluster.

    Raises `ClusterError` for a cluster whose workers would not be passed the scope of a transaction, and
    `MigrationError` for one over which not all the tables are distributed.
    """
    if not await _has_cluster(connection):
        return False
    await _refuse_undistributed(connection)
    if not await _holds(connection, "passes settings on"):
        raise ClusterError(
            f"the cluster does not pass the scope of a transaction on to its workers: run {_INIT}, or "
            f"ALTER DATABASE {connection.info.dbname} SET {_SETTING} = 'local', and leave {_SETTING} out of the DSN"
        )
    return True


async def is_to_distribute(connection: Connection, *, requested: bool) -> bool:
    """Whether a database that is being prepared is one of a cluster.

    Raises `ClusterError` where distribution is requested without a cluster, and the other way round.
    """
    if not await _has_cluster(connection):
        if requested:
            raise ClusterError(
                f"database {connection.info.dbname} has no extension citus: run CREATE EXTENSION citus as a superuser "
                "in it, on every node, add the workers, then `graphsearch init --distributed` again"
            )
        return False
    await check_coordinator(connection)
    if not requested and not any(distributed for _, distributed in await _tables(connection)):
        raise ClusterError(
            f"database {connection.info.dbname} has the extension citus: distribute the graph by `graphsearch init "
            "--distributed`, or keep it in a database without the extension"
        )
    return True


async def distribute(connection: Connection) -> list[str]:
    """Distribute all tables that are not distributed yet, by organisation; return their names.

    Raises `MigrationError` for a database with a graph that is not distributed, and `ClusterError` where the admin may
    not let the database pass settings on.
    """
    tables = await _tables(connection)
    waiting = [name for name, distributed in tables if not distributed]
    if not any(distributed for _, distributed in tables) and await _holds(connection, "has scopes"):
        raise MigrationError(
            f"database {connection.info.dbname} holds a graph that is not distributed: prepare an empty database with "
            "`graphsearch init --distributed`, and write the graph again"
        )
    await connection.execute("SET default_transaction_read_only = off")
    try:
        await connection.execute(_PASS_SETTINGS_ON.format(database=sql.Identifier(connection.info.dbname)))
    except psycopg.errors.InsufficientPrivilege as error:
        raise ClusterError(
            f"the admin may not set {_SETTING} for database {connection.info.dbname}: run ALTER DATABASE "
            f"{connection.info.dbname} SET {_SETTING} = 'local' as its owner, then {_INIT}"
        ) from error
    for name in waiting:  # each by itself: the locks of all shards at once may be more than a node has
        beside = "none" if name == "scope" else "graphsearch.scope"
        await connection.execute(statement("distribute table"), {"table": f"graphsearch.{name}", "beside": beside})
    return waiting


async def _refuse_undistributed(connection: Connection) -> None:
    missing = [name for name, distributed in await _tables(connection) if not distributed]
    if missing:
        raise MigrationError(f"this database is one of a cluster, but {_some(missing)} not distributed: run {_INIT}")


def _some(tables: list[str]) -> str:
    return f"{tables[0]} is" if len(tables) == 1 else f"{tables[0]} and {len(tables) - 1} more tables are"


async def _tables(connection: Connection) -> list[tuple[str, bool]]:
    rows: list[tuple[str, bool]] = await (await connection.execute(statement("tables of cluster"))).fetchall()
    return rows


async def _has_cluster(connection: Connection) -> bool:
    return await _holds(connection, "has cluster")


async def _holds(connection: Connection, name: str) -> bool:
    row = await (await connection.execute(statement(name))).fetchone()
    return bool(row and row[0])
