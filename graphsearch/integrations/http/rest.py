"""REST: a route for each operation of the table, its OpenAPI, health, and metrics.

What reads is a GET whose arguments are in the query, everything else a POST with a JSON object, of which a GET is the
dry run, where it has one; the answer is the JSON of the result. Errors are ``{"error": {"type", "message"}}`` with the
status of their kind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from time import monotonic, perf_counter
from typing import Any, Final

import attrs
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graphsearch import errors
from graphsearch._support.version import __version__
from graphsearch.model import validation as check
from graphsearch.model.codec import Json, decode, schema, schema_of_result
from graphsearch.model.proposals import Proposed
from graphsearch.operations.operation import Operation, Profile
from graphsearch.operations.service import Identity
from graphsearch.operations.serving import Desk, error_json
from graphsearch.operations.table import operations

ROOT: Final = "/v1"
LARGEST: Final = 4 << 20
"""Maximum size of a request in bytes; larger requests get 413 before they are read."""
_STATUSES: Final[tuple[tuple[type[Exception], int], ...]] = (
    (errors.AccessDeniedError, 403),
    (errors.ForeignSessionError, 403),
    (errors.UnknownElementError, 404),
    (errors.UnknownScopeError, 404),
    (errors.RateLimitError, 429),
    (errors.TimeLimitError, 504),
    (errors.StoreUnavailableError, 503),
    (errors.ReadOnlyStoreError, 409),
    (errors.MissingDependencyError, 400),
    (errors.InvalidInputError, 400),
    (errors.UnknownModeError, 400),
)
"""The status of an error, by the first of these that it is; 500 for any other."""
_OF_THE_APPLICATION: Final = frozenset({"denied", "denied_by", "left_out", "rarity", "timings"})
"""Fields of results that count what is hidden, or are measured on it: no client is told them."""
_ERROR: Final = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
_ERRORS: Final = {
    str(status): {"description": text, "content": _ERROR}
    for status, text in (
        (400, "Arguments that are refused, each fault named, or a mode that this server has no model for"),
        (401, "No valid token"),
        (403, "Denied by the policies"),
        (404, "What does not exist or is not visible"),
        (409, "A store that only reads"),
        (413, "A request that is too large"),
        (429, "Too many requests of this principal"),
        (500, "A failure, described in the server's log"),
        (503, "A store that does not answer, or a project that is switched off"),
        (504, "A request that took too long"),
    )
}
_ERROR_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {"type": {"type": "string"}, "message": {"type": "string"}},
            "required": ["type", "message"],
        }
    },
    "required": ["error"],
}
Identify = Callable[[Any], Identity]
_CHECKED: Final = 1.0
"""Seconds for which the result of a health check is reused, so that checks cannot load the store."""
_PATIENCE: Final = 5.0
"""Seconds after which a store that does not answer counts as down."""


@attrs.define
class HealthCheck:
    """Whether ``probe`` succeeds within some seconds; asked at most once a second."""

    probe: Callable[[], Awaitable[object]]
    _checked: float = -_CHECKED
    _result: bool = False
    _lock: asyncio.Lock = attrs.field(factory=asyncio.Lock)

    async def healthy(self) -> bool:
        """The result, at most a second old."""
        async with self._lock:
            if monotonic() - self._checked >= _CHECKED:
                try:
                    async with asyncio.timeout(_PATIENCE):
                        await self.probe()
                    self._result = True
                except Exception:  # noqa: BLE001 - whatever is wrong, it is not healthy
                    self._result = False
                self._checked = monotonic()
            return self._result


class _TooLargeError(Exception):
    """The body of a request is too large."""


def rest_routes(
    desk: Desk, who: Identity | Identify, *, probe: Callable[[], Awaitable[object]] | None = None
) -> list[Route]:
    """The routes over a desk; ``who`` is the identity of all requests, or a function returning that of one.

    ``/v1/NAME`` for each operation, ``/openapi.json``, ``/metrics`` in the format of Prometheus, ``/healthz`` (the
    process lives) and ``/readyz`` (``probe``, which raises where the store does not answer, succeeds).
    """
    registry = CollectorRegistry()
    seconds = Histogram("graphsearch_seconds", "Seconds of operations.", ("operation", "status"), registry=registry)
    identify: Identify = who if callable(who) else lambda _: who
    ready = None if probe is None else HealthCheck(probe)
    contract, written = openapi(desk), [each for each in desk.rows(Profile.PAGE) if not each.reads]

    def route(operation: Operation) -> Route:
        async def answer(request: Request) -> Response:
            began = perf_counter()
            response = await answered(operation.name, request, desk, identify, partial(_run, operation, request, desk))
            seconds.labels(operation.name, response.status_code).observe(perf_counter() - began)
            return response

        methods = ["POST"] * (operation in written) + ["GET"] * (operation.reads or operation.has_dry_run)
        return Route(f"{ROOT}/{operation.name}", answer, methods=methods)

    async def metrics(request: Request) -> Response:
        try:
            identify(request)
        except errors.AccessDeniedError as error:
            return _refused(error, "metrics", 401)
        return Response(generate_latest(registry), headers={"content-type": CONTENT_TYPE_LATEST})

    async def alive(_: Request) -> Response:
        return JSONResponse({"alive": True})

    async def readiness(_: Request) -> Response:
        healthy = ready is None or await ready.healthy()
        return JSONResponse({"healthy": healthy}, status_code=200 if healthy else 503)

    async def described(_: Request) -> Response:
        return JSONResponse(contract)

    return [
        *map(route, _served(desk)),
        Route("/openapi.json", described, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/healthz", alive, methods=["GET"]),
        *(Route(path, readiness, methods=["GET"]) for path in ("/readyz", "/health")),
    ]


async def answered(
    doing: str, request: Request, desk: Desk, identify: Identify, answer: Callable[[Identity], Awaitable[Response]]
) -> Response:
    """Answer whoever asks, or whom they view the project as (header ``View-As``, JSON of a principal); or refuse."""
    try:
        identity = identify(request)
    except errors.AccessDeniedError as error:
        return _refused(error, doing, 401)
    if desk.is_off(identity):
        return JSONResponse({"disabled": True}, status_code=503)
    try:
        given = request.headers.getlist("view-as")
        return await answer(await desk.viewing(identity, ", ".join(given) if given else None))
    except _TooLargeError:
        most = errors.InvalidInputError("request", [f"must have at most {LARGEST} bytes"])
        return _refused(most, doing, 413)
    except Exception as error:  # noqa: BLE001 - the server keeps running, and its log has the error
        status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
        return _refused(error, doing, status)


def for_clients(told: Json, value: Any) -> Json:
    """The JSON of a result, and of the results in it, without what is for the application alone."""
    if not attrs.has(type(value)) or not isinstance(told, dict):
        return told
    told = {name: each for name, each in told.items() if name not in _OF_THE_APPLICATION}
    return {name: for_clients(each, getattr(value, name, None)) for name, each in told.items()}


def _refused(error: Exception, doing: str, status: int) -> Response:
    headers = {}
    if status == HTTPStatus.UNAUTHORIZED:
        headers = {"www-authenticate": "Bearer"}
    elif isinstance(error, errors.RateLimitError):
        headers = {"retry-after": str(max(1, round(error.retry_after)))}
    return JSONResponse(error_json(error, doing), status_code=status, headers=headers)


async def _run(operation: Operation, request: Request, desk: Desk, identity: Identity) -> Response:
    asked = await _request(operation, request)
    value = await desk.answer(operation, asked, identity)
    told = operation.told(value)
    told = told if identity.may_view_as else for_clients(told, value)
    return JSONResponse(told, status_code=202 if isinstance(value, Proposed) else 200)


async def _request(operation: Operation, request: Request) -> Any:
    """The request that the query or the body is. Raises `InvalidInputError` with every fault."""
    if request.method != "POST":
        arguments = schema(operation.request)["properties"]
        query = request.query_params
        lists = {name for name, each in arguments.items() if each.get("type") == "array"}
        asked = operation.read({name: query.getlist(name) if name in lists else query[name] for name in query})
        return attrs.evolve(asked, dry_run=True) if operation.has_dry_run else asked
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST:
            raise _TooLargeError
    try:
        given = check.parse_json(body.decode())
    except ValueError as error:
        raise errors.InvalidInputError(operation.name, ["the body must be a JSON object"]) from error
    return decode(operation.request, given, operation.name)


def openapi(desk: Desk) -> Json:
    """The OpenAPI description of the routes of a service."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "graphsearch", "version": __version__},
        "paths": {
            f"{ROOT}/{each.name}": _path(each, written=each in desk.rows(Profile.PAGE)) for each in _served(desk)
        },
        "components": {
            "schemas": {"Error": _ERROR_SCHEMA},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"bearer": []}, {}],
    }


def _served(desk: Desk) -> list[Operation]:
    """The rows that have a route: where nothing is written, also those that have a dry run."""
    rows = desk.rows(Profile.PAGE)
    dry = (each for each in operations().values() if each.has_dry_run and each.profile <= Profile.PAGE)
    return [*rows, *(each for each in dry if each not in rows)]


def _path(operation: Operation, *, written: bool) -> Json:
    arguments, result = schema(operation.request), _schema_for_clients(schema_of_result(operation.result))
    if operation.key:
        result = {"type": "object", "properties": {operation.key: result}, "required": [operation.key]}
    described: Json = {
        "operationId": operation.name,
        "summary": operation.people,
        "responses": {"200": _response("The result", result), **_ERRORS},
    }
    read: Json = {"get": {**described, "parameters": _parameters(arguments)}}
    if operation.reads:
        return read
    read["get"] |= {"operationId": f"{operation.name}_dry_run", "summary": f"The dry run. {operation.people}"}
    read = read if operation.has_dry_run else {}
    if not written:
        return read
    body = {"required": True, "content": {"application/json": {"schema": arguments}}}
    waiting = {"202": _response("A proposal that waits for review", schema_of_result(Proposed))}
    responses = {**described["responses"], **waiting}
    return {**read, "post": {**described, "responses": responses, "requestBody": body}}


def _response(description: str, of: Json) -> Json:
    return {"description": description, "content": {"application/json": {"schema": of}}}


def _schema_for_clients(result: Json) -> Json:
    """What is for the application alone comes only to who may view as others."""
    if "properties" not in result:
        return result
    needed = [name for name in result.get("required", ()) if name not in _OF_THE_APPLICATION]
    inner = {name: _schema_for_clients(each) for name, each in result["properties"].items()}
    return {**result, "properties": inner, "required": needed}


def _parameters(arguments: Mapping[str, Any]) -> list[Json]:
    needed = arguments.get("required", ())
    return [
        {
            "name": name,
            "in": "query",
            "required": name in needed,
            "schema": {key: part for key, part in each.items() if key != "description"},
            "description": each.get("description", ""),
        }
        for name, each in arguments["properties"].items()
    ]
