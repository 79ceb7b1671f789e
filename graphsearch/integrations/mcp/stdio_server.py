"""Serve over standard input and output, until the client closes its end or the server is stopped."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final, cast

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

_STANDARD_INPUT: Final = 0
_AHEAD: Final = 64
"""Maximum number of lines that are read ahead."""


async def serve_stdio(server: Server[Any], stop: asyncio.Event) -> None:
    """Serve one client, until it closes standard input or ``stop`` is set; running calls are cancelled then.

    Until then the process has no other standard input, and print output goes to standard error.
    """
    wire = os.dup(_STANDARD_INPUT)
    with open(os.devnull, "rb") as nothing:  # noqa: ASYNC230, PTH123 - not a file, and no child process may read from it
        os.dup2(nothing.fileno(), _STANDARD_INPUT)
    lines = Lines(wire)
    stopping = asyncio.ensure_future(stop.wait())
    stopping.add_done_callback(lambda _: lines.close())
    try:
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
            lines.close()
    finally:
        stopping.cancel()


class Lines:
    """The lines of a file descriptor, read by a daemon thread.

    The SDK's own reader cannot be stopped while a client is silent and keeps its end open.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        threading.Thread(target=self._read, name="standard input", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            self._room.release()
            yield line

    def close(self) -> None:
        """End the lines after those read so far."""
        self._lines.put_nowait(None)

    def _read(self) -> None:
        try:
            with suppress(OSError), open(self._descriptor, "rb", closefd=False) as wire:  # a terminal may hang up
                for line in (each for each in wire if each.endswith(b"\n")):
                    self._room.acquire()
                    self._loop.call_soon_threadsafe(self._lines.put_nowait, line[:-1].decode(errors="replace"))
            self._loop.call_soon_threadsafe(self.close)
        except RuntimeError:  # the loop has ended, and with it the consumer of the lines
            return
