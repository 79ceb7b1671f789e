"""The door: which hosts and pages may ask, and how long they may take to say what."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Send

from graphsearch.text.rendering import safe_text

OPEN_PATHS: Final = frozenset({"/health", "/healthz", "/readyz"})
"""Asked by probes, which name any host."""
HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::[0-9]{1,5})?")
"""A host in lower case, as in the header: a name or an address, and maybe a port."""


class Doorkeeper:
    """Refuses requests for other hosts or by pages of others, and those whose body takes too long; not for health."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], body_seconds: float) -> None:
        self._app, self._hosts, self._body_seconds = app, hosts, body_seconds

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        origins = [origin.lower().partition("://") for origin in headers.getlist("origin") if origin]
        if [self._knows(each) for each in headers.getlist("host")] != [True]:
            name = safe_text(re.sub(r":[0-9]*\Z", "", headers.get("host", "")))[:200]
            refusal = f"Invalid Host header: to answer to that name, start the server with --allow-host {name}"
            return await PlainTextResponse(refusal, 421)(scope, receive, send)
        if not all(scheme in {"http", "https"} and self._knows(host) for scheme, _, host in origins):
            return await PlainTextResponse("Invalid Origin header", 403)(scope, receive, send)
        loop = asyncio.get_running_loop()
        deadline: float | None = loop.time() + self._body_seconds

        async def timely() -> Message:
            nonlocal deadline
            if deadline is None:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), deadline - loop.time())
            except TimeoutError:
                raise _SlowBodyError from None
            deadline = deadline if message.get("more_body") else None
            return message

        try:
            await self._app(scope, timely, send)
        except _SlowBodyError:  # the body is read before anything is answered
            await PlainTextResponse("Request body took too long", 408, {"connection": "close"})(scope, receive, send)

    def _knows(self, host: str) -> bool:
        """Whether a host, as a header names it, is allowed: with its port, or as a name with any."""
        found = HOST.fullmatch(host.lower())
        return found is not None and (found[0] in self._hosts or found[1] in self._hosts)


class _SlowBodyError(Exception):
    """The body of a request did not come in time."""
