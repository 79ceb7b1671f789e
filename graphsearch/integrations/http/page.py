"""The page: its files, and who looks at it. Its data are the routes of REST, behind the same tokens and gate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from graphsearch._support.version import __version__
from graphsearch.errors import PartialViewError
from graphsearch.integrations.http.rest import Identify, answered
from graphsearch.model import Action, Principal, Statistics
from graphsearch.model.codec import Json, encode
from graphsearch.operations.service import Identity
from graphsearch.operations.serving import Desk
from graphsearch.page.asking import example_questions

_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src"
    " 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
_PRINCIPALS: Final = 100
"""The most principals that are offered to view as."""


def page_routes(desk: Desk, who: Identity | Identify, *, principals: Iterable[Identity] = ()) -> list[Route]:
    """The page at ``/``, its files at ``/page/…``, and at ``/page/me`` who looks at it and what they may do.

    Files need no token, as they are those of the package. ``principals``: those that who may is offered to view as.
    """
    identify: Identify = who if callable(who) else lambda _: who
    files, known = StaticFiles(packages=[("graphsearch.page", "files")]), [*principals]

    async def file(request: Request) -> Response:
        try:
            found = await files.get_response(request.path_params.get("name", "index.html"), request.scope)
        except HTTPException as error:
            found = Response(error.detail, error.status_code)
        found.headers.update(_HEADERS)
        return found

    async def me(request: Request) -> Response:
        async def answer(identity: Identity) -> Response:
            return JSONResponse(await _me(desk, identity, known), headers={"cache-control": "no-store"})

        return await answered("me", request, desk, identify, answer)

    return [
        Route("/", file, methods=["GET"]),
        Route("/page/me", me, methods=["GET"]),
        Route("/page/{name:path}", file, methods=["GET"]),
    ]


async def _me(desk: Desk, identity: Identity, known: Iterable[Identity]) -> Json:
    """Who looks at the page, what they may do, and how much there is, where nothing of it is hidden from them."""
    service, who = desk.service, identity.principal
    writes = not service.read_only and identity.viewed_by is None
    others = {each.principal for each in known if each.scope == identity.scope} if identity.may_view_as else set()
    try:
        size: Statistics | None = await desk.ask(identity, lambda caller: caller.curator.stats())
    except PartialViewError:
        size = None
    questions = await desk.ask(identity, lambda caller: example_questions(caller.engine, gate=caller.gate))
    return {
        "org": identity.scope.org_id,
        "project": identity.scope.project_id,
        "scopes": encode([identity.scope, *identity.also]),
        "principal": _shown(who),
        "viewed_by": identity.viewed_by and _shown(identity.viewed_by),
        "may": [each.value for each in Action if await desk.may(identity, each)],
        "writes": writes,
        "read_only": not writes,
        "review": service.review,
        "version": __version__,
        "principals": [_shown(each) for each in sorted(others, key=lambda each: each.qualified_id)[:_PRINCIPALS]],
        "size": size and {name: getattr(size, name) for name in ("entities", "relations", "memories")},
        "questions": [*questions],
    }


def _shown(principal: Principal) -> Json:
    return {name: encode(getattr(principal, name)) for name in ("id", "type", "attributes")}
