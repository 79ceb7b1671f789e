"""mcp and ui: serve the project to agents, and the page to people."""

from __future__ import annotations

import asyncio
import functools
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Final

import attrs
import click

from graphsearch.access.gate import StatisticsOf
from graphsearch.caching import InProcessCache, RedisCache, cached
from graphsearch.cli.environment import (
    EDITOR,
    FILE,
    PRINCIPAL,
    Log,
    Model,
    Places,
    Principals,
    Statistics,
    embedder_for,
    open_scopes,
    who,
)
from graphsearch.cli.options import refuse
from graphsearch.cli.writing import Reading
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Scope
from graphsearch.model.codec import Says
from graphsearch.operations.operation import Profile
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import or_empty

_HTTP: Final = Says("Serve streamable HTTP there, at /mcp, in place of stdio; the page is beside it.")
_OWNER: Final = ("role=admin", "see_private=true", "clearance=restricted")
"""The attributes of whoever opens a store of their own, for the default policies: they could read its files."""
_PROFILE: Final = Says("For whom tools are listed; all others are found, too.", of=("agent", "curator", "all"))


@attrs.frozen(kw_only=True)
class Serving(Places, Principals, Reading, Model):
    """What a server serves, and how: options of its own are called as the fields of `GraphService`."""

    review: Annotated[bool, Says("What agents write, merge or forget waits until somebody accepts it.")] = False
    log: Log = True
    statistics: Statistics = StatisticsOf.SCOPE
    disabled: Annotated[bool, Says("Switch the project off: every answer only states that.")] = False
    max_tokens: Annotated[int, Says("The most tokens of an answer.", 500)] = 4_000
    time_limit: Annotated[float, Says("The seconds that a request may take.", 0.001)] = 300.0
    rate: Annotated[int | None, Says("The most requests of each principal a minute.", 1)] = None
    cache: Annotated[str, Says("Where entities are cached: a URL is of Redis."), {"metavar": "memory|none|URL"}] = (
        "memory"
    )
    tokens: Annotated[Path | None, Says("A JSON file: bearer tokens, by digest, to principals."), FILE] = None
    allow_host: Annotated[tuple[str, ...], Says("Another host name of the server, beside that of --http.")] = ()


async def mcp(
    *,
    principal: Annotated[
        str, Says("The principal of requests without a token; default over stdio: you, as editor."), PRINCIPAL
    ] = "",
    http: Annotated[str, _HTTP, {"metavar": "HOST:PORT"}] = "",
    read_only: Annotated[bool, Says("Leave out all tools that change the graph.")] = False,
    profile: Annotated[str, _PROFILE] = "agent",
    serving: Serving,
) -> None:
    """Serve the project to agents by MCP, until standard input ends or a signal comes."""
    one = "give either --principal (or GRAPHSEARCH_PRINCIPAL), or --tokens with --http"
    refuse((principal and serving.tokens) or (http and not (principal or serving.tokens)), one)
    refuse((serving.tokens or serving.allow_host) and not http, "--tokens and --allow-host come with --http")
    if not (principal or http or serving.attribute):
        serving = attrs.evolve(serving, attribute=EDITOR)
    await _serve(serving, principal, http, read_only=read_only, profile=Profile[profile.upper()])


async def ui(
    *,
    principal: Annotated[str, Says("Who looks, without a token; default: you, as administrator."), PRINCIPAL] = "",
    http: Annotated[str, Says("Serve the page there."), {"metavar": "HOST:PORT"}] = "127.0.0.1:8765",
    write: Annotated[bool, Says("Allow changes, to those whom the policies allow them.")] = False,
    serving: Serving,
) -> None:
    """Serve the page to look at the project in a browser; it reads only, but for --write."""
    refuse(principal and serving.tokens, "--principal comes without --tokens, which say whose requests they are")
    if not principal and not serving.tokens and not serving.attribute:
        serving = attrs.evolve(serving, attribute=_OWNER)
    await _serve(serving, principal, http, read_only=not write, page=True)


async def _serve(
    serving: Serving, principal: str, http: str, *, read_only: bool, profile: int = Profile.ALL, page: bool = False
) -> None:
    """Serve MCP by stdio, or by HTTP beside REST and the page; ``page``: the address that is printed is the page's."""
    from graphsearch.integrations import mcp as served  # noqa: PLC0415 - an optional extra

    tokens, cache = serving.tokens, serving.cache
    principal = "" if tokens else who(principal, serving)
    refuse(tokens and serving.also, "--also comes with --principal: a token names one project")
    is_cache = cache in ("memory", "none") or cache.startswith(("redis://", "rediss://", "unix://"))
    refuse(not is_cache, f"--cache must be memory, none or the URL of a Redis server, not {cache!r}")
    scope, *also = serving.scopes
    address = served.address(http) if http else None
    bearers = served.TokenMap.read(tokens, scope) if tokens else None
    asker = (
        bearers.identify if bearers else served.Identity(serving.called(principal, serving), scope, also=tuple(also))
    )
    authorizer, llm = serving.authorizer, serving.chosen()
    options = ("review", "log", "statistics", "disabled", "max_tokens", "time_limit", "rate")
    async with _signals() as stop, open_scopes(serving) as scopes, AsyncExitStack() as caches:
        embedder = await embedder_for(scopes.with_scope(org_id=scope.org_id, project_id=scope.project_id))

        @functools.cache
        def engine_of(scope: Scope) -> GraphSearchEngine:
            store = _cached(scopes.with_scope(org_id=scope.org_id, project_id=scope.project_id), cache, caches)
            return GraphSearchEngine(store=store, embedder=embedder, llm=llm)

        own = engine_of(scope).store  # a missing extra is an error now, and not at the first request
        desk = served.Desk(
            served.GraphService(
                engine_of=engine_of,
                authorizer=authorizer,
                read_only=read_only,
                profile=profile,
                extractor=serving.rules,
                ingest=serving.options,
                **{each: getattr(serving, each) for each in options},
            )
        )
        server = served.make_server(desk, asker)
        if address is None:
            await served.serve_stdio(server, stop)
            return
        routes = [
            *served.rest_routes(desk, asker, probe=lambda: or_empty(own)),
            *served.page_routes(desk, asker, principals=bearers.identities if bearers else ()),
        ]
        app = served.http_app(server, host=address[0], routes=routes, tokens=bearers, allowed_hosts=serving.allow_host)
        say = (lambda url: _say(url.removesuffix(served.PATH) + "/")) if page else _say
        await served.serve_http(app, *address, stop, started=say)


def _say(url: str) -> None:
    click.echo(f"serving {url}", err=True)


def _cached(store: GraphStore, where: str, caches: AsyncExitStack) -> GraphStore:
    """Let a store read its entities through a cache: in "memory", at a Redis URL, or "none"."""
    if where == "none":
        return store
    if where == "memory":
        return cached(store, InProcessCache(scope=store.scope))
    redis = RedisCache(where, scope=store.scope)
    caches.push_async_callback(redis.aclose)
    return cached(store, redis)


@asynccontextmanager
async def _signals() -> AsyncIterator[asyncio.Event]:
    """An event set by termination signals, so that an embedded server is shut down in order."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    for each in signals:
        loop.add_signal_handler(each, stop.set)
    try:
        yield stop
    finally:
        for each in signals:
            loop.remove_signal_handler(each)
