"""Pipelining of a snapshot: statements that its tasks request at the same moment share a round trip."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, TypeAlias, TypeVar

import attrs
import psycopg

Connection: TypeAlias = psycopg.AsyncConnection[Any]
Row = TypeVar("Row")


@attrs.define(eq=False)
class _Asked:
    """A statement waiting to be sent, and its outcome."""

    cursor: psycopg.AsyncCursor[Any]
    query: bytes
    values: Any
    prepare: bool | None
    sent: bool = False
    error: Exception | None = None

    async def execute(self) -> None:
        await self.cursor.execute(self.query, self.values, prepare=self.prepare)


@attrs.define(eq=False)
class Sender:
    """Sends the statements of one connection, in the order of their requests."""

    connection: Connection
    _asked: list[_Asked] = attrs.field(factory=list)
    _turn: asyncio.Lock = attrs.field(factory=asyncio.Lock)

    async def execute(
        self, cursor: psycopg.AsyncCursor[Row], query: bytes, values: Any = None, *, prepare: bool | None = None
    ) -> psycopg.AsyncCursor[Row]:
        """The cursor with the result of a statement."""
        mine = _Asked(cursor, query, values, prepare)
        self._asked.append(mine)
        await asyncio.sleep(0)  # other tasks may be about to request theirs
        async with self._turn:
            if not mine.sent:
                await self._send()
        if mine.error is not None:
            raise mine.error
        return cursor

    def _pipeline(self) -> AbstractAsyncContextManager[Any]:
        """One round trip, unless the client library is older than PostgreSQL 14."""
        return self.connection.pipeline() if psycopg.AsyncPipeline.is_supported() else nullcontext()

    async def _send(self) -> None:
        """Send all that waits. A failure fails all of it: the transaction is aborted."""
        together, self._asked = self._asked, []
        error: Exception = psycopg.OperationalError("a statement that was sent with this one was cancelled")
        try:
            async with self._pipeline() if len(together) > 1 else nullcontext():
                for each in together:
                    await each.execute()
        except BaseException as raised:
            for each in together:
                each.error = raised if isinstance(raised, Exception) else error
            raise
        finally:
            for each in together:
                each.sent = True
