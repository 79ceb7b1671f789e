"""Whether a store can use a database through a connection, and what it must know of it."""

from __future__ import annotations

from typing import Any, Final, Self, TypeAlias
from uuid import UUID

import attrs
import psycopg

from graphsearch.errors import StoreConfigurationError, UnsafeRoleError
from graphsearch.stores.in_postgres.session.distributing import check_cluster, check_distribution
from graphsearch.stores.in_postgres.session.migrating import check_schema

Connection: TypeAlias = psycopg.AsyncConnection[Any]

_CURRENT: Final = """
SELECT current_user, rolsuper, rolbypassrls, EXISTS (
    SELECT FROM pg_catalog.pg_class c
    WHERE c.relnamespace = pg_catalog.to_regnamespace('graphsearch')
        AND pg_catalog.pg_has_role(current_user, c.relowner, 'USAGE')
)
FROM pg_catalog.pg_roles WHERE rolname = current_user
"""
_KEY: Final = "SELECT secret FROM graphsearch.migration ORDER BY number LIMIT 1"


@attrs.frozen
class Database:
    """A database that a store can use."""

    secret: UUID
    """That of which ids of entities are made."""
    pooled: bool = False
    """Whether transactions share the server's processes: no statement is prepared."""
    distributed: bool = False
    """Whether the tables are distributed over the nodes of a cluster."""

    @classmethod
    async def behind(cls, connection: Connection) -> Self:
        """Look through a connection. Raises a `StoreConfigurationError` unless a store can use it."""
        pooled = await _is_pooled(connection)
        if pooled:
            connection.prepare_threshold = None
        if connection.info.encoding != "utf-8":
            raise StoreConfigurationError(
                f"the connection's encoding is {connection.info.encoding}, which cannot carry every text: make the "
                "pool with kwargs={'client_encoding': 'utf8'}, or leave client_encoding out of the DSN and of "
                "PGCLIENTENCODING"
            )
        await _check_role(connection)
        distributed = await check_cluster(connection)
        await check_schema(connection)
        if distributed:
            await check_distribution(connection)
        [(secret,)] = await (await connection.execute(_KEY)).fetchall()
        return cls(secret, pooled, distributed)


async def _is_pooled(connection: Connection) -> bool:
    """Whether there is a pooler in between, such as PgBouncer: each transaction may get another server process."""
    [(process,)] = await (await connection.execute("SELECT pg_catalog.pg_backend_pid()", prepare=False)).fetchall()
    return bool(process != connection.info.backend_pid)


async def _check_role(connection: Connection) -> None:
    """Raise `UnsafeRoleError` for a superuser, a role with BYPASSRLS, or a (member of the) owner of the tables."""
    [(name, *escapes)] = await (await connection.execute(_CURRENT)).fetchall()
    why = [
        word for word, does in zip(("is a superuser", "has BYPASSRLS", "owns the tables"), escapes, strict=True) if does
    ]
    if why:
        raise UnsafeRoleError(
            f"the role {name!r} {' and '.join(why)}, so row-level security does not bind it: open the store with the "
            "DSN of the app role that `graphsearch init` makes"
        )
