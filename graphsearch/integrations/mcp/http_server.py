"""Serve over streamable HTTP, to clients with bearer tokens."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

import uvicorn
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl, BaseModel, Field
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Send

from graphsearch.errors import AccessDeniedError, InvalidInputError
from graphsearch.integrations.mcp.limits import HealthCheck
from graphsearch.integrations.mcp.service import Identity
from graphsearch.integrations.mcp.tool import validated
from graphsearch.model import Action, Principal, Scope
from graphsearch.model import validation as check
from graphsearch.text.rendering import safe_text

PATH: Final = "/mcp"
HEALTH: Final = "/health"
LARGEST: Final = 4 << 20
"""Maximum size of a request in bytes; larger requests get 413 before they are read."""
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::[0-9]{1,5})?")
"""A host in lower case, as in the header: a name or an address, and maybe a port."""
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
    tokens: TokenMap | None = None,
    allowed_hosts: Sequence[str] = (),
    probe: Callable[[], Awaitable[object]] | None = None,
    max_sessions: int = 1_000,
    body_seconds: float = 30,
) -> Starlette:
    """An ASGI application that serves at ``/mcp``; with ``tokens``, requests without a valid token get 401.

    With ``probe``, which raises where the store does not answer, ``/health`` answers 200 or 503 to everybody.

    The Host and Origin headers of a request must name this machine, ``host``, or one of ``allowed_hosts`` (names, of
    which one without a port allows any), so that requests forged by web pages are refused. A client that takes longer
    than ``body_seconds`` to send a request gets 408; beyond ``max_sessions`` nobody opens one (503) until others end,
    which they do after half an hour without a request. Raises `InvalidInputError` for a host reachable from other
    machines without ``tokens``, and for an allowed host that is none.
    """
    if tokens is None and not is_loopback(host):
        raise InvalidInputError("MCP server", [f"{host} can be reached from elsewhere: give tokens"])
    bracketed = f"[{host}]" if ":" in host else host
    hosts = frozenset(each.lower() for each in (*_LOOPBACK, bracketed, *allowed_hosts))
    wrong = [each for each in hosts if not _HOST.fullmatch(each)]
    check.refuse("MCP server", *(f"{each!r} is no host: give a name, as in graphs.example" for each in wrong))
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        max_request_body_size=LARGEST,
        auth=None if tokens is None else AuthSettings(issuer_url=_ISSUER, resource_server_url=None),
        token_verifier=tokens,
        max_sessions=max_sessions,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # `_Doorkeeper` does it
    )
    app.router.redirect_slashes = False  # a redirect would name the scheme and the port from behind a proxy
    app.add_middleware(_Doorkeeper, hosts=hosts, body_seconds=body_seconds)
    (served,) = (route for route in app.routes if isinstance(route, Route) and route.path == PATH)
    app.routes.append(Route(f"{PATH}/", served.endpoint))
    if probe is not None:
        health_check = HealthCheck(probe)

        async def health(_: Request) -> Response:
            healthy = await health_check.healthy()
            return JSONResponse({"healthy": healthy}, status_code=200 if healthy else 503)

        app.routes.append(Route(HEALTH, health, methods=["GET"]))
    return app


class _Doorkeeper:
    """Refuses requests for other hosts or by pages of others, and those whose body takes too long; not for health."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], body_seconds: float) -> None:
        self._app, self._hosts, self._body_seconds = app, hosts, body_seconds

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == HEALTH:
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
        found = _HOST.fullmatch(host.lower())
        return found is not None and (found[0] in self._hosts or found[1] in self._hosts)


class _SlowBodyError(Exception):
    """The body of a request did not come in time."""


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
        raise InvalidInputError("address", [f"{host}:{port} cannot be had: {error.strerror or error}"]) from error
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


class _Project(BaseModel, extra="forbid"):
    org: str = Field(pattern=r"\S")
    project: str = Field(pattern=r"\S")


class _Entry(BaseModel, extra="forbid"):
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    principal: str
    type: str = "User"
    attributes: dict[str, Any] = {}
    org: str = ""
    project: str = ""


class _File(BaseModel, extra="forbid"):
    tokens: list[_Entry] = Field(min_length=1)
    disabled: list[_Project] = []


class TokenMap:
    """Verifies bearer tokens and maps authenticated requests to identities."""

    def __init__(self, identities: Mapping[str, Identity]) -> None:
        self._identities = dict(identities)

    @classmethod
    def read(cls, path: Path, scope: Scope) -> TokenMap:
        """Read a JSON file of tokens; ``scope`` is the default scope of a token.

        ``{"tokens": [{"sha256", "principal", "type", "attributes", "org", "project"}], "disabled": [{"org",
        "project"}]}``, where sha256 is the token's digest in hexadecimal digits; everything but it and the principal is
        optional. Raises `InvalidInputError` that names every fault.
        """
        try:
            content = check.parse_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidInputError(str(path), [f"cannot be read as JSON: {type(error).__name__}"]) from error
        return cls(_identities(validated(_File, content, str(path)), scope, str(path)))

    async def verify_token(self, token: str) -> AccessToken | None:
        """Verify a token and return its digest in place of it, in constant time."""
        digest = hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()
        known = [each for each in self._identities if hmac.compare_digest(each, digest)]
        return AccessToken(token=known[0], client_id=known[0], scopes=[]) if known else None

    def identify(self, request: Any) -> Identity:
        """The identity of an authenticated request. Raises `AccessDeniedError` for any other."""
        user = request.scope.get("user") if request is not None else None
        if isinstance(user, AuthenticatedUser) and user.access_token.client_id in self._identities:
            return self._identities[user.access_token.client_id]
        raise AccessDeniedError(Action.READ.value)


def _identities(file: _File, default: Scope, subject: str) -> dict[str, Identity]:
    off = {Scope(each.org, each.project) for each in file.disabled}
    known: dict[str, Identity] = {}
    faults: list[str] = []
    for place, entry in enumerate(file.tokens):
        try:
            check.refuse("token", "another one has the same sha256" if entry.sha256 in known else None)
            known[entry.sha256] = _identity(entry, default, off)
        except InvalidInputError as error:
            faults += [f"tokens.{place}: {fault}" for fault in error.faults]
    check.refuse(subject, *faults)
    return known


def _identity(entry: _Entry, default: Scope, off: set[Scope]) -> Identity:
    scope = Scope(entry.org, entry.project) if entry.org or entry.project else default
    principal = Principal(id=entry.principal, type=entry.type, attributes=entry.attributes, projects=[scope])
    return Identity(principal, scope, disabled=scope in off)
