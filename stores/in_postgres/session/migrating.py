"""A database made ready, checked before a store uses it, and scrubbed of what was deleted.

Numbered migrations are applied once each, under a lock. An admin owns the tables; the app role owns nothing.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final, LiteralString, Self
from uuid import UUID

import attrs
import psycopg
from psycopg import sql

from graphsearch.errors import MigrationError, MigrationLockError, StoreConfigurationError, UnsafeRoleError
from graphsearch.model import validation
from graphsearch.stores.in_postgres.session.distributing import (
    check_cluster,
    check_distribution,
    distribute,
    is_to_distribute,
)
from graphsearch.stores.in_postgres.session.faults import describe, translated

_log = logging.getLogger(__name__)

Connection = psycopg.AsyncConnection[Any]

MAINTAIN_SINCE: Final = 170_000
"""The first server version in which a role other than the owner can be allowed to analyse tables."""
LOCK_TIMEOUT: Final = 10.0
"""Default number of seconds to wait for a table in use."""
_LOCK: Final = 7_226_904_117_384_551_301
_EXTENSION: Final = "vector"
_VECTOR_VERSION: Final = (0, 8)
"""The first one with iterative_scan."""
_JOURNAL: Final = """
CREATE SCHEMA IF NOT EXISTS graphsearch;
CREATE TABLE IF NOT EXISTS graphsearch.migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    secret uuid NOT NULL DEFAULT gen_random_uuid() -- of number 1: that of the database
);
"""
_APPLIED: Final = "SELECT number, name, checksum FROM graphsearch.migration ORDER BY number"


@attrs.frozen
class Migration:
    """One file of migrations/: its number, name and SQL."""

    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations() -> list[Migration]:
    """All migrations of this version, in order of their numbers."""
    folder = files("graphsearch.stores").joinpath("migrations")
    found = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    every = (Migration(int(file.name.split("_")[0]), file.name, file.read_text(encoding="utf-8")) for file in found)
    return sorted(every, key=lambda migration: migration.number)


async def migrate(
    admin_dsn: str,
    *,
    app_role: str,
    app_password: str | None = None,
    lock_timeout: float = LOCK_TIMEOUT,
    distributed: bool = False,
) -> list[str]:
    """Apply the migrations that the database lacks, in one transaction; return their names.

    Creates the app role if it is missing; a role without a password logs in by other means. Concurrent calls wait for
    each other; a table in use is waited for ``lock_timeout`` seconds. With ``distributed`` the tables of a new database
    are distributed by organisation over the nodes of its cluster, in a transaction of its own;
    where they are distributed already, new tables are so in any case.

    Raises `MigrationError` when a migration that was applied has changed since or is of a newer version,
    `MigrationLockError` when a lock is not granted in time, `UnsafeRoleError` for an app role that would not be bound
    by row-level security, `ClusterError` for a cluster that is not set up for this, and `StoreUnavailableError` when
    the server cannot be reached.
    """
    validation.refuse("migration", validation.number("lock_timeout", lock_timeout, 0.001))
    server = describe(admin_dsn)
    with translated(server):
        async with await psycopg.AsyncConnection.connect(
            admin_dsn, autocommit=True, connect_timeout=10, client_encoding="utf8"
        ) as connection:
            in_cluster = await is_to_distribute(connection, requested=distributed)
            if in_cluster:  # until the end: distributing takes several transactions
                await connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
            try:
                async with connection.transaction():
                    applied = await _prepare(connection, server, app_role, app_password, lock_timeout)
            except psycopg.errors.LockNotAvailable as error:
                raise MigrationLockError(
                    f"{server}: a table was in use for longer than {lock_timeout:g} s, and nothing was changed: try "
                    "again when no long transaction runs, or with a longer --lock-timeout"
                ) from error
            if in_cluster:
                await distribute(connection)  # last, since shards are made with the grants of their table
            return applied


async def _prepare(
    connection: Connection, server: str, app_role: str, password: str | None, lock_timeout: float
) -> list[str]:
    await connection.execute("SET TRANSACTION READ WRITE")
    await connection.execute("SET LOCAL client_min_messages = warning")
    await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    # Only now: another migration is waited for as long as it takes.
    await connection.execute(f"SET LOCAL lock_timeout = {max(1, round(1000 * lock_timeout))}".encode())
    await _make_extension(connection, server)
    await connection.execute(_JOURNAL)
    waiting = await _waiting(connection)
    for migration in waiting:
        await apply_text(connection, migration.text)
        await connection.execute(
            "INSERT INTO graphsearch.migration (number, name, checksum) VALUES (%s, %s, %s)",
            (migration.number, migration.name, migration.checksum),
        )
    await make_app_role(connection, app_role, password)
    return [migration.name for migration in waiting]


async def _make_extension(connection: Connection, server: str) -> None:
    """Create pgvector if it is missing: on a cluster only a superuser may try."""
    version = "SELECT extversion FROM pg_catalog.pg_extension WHERE extname = %s"
    found = await _rows(connection, version, _EXTENSION)
    if not found:
        try:
            await connection.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(_EXTENSION)))
        except psycopg.errors.InsufficientPrivilege as error:
            raise MigrationError(
                f"{server} lacks the extension 'vector', and this role may not create it: a superuser must run "
                "CREATE EXTENSION vector there, then `graphsearch init` again"
            ) from error
        except psycopg.Error as error:
            raise MigrationError(
                f"{server} has no extension 'vector': install pgvector 0.8 or newer, then `graphsearch init` again"
            ) from error
        found = await _rows(connection, version, _EXTENSION)
    [(number,)] = found
    if tuple(int(part) for part in number.split(".")[:2]) < _VECTOR_VERSION:
        raise MigrationError(f"{server} has pgvector {number}: it must be 0.8 or newer (ALTER EXTENSION vector UPDATE)")


async def _rows(connection: Connection, query: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
    return await (await connection.execute(query, values or None)).fetchall()


# -- the schema ---------------------------------------------------------------------------------------------------

_TOKEN: Final = re.compile(r"'[^']*'|\"[^\"]*\"|(\$\w*\$).*?\1|--[^\n]*|[^'\"$;-]+|.", re.DOTALL)


async def apply_text(connection: Connection, text: str) -> None:
    """Run DDL in the schema of graphsearch, inside a transaction: one by one, for a cluster passes whole texts on."""
    await connection.execute("SET LOCAL search_path = graphsearch, public, extensions")
    for each in statements_of(text):
        await connection.execute(each.encode())


def statements_of(text: str) -> list[str]:
    """The statements of a text of DDL, which are separated by semicolons outside of strings, bodies and comments."""
    parts = [""]
    for token in _TOKEN.finditer(text):
        if token[0] == ";":
            parts.append("")
        elif not token[0].startswith("--"):
            parts[-1] += token[0]
    return [part.strip() for part in parts if part.strip()]


async def check_schema(connection: Connection) -> None:
    """Raise `MigrationError` unless the database has exactly the migrations of this version."""
    try:
        waiting = await _waiting(connection)
    except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege) as error:
        raise MigrationError(
            "this database was not prepared for graphsearch: run `graphsearch init` with the admin's DSN"
        ) from error
    if waiting:
        missing = ", ".join(migration.name for migration in waiting)
        raise MigrationError(f"this database lacks {missing}: run `graphsearch init` with the admin's DSN")


async def _waiting(connection: Connection) -> list[Migration]:
    """The migrations that were not applied. Raises `MigrationError` if one was that this version does not have."""
    known = {migration.number: migration for migration in migrations()}
    for number, name, checksum in await _rows(connection, _APPLIED):
        if (migration := known.pop(number, None)) is None:
            raise MigrationError(f"this database has {name}, of a newer graphsearch: update the package")
        if migration.checksum != checksum:
            raise MigrationError(
                f"{migration.name} is not what was applied to this database, which another version of graphsearch "
                "prepared; nothing was changed. To move its projects into a new database, use `graphsearch export` of "
                "that version and `graphsearch import` of this one; where it has no export, add their texts again"
            )
    return list(known.values())


# -- the app role -------------------------------------------------------------------------------------------------

_UNFIT: Final = "SELECT rolsuper OR rolbypassrls OR rolname = current_user FROM pg_catalog.pg_roles WHERE rolname = %s"
_GRANTS: Final[Sequence[tuple[int, LiteralString]]] = (
    (0, "GRANT CONNECT ON DATABASE {database} TO {role}"),
    (0, "GRANT USAGE ON SCHEMA graphsearch TO {role}"),
    (0, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA graphsearch TO {role}"),
    (0, "REVOKE INSERT, UPDATE, DELETE ON graphsearch.migration, graphsearch.vector_index FROM {role}"),
    (
        0,
        """REVOKE INSERT, UPDATE ON graphsearch.entity_embedding_part, graphsearch.relation_embedding_part,
            graphsearch.memory_embedding_part FROM {role}""",
    ),
    (0, "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA graphsearch FROM PUBLIC"),
    (
        0,
        """GRANT EXECUTE ON FUNCTION graphsearch.build_vector_index, graphsearch.keep_vector_index,
            graphsearch.extend_vector_index TO {role}""",
    ),
    (MAINTAIN_SINCE, "GRANT MAINTAIN ON ALL TABLES IN SCHEMA graphsearch TO {role}"),
)
"""The least version of the server, and the statement."""


async def make_app_role(connection: Connection, name: str, password: str | None) -> None:
    """Create the role if missing, and grant it exactly what the store needs.

    The password of a role that the admin may not alter stays as it is, with a warning. Raises `UnsafeRoleError` for the
    admin's own role, a superuser or a role with BYPASSRLS.
    """
    found = await _rows(connection, _UNFIT, name)
    if found == [(True,)]:
        raise UnsafeRoleError(f"{name!r} cannot be the app role: name one that is no superuser, no owner, no BYPASSRLS")
    role, database = sql.Identifier(name), sql.Identifier(connection.info.dbname)
    if not found:
        try:
            async with connection.transaction():
                await connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            pass  # roles belong to the whole server, and another database was migrated at the same moment
        except psycopg.errors.InsufficientPrivilege as error:
            raise MigrationError(
                f"there is no role {name}, and {connection.info.user} may not create it: a superuser must run "
                f"CREATE ROLE {name} LOGIN, then `graphsearch init` again"
            ) from error
    if password is not None:
        try:
            async with connection.transaction():
                await connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)))
        except psycopg.errors.InsufficientPrivilege:
            _log.warning("the password of role %s was left as it is: %s may not change it", name, connection.info.user)
    for since, grant in _GRANTS:
        if connection.info.server_version >= since:
            await connection.execute(sql.SQL(grant).format(role=role, database=database))


# -- whether a store can use it ------------------------------------------------------------------------------------

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
        [(secret,)] = await _rows(connection, _KEY)
        return cls(secret, pooled, distributed)


async def _is_pooled(connection: Connection) -> bool:
    """Whether there is a pooler in between, such as PgBouncer: each transaction may get another server process."""
    [(process,)] = await (await connection.execute("SELECT pg_catalog.pg_backend_pid()", prepare=False)).fetchall()
    return bool(process != connection.info.backend_pid)


async def _check_role(connection: Connection) -> None:
    """Raise `UnsafeRoleError` for a superuser, a role with BYPASSRLS, or a (member of the) owner of the tables."""
    [(name, *escapes)] = await _rows(connection, _CURRENT)
    why = [
        word for word, does in zip(("is a superuser", "has BYPASSRLS", "owns the tables"), escapes, strict=True) if does
    ]
    if why:
        raise UnsafeRoleError(
            f"the role {name!r} {' and '.join(why)}, so row-level security does not bind it: open the store with the "
            "DSN of the app role that `graphsearch init` makes"
        )


# -- the bytes of deleted rows -------------------------------------------------------------------------------------
# Postgres marks what is deleted; the bytes stay in its files until they are overwritten.

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


async def _drop_log(connection: Connection) -> None:
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


async def _recycle(connection: Connection, statement: sql.SQL | sql.Composed) -> None:
    await connection.execute(statement)
    await connection.execute("SELECT pg_reload_conf()")
