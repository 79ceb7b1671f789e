"""A database made ready: numbered migrations, applied once each under a lock, and two roles.

An admin owns the tables; the app role owns and bypasses nothing.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final, LiteralString

import attrs
import psycopg
from psycopg import sql

from graphsearch.errors import MigrationError, MigrationLockError, UnsafeRoleError
from graphsearch.model import validation
from graphsearch.stores.in_postgres.session.distributing import distribute, is_to_distribute
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
    return await (await connection.execute(query, values)).fetchall()


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
