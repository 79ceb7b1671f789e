"""A cluster of Citus: the tables distributed by organisation, and the checks that it is set up as the store needs it.

All rows of an organisation are on one node, and every statement states the organisation, so that Citus sends it to that
node whole. The coordinator, through which every store is opened, keeps the locks of writers.
"""

from __future__ import annotations

import logging
from typing import Any, Final

import psycopg
from psycopg import sql

from graphsearch.errors import ClusterError, MigrationError
from graphsearch.stores.in_postgres.session.statements import statement

_log = logging.getLogger(__name__)
_SETTING: Final = "citus.propagate_set_commands"
_PASS_SETTINGS_ON: Final = sql.SQL("ALTER DATABASE {database} SET citus.propagate_set_commands = 'local'")
_INIT: Final = "`graphsearch init --distributed` with the admin's DSN"

Connection = psycopg.AsyncConnection[Any]


async def check_cluster(connection: Connection) -> bool:
    """Whether the database is one of a cluster.

    Raises `ClusterError` for a connection to a worker, whose locks exclude no other writers, for a cluster without
    workers, and for one whose coordinator holds shards.
    """
    if not await _has_cluster(connection):
        return False
    [(is_coordinator, workers, holds_shards)] = await _rows(connection, "nodes of cluster")
    if not is_coordinator:
        raise ClusterError(
            "this is a worker of a cluster: open the store through the coordinator, which has the locks of all writers"
        )
    if not workers:
        raise ClusterError(
            "the cluster has no worker that may hold shards: on the coordinator, SELECT citus_add_node('host', 5432)"
        )
    if holds_shards:
        raise ClusterError(
            "the coordinator of the cluster holds shards, to which nothing can be written: SELECT citus_drain_node("
            "'its host', 5432), which also lets it get no new ones"
        )
    return True


async def check_distribution(connection: Connection) -> None:
    """Raise an error unless the cluster is ready for a store.

    `ClusterError` where its workers would not be passed the scope of a transaction, `MigrationError` where not all the
    tables are distributed.
    """
    missing = [name for name, distributed in await _rows(connection, "tables of cluster") if not distributed]
    if missing:
        some = f"{missing[0]} is" if len(missing) == 1 else f"{missing[0]} and {len(missing) - 1} more tables are"
        raise MigrationError(f"this database is one of a cluster, but {some} not distributed: run {_INIT}")
    if not await _holds(connection, "passes settings on"):
        raise ClusterError(
            f"the cluster does not pass the scope of a transaction on to its workers: run {_INIT}, or "
            f"ALTER DATABASE {connection.info.dbname} SET {_SETTING} = 'local', and leave {_SETTING} out of the DSN"
        )


async def is_to_distribute(connection: Connection, *, requested: bool) -> bool:
    """Whether a database that is being prepared is one of a cluster.

    Raises `ClusterError` where distribution is requested without a cluster, and the other way round.
    """
    if not requested and not await _has_cluster(connection):
        return False
    name = connection.info.dbname
    if not await check_cluster(connection):
        raise ClusterError(
            f"database {name} has no extension citus: run CREATE EXTENSION citus as a superuser in it, on every node, "
            "add the workers, then `graphsearch init --distributed` again"
        )
    if not requested and not any(distributed for _, distributed in await _rows(connection, "tables of cluster")):
        raise ClusterError(
            f"database {name} has the extension citus: distribute the graph by `graphsearch init --distributed`, or "
            "keep it in a database without the extension"
        )
    return True


async def distribute(connection: Connection) -> None:
    """Distribute all tables that are not distributed yet, by organisation.

    Raises `MigrationError` for a database with a graph that is not distributed, and `ClusterError` where the admin may
    not let the database pass settings on.
    """
    tables = await _rows(connection, "tables of cluster")
    name = connection.info.dbname
    if not any(distributed for _, distributed in tables) and await _holds(connection, "has scopes"):
        raise MigrationError(
            f"database {name} holds a graph that is not distributed: prepare an empty database with "
            "`graphsearch init --distributed`, and write the graph again"
        )
    await connection.execute("SET default_transaction_read_only = off")
    if not await _holds(connection, "passes settings on"):
        try:
            await connection.execute(_PASS_SETTINGS_ON.format(database=sql.Identifier(name)))
        except psycopg.errors.InsufficientPrivilege as error:
            raise ClusterError(
                f"the admin may not set {_SETTING} for database {name}: run ALTER DATABASE {name} SET {_SETTING} = "
                f"'local' as its owner, then {_INIT}"
            ) from error
    for table, distributed in tables:  # each by itself: the locks of all shards at once may be more than a node has
        if not distributed:
            beside = "none" if table == "scope" else "graphsearch.scope"
            await connection.execute(statement("distribute table"), {"table": f"graphsearch.{table}", "beside": beside})
    if await _holds(connection, "is bound by policies"):
        _log.warning(
            "row-level security binds %s, who owns the tables, so that shards do not move while they are written to: "
            "ALTER ROLE %s BYPASSRLS on every node, or move them with shard_transfer_mode => 'block_writes'",
            *[connection.info.user] * 2,
        )


async def _has_cluster(connection: Connection) -> bool:
    return await _holds(connection, "has cluster")


async def _holds(connection: Connection, name: str) -> bool:
    [(value,)] = await _rows(connection, name)
    return bool(value)


async def _rows(connection: Connection, name: str) -> list[tuple[Any, ...]]:
    return await (await connection.execute(statement(name))).fetchall()
