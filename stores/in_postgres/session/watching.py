"""Connections that give up a server which does not answer, and that stay usable when a call is cancelled.

A host that disappears is noticed by TCP, within a minute by `keepalive`. A proxy that holds connections open but stops
forwarding looks alive to TCP: only the time without an answer shows it.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from graphsearch._support.concurrency import finished

Result = TypeVar("Result")

ANSWER_TIMEOUT: Final = 600.0
"""Default of the seconds to wait for the answer to one statement, the wait for the writers before it included."""
ANSWER_TIMEOUT_ON_CLUSTER: Final = 30.0
"""The default on a cluster."""
_KEEPALIVE: Final = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}


def keepalive(dsn: str) -> Mapping[str, int]:
    """The parameters by which TCP notices within a minute that a host is gone, except for those that a DSN states."""
    return {name: value for name, value in _KEEPALIVE.items() if name not in conninfo_to_dict(dsn)}


class WatchedConnection(psycopg.AsyncConnection[Any]):
    """A connection that is closed when the server does not answer for ``patience`` seconds."""

    patience: float | None = None
    gave_up: bool = False

    async def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Wait for the server. Raises `psycopg.OperationalError` after ``patience`` seconds."""
        if self.patience is None:
            return await super().wait(gen, *args, **options)
        watching = asyncio.get_running_loop().call_later(self.patience, _give_up, self)
        try:
            return await super().wait(gen, *args, **options)
        except psycopg.OperationalError as error:
            if self.gave_up:
                raise psycopg.OperationalError(f"no answer within {self.patience:g} s") from error
            raise
        finally:
            watching.cancel()


def _give_up(connection: psycopg.AsyncConnection[Any]) -> None:
    """Shut the socket down: whoever waits for it, even while being cancelled, finds it closed."""
    if isinstance(connection, WatchedConnection):
        connection.gave_up = True
    with suppress(OSError), socket.socket(fileno=os.dup(connection.pgconn.socket)) as stuck:
        stuck.shutdown(socket.SHUT_RDWR)


async def unbroken(sending: Coroutine[Any, Any, Result]) -> Result:
    """Send statements. Cancelled once, psycopg has the server end them; cancelled twice, it would close."""
    running = asyncio.ensure_future(sending)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        running.cancel()
        await finished(asyncio.wait([running]))
        raise


@contextmanager
def answered_within(connection: psycopg.AsyncConnection[Any], seconds: float | None) -> Iterator[None]:
    """Wait so long for each answer inside; None waits forever. Connections of a caller's pool wait as they do."""
    if not isinstance(connection, WatchedConnection):
        yield
        return
    before, connection.patience = connection.patience, seconds
    try:
        yield
    finally:
        connection.patience = before
