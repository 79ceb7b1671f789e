"""Connections that give up a server which does not answer, and that stay usable when a call is cancelled.

A host that disappears is noticed by TCP, within a minute by `keepalive`. A proxy that holds connections open but stops
forwarding looks alive to TCP: only the time without an answer shows it.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from graphsearch._support.concurrency import finished

Result = TypeVar("Result")

ANSWER_TIMEOUT: Final = 600.0
"""Default of the seconds to wait for the answer to one statement, the wait for the writers before it included."""
_KEEPALIVE: Final = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}


def keepalive(dsn: str) -> Mapping[str, int]:
    """The parameters by which TCP notices within a minute that a host is gone, except for those that a DSN states."""
    return {name: value for name, value in _KEEPALIVE.items() if name not in conninfo_to_dict(dsn)}


_GRACE: Final = (0.05, 1.0, 1.0, 1.0, 1.0, 1.0)
"""The seconds for which cancelled statements may end by themselves, and then after each request to the server."""


class WatchedConnection(psycopg.AsyncConnection[Any]):
    """A connection that is closed when the server does not answer for ``patience`` seconds."""

    patience: float | None = None
    gave_up: bool = False

    async def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Wait for the server. Raises `psycopg.OperationalError` after ``patience`` seconds."""
        if self.patience is None:
            return await super().wait(gen, *args, **options)
        watching = asyncio.get_running_loop().call_later(self.patience, self._give_up)
        try:
            return await super().wait(gen, *args, **options)
        except psycopg.OperationalError as error:
            if self.gave_up:
                raise psycopg.OperationalError(f"no answer within {self.patience:g} s") from error
            raise
        finally:
            watching.cancel()

    def _give_up(self) -> None:
        """Shut the socket down: whoever waits for it, even while being cancelled, finds it closed."""
        self.gave_up = True
        _hang_up(self)


def _hang_up(connection: psycopg.AsyncConnection[Any]) -> None:
    with suppress(OSError), socket.socket(fileno=os.dup(connection.pgconn.socket)) as stuck:
        stuck.shutdown(socket.SHUT_RDWR)


def round_trip(connection: psycopg.AsyncConnection[Any]) -> AbstractAsyncContextManager[Any]:
    """Send statements together, unless the client library is older than PostgreSQL 14; inside `unbroken` alone."""
    return connection.pipeline() if psycopg.AsyncPipeline.is_supported() else nullcontext()


async def unbroken(connection: psycopg.AsyncConnection[Any], sending: Coroutine[Any, Any, Result]) -> Result:
    """Run what would leave a connection unusable if it stopped halfway, as leaving a pipeline does.

    When the task is cancelled the server is asked to end the statements, and the cancellation is raised when all is
    over.
    """
    running = asyncio.ensure_future(sending)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await finished(asyncio.ensure_future(_end(connection, running)))
        raise


async def _end(connection: psycopg.AsyncConnection[Any], running: asyncio.Future[Any]) -> None:
    for seconds in _GRACE:
        await asyncio.wait([running], timeout=seconds)
        if running.done():
            break
        with suppress(psycopg.Error):  # asked again, or given up
            await connection.cancel_safe(timeout=1.0)
    else:
        _hang_up(connection)
    await asyncio.gather(running, return_exceptions=True)


async def make_idle(connection: psycopg.AsyncConnection[Any], seconds: float) -> None:
    """Roll back what is unfinished, or close the connection: what goes back to a pool is used by others."""
    pgconn = connection.pgconn
    try:
        if not pgconn.pipeline_status and pgconn.transaction_status in _UNFINISHED:
            with answered_within(connection, seconds), suppress(psycopg.Error):
                await connection.rollback()
    finally:
        if pgconn.pipeline_status or pgconn.transaction_status != TransactionStatus.IDLE:
            pgconn.finish()


_UNFINISHED: Final = (TransactionStatus.INTRANS, TransactionStatus.INERROR)


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
