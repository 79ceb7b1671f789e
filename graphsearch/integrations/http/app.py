"""The application: MCP and REST behind one door, for clients with bearer tokens; and how it is served.

The door says which hosts and pages may ask, and how long they may take to say what.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Collection, Iterable, Sequence
from ipaddress import ip_address
from typing import Any, Final

import uvicorn
from mcp.server import Server
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Send

from graphsearch.errors import InvalidInputError
from graphsearch.integrations.http.rest import LARGEST
from graphsearch.integrations.http.tokens import Bearers
from graphsearch.model import validation as check
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


# -- the door ---------------------------------------------------------------------------------------------------------

PATH: Final = "/mcp"
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_ISSUER: Final = AnyHttpUrl("http://localhost")
"""A placeholder for the issuer of tokens, which the SDK requires; never published: tokens cannot be requested."""
_GRACE: Final = 3
"""Grace period for running requests when the server stops, in seconds."""


def address(text: str) -> tuple[str, int]:
    """Parse ``HOST:PORT``; an IPv6 host is in brackets. Raises `InvalidInputError`."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise InvalidInputError("address", [f"must be HOST:PORT, as in 127.0.0.1:8000, not {text!r}"])
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether a host is reachable from this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def http_app(
    server: Server[Any],
    *,
    host: str,
    routes: Iterable[Route] = (),
    tokens: Bearers | None = None,
    issuer: str = "",
    resource: str = "",
    allowed_hosts: Sequence[str] = (),
    max_sessions: int = 1_000,
    body_seconds: float = 30,
) -> Starlette:
    """An ASGI application that serves MCP at ``/mcp``, and ``routes`` (`graphsearch.integrations.http.rest`) beside it.

    With ``tokens``, requests without a valid token get 401. With ``issuer`` and ``resource``, the URLs of the
    authorization server and of this one, it publishes OAuth's metadata of a protected resource (RFC 9728), as the
    specification of MCP says; ``tokens`` then is a verifier of your own for that server's tokens.

    The Host and Origin headers of a request must name this machine, ``host``, or one of ``allowed_hosts`` (names, of
    which one without a port allows any), so that requests forged by web pages are refused. A client that takes longer
    than ``body_seconds`` to send a request gets 408; beyond ``max_sessions`` nobody opens one (503) until others end,
    which they do after half an hour without a request. Raises `InvalidInputError` for a host reachable from other
    machines without ``tokens``, and for an allowed host that is none.
    """
    check.refuse(
        "server",
        None if tokens or is_loopback(host) else f"{host} can be reached from elsewhere: give tokens",
        None if bool(issuer) == bool(resource) else "issuer and resource come together",
        None if tokens or not issuer else "issuer and resource come with tokens, which verify what it issued",
    )
    bracketed = f"[{host}]" if ":" in host else host
    hosts = frozenset(each.lower() for each in (*_LOOPBACK, bracketed, *allowed_hosts))
    wrong = [each for each in hosts if not HOST.fullmatch(each)]
    check.refuse("server", *(f"{each!r} is no host: give a name, as in graphs.example" for each in wrong))
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        max_request_body_size=LARGEST,
        auth=None
        if tokens is None
        else AuthSettings(
            issuer_url=AnyHttpUrl(issuer) if issuer else _ISSUER,
            resource_server_url=AnyHttpUrl(resource) if resource else None,
            validate_token_resource=bool(resource),
        ),
        token_verifier=tokens,
        max_sessions=max_sessions,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # `Doorkeeper` does it
    )
    app.router.redirect_slashes = False  # a redirect would name the scheme and the port from behind a proxy
    app.add_middleware(Doorkeeper, hosts=hosts, body_seconds=body_seconds)
    (served,) = (route for route in app.routes if isinstance(route, Route) and route.path == PATH)
    app.routes.append(Route(f"{PATH}/", served.endpoint))
    app.routes.extend(routes)
    return app


async def serve_http(
    app: Starlette, host: str, port: int, stop: asyncio.Event, *, started: Callable[[str], None]
) -> None:
    """Serve until ``stop`` is set. Port 0 is any free port; ``started`` is called with the URL.

    Raises `InvalidInputError` for an address that cannot be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise InvalidInputError(
            "address",
            [f"{host}:{port} cannot be had: {error.strerror or error}; give another, as in --http {host}:{port + 1}"],
        ) from error
    config = uvicorn.Config(
        app, log_config=None, log_level="warning", access_log=False, timeout_graceful_shutdown=_GRACE
    )
    serving = uvicorn.Server(config)
    stopping = asyncio.ensure_future(stop.wait())
    stopping.add_done_callback(lambda _: setattr(serving, "should_exit", True))
    with listening:
        name = f"[{host}]" if family == socket.AF_INET6 else host
        started(f"http://{name}:{listening.getsockname()[1]}{PATH}")
        try:
            await serving.serve(sockets=[listening])
        finally:
            stopping.cancel()
