"""Settings of an embedded server, which takes none when it is started: they are written into its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import sql

from graphsearch.errors import StoreConfigurationError
from graphsearch.stores.in_postgres.faults import is_connection_fault, reason

Connection: TypeAlias = psycopg.Connection[Any]
"""Of the server's owner, without a transaction."""

SETTINGS: Final[Mapping[str, str]] = MappingProxyType({"wal_init_zero": "off"})
"""Those that every embedded server is given: it writes its log without filling every new file of it with zeros first,
16 MB for which a bulk write would stand still."""

_WRITTEN: Final = "SELECT lower(name), setting FROM pg_file_settings WHERE sourcefile LIKE '%/postgresql.auto.conf'"
_READ_AT_START: Final = "SELECT name FROM pg_settings WHERE context = 'postmaster' AND name = ANY(%s) ORDER BY name"


def configuration(folder: Path) -> Path:
    """The file in which a server with this data folder keeps what it was told."""
    return folder / "postgresql.auto.conf"


def untold(connection: Connection, settings: Mapping[str, str]) -> dict[str, str]:
    """Those of the settings that are not in the server's configuration yet."""
    written = dict(connection.execute(_WRITTEN).fetchall())
    return {name: value for name, value in settings.items() if written.get(name.lower()) != value}


def read_at_start(connection: Connection, settings: Mapping[str, str]) -> list[str]:
    """The names of those that a server reads only when it starts."""
    found = connection.execute(_READ_AT_START, [[name.lower() for name in settings]])
    return [name for (name,) in found.fetchall()]


def tell(connection: Connection, settings: Mapping[str, str]) -> None:
    """Write settings into the server's configuration, and have it read them, but for those it reads when it starts.

    Raises `StoreConfigurationError` for the first that the server refuses.
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
