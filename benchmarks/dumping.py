"""The bare cost of moving: COPY of every table of a database to files, and from these into new tables."""

from __future__ import annotations

from pathlib import Path
from typing import Final, LiteralString

import psycopg
from psycopg import sql

_TABLES: Final = """
SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = 'graphsearch' AND relkind = 'r' ORDER BY 1
"""
_PIECE: Final = 1 << 20


def dump(dsn: str, folder: Path) -> int:
    """Write each table of the admin's database to a file of its name in a new folder; return their bytes."""
    folder.mkdir()
    with psycopg.connect(dsn) as connection:
        for (table,) in connection.execute(_TABLES).fetchall():
            copying = _statement("COPY graphsearch.{} TO STDOUT (FORMAT binary)", table)
            with folder.joinpath(table).open("wb") as file, connection.cursor().copy(copying) as rows:
                for part in rows:
                    file.write(part)
    return sum(file.stat().st_size for file in folder.iterdir())


def load(dsn: str, folder: Path) -> None:
    """Fill new tables, with the same columns and indexes, from the files of `dump`; they are dropped at the end."""
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE SCHEMA bare")
        for file in sorted(folder.iterdir()):
            like = "CREATE TABLE bare.{0} (LIKE graphsearch.{0} INCLUDING ALL)"
            connection.execute(_statement(like, file.name))
            copying = _statement("COPY bare.{} FROM STDIN (FORMAT binary)", file.name)
            with file.open("rb") as given, connection.cursor().copy(copying) as rows:
                while part := given.read(_PIECE):
                    rows.write(part)
        connection.commit()
        connection.execute("DROP SCHEMA bare CASCADE")


def _statement(text: LiteralString, table: str) -> sql.Composed:
    return sql.SQL(text).format(sql.Identifier(table))
