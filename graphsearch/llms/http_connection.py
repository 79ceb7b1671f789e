"""The HTTP connection under the vendors' clients. Imported when a model is first asked, since it needs their extras.

It bounds what their own connections do not: the length of an answer, and where a key is sent.
"""

from __future__ import annotations

import functools
import ssl
from collections.abc import AsyncIterator
from typing import Final, cast

import httpx2

LONGEST_ANSWER: Final = 16 * 1024 * 1024
"""Bytes of an answer that are read."""


class UnreadableAnswerError(httpx2.RequestError):
    """An answer that is not read on; trying again will not help."""


InvalidURL = httpx2.InvalidURL  # the one error that the vendors' clients let pass without wrapping it


@functools.cache
def tls() -> ssl.SSLContext:
    """The certificates that are trusted; made once, since reading them takes a tenth of a second."""
    return httpx2.create_ssl_context()


def connection() -> httpx2.AsyncClient:
    """A connection for one request, through the proxies that the environment names.

    It follows no redirects, which would take a key along to another host, and asks for plain answers, so that none
    grows when it is unpacked.
    """
    return httpx2.AsyncClient(
        verify=tls(), timeout=None, headers={"Accept-Encoding": "identity"}, event_hooks={"response": [_bound]}
    )


async def _bound(response: httpx2.Response) -> None:
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnreadableAnswerError("the answer is compressed, although a plain one was asked for")
    response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream))


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        room = LONGEST_ANSWER
        async for chunk in self._stream:
            room -= len(chunk)
            if room < 0:
                raise UnreadableAnswerError(f"the answer is longer than {LONGEST_ANSWER} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
