"""Settings of an embedded server: it accepts none at its start, so they are written into its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import sql

from graphsearch.errors import StoreConfigurationError
from graphsearch.stores.in_postgres.session.faults import is_connection_fault, reason

Connection: TypeAlias = psycopg.Connection[Any]
"""A connection of the server's owner, in autocommit."""

SETTINGS: Final[Mapping[str, str]] = MappingProxyType({"wal_init_zero": "off"})
"""Settings of every embedded server: it does not fill new log files with zeros first, 16 MB each, which would stall
bulk writes.
"""

_WRITTEN: Final = "SELECT lower(name), setting FROM pg_file_settings WHERE sourcefile LIKE '%/postgresql.auto.conf'"
_READ_AT_START: Final = "SELECT name FROM pg_settings WHERE context = 'postmaster' AND name = ANY(%s) ORDER BY name"


def configuration(folder: Path) -> Path:
    """The file in which a server with this data folder keeps its settings."""
    return folder / "postgresql.auto.conf"


def changed_settings(connection: Connection, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings that differ from the server's configuration."""
    written = dict(connection.execute(_WRITTEN).fetchall())
    return {name: value for name, value in settings.items() if written.get(name.lower()) != value}


def read_at_start(connection: Connection, settings: Mapping[str, str]) -> list[str]:
    """The names of the settings that a server reads only at its start."""
    found = connection.execute(_READ_AT_START, [[name.lower() for name in settings]])
    return [name for (name,) in found.fetchall()]


def apply_settings(connection: Connection, settings: Mapping[str, str]) -> None:
    """Write settings into the server's configuration and reload it; settings read only at the start stay pending.

    Raises `StoreConfigurationError` for the first setting that the server refuses.
    """
    for name, value in settings.items():
        setting = sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(*name.split(".")), sql.Literal(value))
        try:
            connection.execute(setting)
        except psycopg.Error as error:
            if is_connection_fault(error):
                raise
            raise StoreConfigurationError(f"the setting {name} = {value!r}: {reason(error)}") from error
    reload(connection)


def reload(connection: Connection) -> None:
    """Have the server read its configuration again."""
    connection.execute("SELECT pg_reload_conf()")
