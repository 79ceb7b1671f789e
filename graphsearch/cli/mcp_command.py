"""mcp: serve the graph to agents over the Model Context Protocol."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from graphsearch.cli.arguments import (
    Attributes,
    Model,
    ModelUrl,
    Policies,
    PrincipalType,
    Schema,
    authorizer_of,
    principal_of,
)
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, choose_embedder, choose_llm, open_scopes
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Scope


async def mcp(
    place: Place,
    principal: Annotated[
        str,
        typer.Option(
            envvar="GRAPHSEARCH_PRINCIPAL", show_envvar=True, help="The principal of requests without a token."
        ),
    ] = "",
    principal_type: PrincipalType = "User",
    attribute: Attributes = None,
    http: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Serve streamable HTTP there, at /mcp, in place of stdio.")
    ] = "",
    tokens: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A JSON file: bearer tokens, by digest, to principals."),
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another host name of the HTTP server, in addition to that of --http.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Leave out all tools that change the graph.")] = False,
    disabled: Annotated[
        bool, typer.Option("--disabled", help="Switch the project off: every answer only states that.")
    ] = False,
    max_tokens: Annotated[int, typer.Option(min=500, help="The maximum number of tokens per answer.")] = 4_000,
    llm: Model = "",
    llm_url: ModelUrl = "",
    policies: Policies = None,
    schema: Schema = None,
) -> Answer:
    """Serve the project to agents by the Model Context Protocol, until standard input ends or a signal comes."""
    from graphsearch.integrations import mcp as served  # noqa: PLC0415 - an optional extra

    _refuse_contradictions(principal, http, tokens, allow_host or ())
    scope = Scope(place.org, place.project)
    address = served.address(http) if http else None
    known = served.TokenMap.read(tokens, scope) if tokens else None
    who = (
        known.identify
        if known
        else served.Identity(principal_of(place, principal, principal_type, attribute or ()), scope)
    )
    authorizer = authorizer_of(policies or (), schema)
    model, embedder = choose_llm(llm, llm_url), choose_embedder()
    async with _signals() as stop, open_scopes(place) as scopes:

        @cache
        def engine_of(scope: Scope) -> GraphSearchEngine:
            store = scopes.with_scope(org_id=scope.org_id, project_id=scope.project_id)
            return GraphSearchEngine(store=store, embedder=embedder, llm=model)

        service = served.GraphService(
            engine_of=engine_of, authorizer=authorizer, max_tokens=max_tokens, read_only=read_only, disabled=disabled
        )
        server = served.make_server(service, who)
        if address is None:
            await served.serve_stdio(server, stop)
        else:
            app = served.http_app(server, host=address[0], tokens=known, allowed_hosts=allow_host or ())
            await served.serve_http(app, *address, stop, started=_say)
    return Answer({}, ())


def _refuse_contradictions(principal: str, http: str, tokens: Path | None, hosts: Sequence[str]) -> None:
    if bool(principal) == bool(tokens):
        raise typer.BadParameter("give either --principal (or GRAPHSEARCH_PRINCIPAL), or --tokens with --http")
    if (tokens or hosts) and not http:
        raise typer.BadParameter("--tokens and --allow-host come with --http")


def _say(url: str) -> None:
    typer.echo(f"serving {url}", err=True)


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
