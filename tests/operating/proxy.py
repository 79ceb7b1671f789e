"""A proxy in front of a server that can stop forwarding, as a network does without closing connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import attrs
from psycopg.conninfo import conninfo_to_dict, make_conninfo


@attrs.define
class Proxy:
    """Forwards, unless it is stuck, and never closes a connection by itself."""

    dsn: str
    running: asyncio.Event = attrs.field(factory=asyncio.Event)
    held: bool = False
    """Whether something was sent since it is stuck."""
    _tasks: set[asyncio.Task[None]] = attrs.field(factory=set)
    _open: list[asyncio.StreamWriter] = attrs.field(factory=list)

    def stick(self) -> None:
        """Stop forwarding: what is sent is taken, and nothing comes back."""
        self.held = False
        self.running.clear()

    def resume(self) -> None:
        """Forward what connects from now on, and never again what is connected."""
        for task in self._tasks:
            task.cancel()
        self.running.set()

    async def serve(self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection, both ways."""
        there = await asyncio.open_unix_connection(address)
        self._open += [writer, there[1]]
        for one, other in ((reader, there[1]), (there[0], writer)):
            task = asyncio.ensure_future(self._forward(one, other))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                self.held = not self.running.is_set()
                await self.running.wait()
                writer.write(data)
                await writer.drain()
            writer.close()

    async def close(self) -> None:
        """Close all connections."""
        self.resume()
        for writer in self._open:
            writer.transport.abort()
        await asyncio.sleep(0)


@asynccontextmanager
async def proxied(dsn: str) -> AsyncIterator[Proxy]:
    """A proxy in front of the server of a DSN, which listens on a Unix socket."""
    parts = conninfo_to_dict(dsn)
    proxy = Proxy(dsn)
    address = f"{parts['host']}/.s.PGSQL.{parts.get('port') or 5432}"
    server = await asyncio.start_server(lambda *streams: proxy.serve(address, *streams), "127.0.0.1")
    proxy.dsn = make_conninfo(dsn, host="127.0.0.1", port=server.sockets[0].getsockname()[1])
    proxy.running.set()
    try:
        yield proxy
    finally:
        await proxy.close()
        server.close()
