"""Numbered migrations, applied once each under a lock, with their checksums stored in the database."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import Any, Final

import attrs
import psycopg

from graphsearch.errors import MigrationError
from graphsearch.stores.in_postgres.session.faults import describe, translated
from graphsearch.stores.in_postgres.session.roles import make_app_role

_LOCK: Final = 7_226_904_117_384_551_301
_EXTENSION: Final = "CREATE EXTENSION IF NOT EXISTS vector"
_TRIGRAMS: Final = "CREATE EXTENSION IF NOT EXISTS pg_trgm"
_VECTOR_VERSION: Final = (0, 8)
_JOURNAL: Final = """
CREATE SCHEMA IF NOT EXISTS graphsearch;
CREATE TABLE IF NOT EXISTS graphsearch.migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
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


async def migrate(admin_dsn: str, *, app_role: str, app_password: str | None = None) -> list[str]:
    """Bring a database to this version's schema and create the app role; return the names of the applied migrations.

    Safe to repeat and to run from several processes at once. Raises `MigrationError` when a migration that was
    applied has changed since or is of a newer version, `UnsafeRoleError` for an app role that would not be bound by
    row-level security, and `StoreUnavailableError` when the server cannot be reached.
    """
    server = describe(admin_dsn)
    with translated(server):
        async with await psycopg.AsyncConnection.connect(admin_dsn, autocommit=True, connect_timeout=10) as connection:
            await connection.execute("SET client_min_messages = warning")
            await connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
            await _make_extensions(connection, server)
            await _check_vector(connection, server)
            await connection.execute(_JOURNAL)
            applied = await _apply(connection, migrations())
            await make_app_role(connection, app_role, app_password)
            return applied


async def _make_extensions(connection: psycopg.AsyncConnection[Any], server: str) -> None:
    for name, statement, source in (
        ("vector", _EXTENSION, "pgvector 0.8 or newer"),
        ("pg_trgm", _TRIGRAMS, "the contrib modules of Postgres"),
    ):
        try:
            await connection.execute(statement)
        except psycopg.Error as error:
            raise MigrationError(
                f"{server} has no extension {name!r}: install {source} there, then `graphsearch init` again"
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


async def _apply(connection: psycopg.AsyncConnection[Any], known: list[Migration]) -> list[str]:
    done = await _applied(connection)
    _compare(done, known)
    waiting = [migration for migration in known if migration.number not in done]
    async with connection.transaction():
        for migration in waiting:
            await apply_text(connection, migration.text)
            await connection.execute(
                "INSERT INTO graphsearch.migration (number, name, checksum) VALUES (%s, %s, %s)",
                (migration.number, migration.name, migration.checksum),
            )
    return [migration.name for migration in waiting]


async def apply_text(connection: psycopg.AsyncConnection[Any], text: str) -> None:
    """Run DDL in the schema of graphsearch, inside a transaction."""
    await connection.execute("SET LOCAL search_path = graphsearch, public, extensions")
    await connection.execute(text.encode())


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
                f"{mine[number].name} is not what was applied to this database: install the version of graphsearch "
                "that ran `graphsearch init` here, and put changes into a new migration"
            )
