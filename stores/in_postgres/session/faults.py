"""Errors of psycopg, mapped to graphsearch's errors with their cause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolClosed, PoolTimeout

from graphsearch.errors import ReadOnlyStoreError, StoreConfigurationError, StoreError, StoreUnavailableError

_CONNECTION_STATES: Final = ("08", "57P", "53300")
_CONFLICTS: Final = ("40001", "40P01")
_REFUSED_WRITES: Final = ("25006", "42501")
"""The transaction is read-only, or the role has no privilege."""
_WORKER: Final = re.compile(r"remote node (?:\S+@)?([^\s@]+:\d+)")
_IN_CLUSTER: Final = ("could not find valid entry for shard", "results from command 'COMMIT'")
"""A shard has just been moved to another node; a worker went while a transaction was committed."""


@contextmanager
def translated(server: str, *, writing: bool = False) -> Iterator[None]:
    """Raise errors of psycopg as `StoreUnavailableError` or `StoreError`; ``server`` is its description.

    While ``writing``, what is refused because the server or the role is read-only raises `ReadOnlyStoreError`.
    """
    try:
        yield
    except PoolClosed as error:
        raise StoreUnavailableError(f"the store on {server} is closed: open it again") from error
    except PoolTimeout as error:
        raise StoreUnavailableError(
            f"no connection to {server} became free or could be made in time: check that the server runs, "
            "that it accepts more connections, and that the pool is large enough"
        ) from error
    except psycopg.Error as error:
        if worker := _WORKER.search(f"{error.diag.message_primary or error} {error.diag.message_detail}"):
            raise StoreUnavailableError(
                f"{server} cannot reach its worker {worker[1]}: check that this runs; the organisations of the others "
                f"are not concerned ({reason(error)})"
            ) from error
        if any(words in reason(error) for words in _IN_CLUSTER):
            raise StoreUnavailableError(
                f"{server} lost a transaction, for a node or a shard of its cluster was not where it had been: look "
                f"whether it took effect, and try again ({reason(error)})"
            ) from error
        if is_connection_fault(error):
            raise StoreUnavailableError(
                f"{server} cannot be reached: check that it runs, the DSN and the password ({reason(error)})"
            ) from error
        if error.sqlstate in _CONFLICTS:
            raise StoreUnavailableError(
                f"{server} cancelled a transaction that was in another's way: try again; on a standby, "
                f"hot_standby_feedback = on prevents it ({reason(error)})"
            ) from error
        on_standby = error.sqlstate == "0A000" and "recovery" in reason(error)  # the state says only "unsupported"
        if writing and (error.sqlstate in _REFUSED_WRITES or on_standby):
            raise ReadOnlyStoreError(
                f"{server} can only be read here: write through the primary, as the app role that `graphsearch init` "
                f"makes; to build context blocks without a log, pass log=None ({reason(error)})"
            ) from error
        raise StoreError(f"{server} refused a statement: {reason(error)}") from error


def is_connection_fault(error: psycopg.Error) -> bool:
    """Whether the connection failed, not a statement."""
    state = error.sqlstate
    if state is None:
        return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
    return state.startswith((*_CONNECTION_STATES, "28", "3D000"))


def reason(error: psycopg.Error) -> str:
    """The server's message, on one line."""
    return " ".join((error.diag.message_primary or str(error)).split())


def describe(dsn: str) -> str:
    """The server and database of a DSN, without user or password.

    Raises `StoreConfigurationError` for an invalid DSN; libpq's message is withheld, for it may quote the password.
    """
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        raise StoreConfigurationError(
            "that is no DSN: write postgresql://user:password@host:5432/database, special characters percent-encoded"
        ) from None
    where = parts.get("host") or parts.get("hostaddr") or "the default host"
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"Postgres at {where}{port}, database {parts.get('dbname') or 'of the user'}"
