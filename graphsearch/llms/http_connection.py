"""The HTTP connection under the vendors' clients. Imported at the first request, since it needs their extras.

Unlike their own connections it limits the length of an answer, and never sends a key to another host.
"""

from __future__ import annotations

import functools
import ssl
from collections.abc import AsyncIterator
from typing import Final, cast

import httpx2

LONGEST_ANSWER: Final = 16 * 1024 * 1024
"""Largest answer, in bytes."""


class UnreadableAnswerError(httpx2.RequestError):
    """An answer that is too long or compressed; a retry does not help."""


InvalidURL = httpx2.InvalidURL  # the one error that the vendors' clients do not wrap


@functools.cache
def tls() -> ssl.SSLContext:
    """The trusted certificates, cached, since reading them takes a tenth of a second."""
    return httpx2.create_ssl_context()


def connection() -> httpx2.AsyncClient:
    """A connection for one request, through the proxies of the environment.

    It follows no redirects, which would send the key to another host, and requests uncompressed answers, so that none
    can exceed the limit after decompression.
    """
    return httpx2.AsyncClient(
        verify=tls(), timeout=None, headers={"Accept-Encoding": "identity"}, event_hooks={"response": [_bound]}
    )


async def _bound(response: httpx2.Response) -> None:
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnreadableAnswerError("the answer is compressed, although an uncompressed one was requested")
    response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream))


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = LONGEST_ANSWER
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise UnreadableAnswerError(f"the answer is longer than {LONGEST_ANSWER} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
