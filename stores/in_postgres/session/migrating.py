"""A database made ready: numbered migrations, applied once each under a lock, and two roles.

An admin owns the tables; the app role owns and bypasses nothing.
"""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files
from typing import Any, Final

import attrs
import psycopg
from psycopg import sql

from graphsearch.errors import MigrationError, MigrationLockError, StoreConfigurationError, UnsafeRoleError
from graphsearch.model import validation
from graphsearch.stores.in_postgres.session.distributing import distribute, is_to_distribute
from graphsearch.stores.in_postgres.session.faults import describe, translated

_CURRENT: Final = """
SELECT current_user, rolsuper, rolbypassrls, EXISTS (
    SELECT FROM pg_catalog.pg_class c
    WHERE c.relnamespace = pg_catalog.to_regnamespace('graphsearch')
        AND pg_catalog.pg_has_role(current_user, c.relowner, 'USAGE')
)
FROM pg_catalog.pg_roles WHERE rolname = current_user
"""
_UNFIT: Final = "SELECT rolsuper OR rolbypassrls OR rolname = current_user FROM pg_catalog.pg_roles WHERE rolname = %s"

MAINTAIN_SINCE: Final = 170_000
"""The first server version in which a role other than the owner can be allowed to analyse tables."""


def check_encoding(connection: psycopg.AsyncConnection[Any]) -> None:
    """Raise `StoreConfigurationError` for a connection that is not in UTF-8, which could not carry every text."""
    if connection.info.encoding != "utf-8":
        raise StoreConfigurationError(
            f"the connection's encoding is {connection.info.encoding}: make the pool with "
            "kwargs={'client_encoding': 'utf8'}, or leave client_encoding out of the DSN and of PGCLIENTENCODING"
        )


async def is_pooled(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Whether there is a pooler in between, such as PgBouncer: each transaction may get another server process."""
    row = await (await connection.execute("SELECT pg_catalog.pg_backend_pid()", prepare=False)).fetchone()
    return row != (connection.info.backend_pid,)


async def check_app_role(connection: psycopg.AsyncConnection[Any]) -> None:
    """Raise `UnsafeRoleError` for a superuser, a role with BYPASSRLS, or a (member of the) owner of the tables."""
    name, superuser, bypasses, owns = await (await connection.execute(_CURRENT)).fetchone() or ("", True, True, True)
    why = [
        word
        for word, applies in (("is a superuser", superuser), ("has BYPASSRLS", bypasses), ("owns the tables", owns))
        if applies
    ]
    if why:
        raise UnsafeRoleError(
            f"the role {name!r} {' and '.join(why)}, so row-level security does not bind it: open the store with the "
            "DSN of the app role that `graphsearch init` makes"
        )


async def make_app_role(connection: psycopg.AsyncConnection[Any], name: str, password: str | None) -> None:
    """Create the role if missing, and grant it exactly what the store needs.

    Raises `UnsafeRoleError` for the admin's own role, a superuser or a role with BYPASSRLS.
    """
    found = await (await connection.execute(_UNFIT, (name,))).fetchone()
    if found and found[0]:
        raise UnsafeRoleError(f"{name!r} cannot be the app role: name one that is no superuser, no owner, no BYPASSRLS")
    role = sql.Identifier(name)
    if not found:
        try:
            async with connection.transaction():
                await connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            pass  # roles belong to the whole server, and another database was migrated at the same moment
    if password is not None:
        await connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)))
    database = sql.Identifier(connection.info.dbname)
    grants = (*_GRANTS, *(_GRANTS_FROM_17 if connection.info.server_version >= MAINTAIN_SINCE else ()))
    for grant in grants:
        await connection.execute(sql.SQL(grant).format(role=role, database=database))


_GRANTS: Final = (
    "GRANT CONNECT, TEMPORARY ON DATABASE {database} TO {role}",
    "GRANT USAGE ON SCHEMA graphsearch TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA graphsearch TO {role}",
    "REVOKE INSERT, UPDATE, DELETE ON graphsearch.migration, graphsearch.vector_index FROM {role}",
    """REVOKE INSERT, UPDATE ON graphsearch.entity_embedding_part, graphsearch.relation_embedding_part,
        graphsearch.memory_embedding_part FROM {role}""",
    "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA graphsearch FROM PUBLIC",
    """GRANT EXECUTE ON FUNCTION graphsearch.build_vector_index, graphsearch.keep_vector_index,
        graphsearch.extend_vector_index, graphsearch.forget_vector_index TO {role}""",
)
_GRANTS_FROM_17: Final = ("GRANT MAINTAIN ON ALL TABLES IN SCHEMA graphsearch TO {role}",)


LOCK_TIMEOUT: Final = 10.0
"""Default number of seconds to wait for a table in use."""
_LOCK: Final = 7_226_904_117_384_551_301
_EXTENSION: Final = "CREATE EXTENSION IF NOT EXISTS vector"
_VECTOR_VERSION: Final = (0, 8)
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
    return sorted(
        (Migration(int(file.name.split("_")[0]), file.name, file.read_text(encoding="utf-8")) for file in found),
        key=lambda migration: migration.number,
    )


async def migrate(
    admin_dsn: str,
    *,
    app_role: str,
    app_password: str | None = None,
    lock_timeout: float = LOCK_TIMEOUT,
    distributed: bool = False,
) -> list[str]:
    """Bring a database to this version's schema and create the app role; return the names of the applied migrations.

    Safe to repeat and to run from several processes at once: all of it is one transaction. ``lock_timeout`` is the
    number of seconds to wait for each lock of a table in use, while whoever comes later waits behind.

    ``distributed`` then distributes the tables over the nodes of a cluster of Citus, each in a transaction of its own;
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
            try:
                return await _migrate(connection, server, app_role, app_password, lock_timeout, distributed=distributed)
            except psycopg.errors.LockNotAvailable as error:
                raise MigrationLockError(
                    f"{server}: a table was in use for longer than {lock_timeout:g} s, and nothing was changed: try "
                    "again when no long transaction runs, or with a longer --lock-timeout"
                ) from error


async def _migrate(
    connection: psycopg.AsyncConnection[Any],
    server: str,
    app_role: str,
    password: str | None,
    lock_timeout: float,
    *,
    distributed: bool,
) -> list[str]:
    in_cluster = await is_to_distribute(connection, requested=distributed)
    if in_cluster:  # until the end: distributing takes several transactions
        await connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
    async with connection.transaction():
        await connection.execute("SET TRANSACTION READ WRITE")
        await connection.execute("SET LOCAL client_min_messages = warning")
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        # Only now: another migration is waited for as long as it takes.
        await connection.execute(f"SET LOCAL lock_timeout = {max(1, round(1000 * lock_timeout))}".encode())
        await _make_extension(connection, server)
        await _check_vector(connection, server)
        await connection.execute(_JOURNAL)
        applied = await _apply(connection, migrations())
        await make_app_role(connection, app_role, password)
    if in_cluster:
        await distribute(connection)  # last, since shards are made with the grants of their table
    return applied


async def _make_extension(connection: psycopg.AsyncConnection[Any], server: str) -> None:
    try:
        await connection.execute(_EXTENSION)
    except psycopg.errors.InsufficientPrivilege as error:
        raise MigrationError(
            f"{server} lacks the extension 'vector', and this role may not create it: a superuser must run "
            "CREATE EXTENSION vector there, then `graphsearch init` again"
        ) from error
    except psycopg.Error as error:
        raise MigrationError(
            f"{server} has no extension 'vector': install pgvector 0.8 or newer there, then `graphsearch init` again"
        ) from error


async def _check_vector(connection: psycopg.AsyncConnection[Any], server: str) -> None:
    """iterative_scan requires pgvector 0.8."""
    row = await (
        await connection.execute("SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'vector'")
    ).fetchone()
    version = str(row[0]) if row else "0"
    if tuple(int(part) for part in version.split(".")[:2]) < _VECTOR_VERSION:
        raise MigrationError(
            f"{server} has pgvector {version}: it must be 0.8 or newer (ALTER EXTENSION vector UPDATE)"
        )


_TOKEN: Final = re.compile(r"'[^']*'|\"[^\"]*\"|(\$\w*\$).*?\1|--[^\n]*|[^'\"$;-]+|.", re.DOTALL)


async def _apply(connection: psycopg.AsyncConnection[Any], known: list[Migration]) -> list[str]:
    done = await _applied(connection)
    _compare(done, known)
    waiting = [migration for migration in known if migration.number not in done]
    for migration in waiting:
        await apply_text(connection, migration.text)
        await connection.execute(
            "INSERT INTO graphsearch.migration (number, name, checksum) VALUES (%s, %s, %s)",
            (migration.number, migration.name, migration.checksum),
        )
    return [migration.name for migration in waiting]


async def apply_text(connection: psycopg.AsyncConnection[Any], text: str) -> None:
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


async def check_schema(connection: psycopg.AsyncConnection[Any]) -> None:
    """Raise `MigrationError` unless the database has exactly the migrations of this version."""
    try:
        done = await _applied(connection)
    except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege) as error:
        raise MigrationError(
            "this database was not prepared for graphsearch: run `graphsearch init` with the admin's DSN"
        ) from error
    known = migrations()
    _compare(done, known)
    missing = [migration.name for migration in known if migration.number not in done]
    if missing:
        raise MigrationError(f"this database lacks {', '.join(missing)}: run `graphsearch init` with the admin's DSN")


async def _applied(connection: psycopg.AsyncConnection[Any]) -> dict[int, tuple[str, str]]:
    rows = await (await connection.execute("SELECT number, name, checksum FROM graphsearch.migration")).fetchall()
    return {number: (name, checksum) for number, name, checksum in rows}


def _compare(done: dict[int, tuple[str, str]], known: list[Migration]) -> None:
    mine = {migration.number: migration for migration in known}
    for number, (name, checksum) in sorted(done.items()):
        if number not in mine:
            raise MigrationError(f"this database has {name}, of a newer graphsearch: update the package")
        if mine[number].checksum != checksum:
            raise MigrationError(
                f"{mine[number].name} is not what was applied to this database, which another version of graphsearch "
                "prepared; nothing was changed. To move its projects into a new database, use `graphsearch export` of "
                "that version and `graphsearch import` of this one; where it has no export, add their texts again"
            )
