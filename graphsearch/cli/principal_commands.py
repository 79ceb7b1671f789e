"""context, feedback and mcp: the commands that act for a principal and evaluate the policies."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import attrs
import typer

from graphsearch.access.gate import Gate, StatisticsOf
from graphsearch.authz import CedarAuthorizer
from graphsearch.cli.arguments import Also, AsOf, Mode, Model, ModelUrl, Question, Reading, TraversalName, WorkloadName
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, choose_llm, embedder_for, entity_caches, open_asked, open_scopes
from graphsearch.cli.output import as_json, pairs, sorted_counts, summary_lines, time_pairs
from graphsearch.context import ContextBuilder, WorkType
from graphsearch.display.pages import hidden
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.model import FeedbackReport, Outcome, Principal, Scope
from graphsearch.model import validation as check
from graphsearch.modes.options import SearchMode
from graphsearch.stores.memory import or_empty


@attrs.frozen(kw_only=True)
class Principals:
    """The type and the attributes of principals, and the policies that they are under."""

    principal_type: Annotated[str, typer.Option(help="The type of the principal: User or Agent.")] = "User"
    attribute: Annotated[
        list[str] | None, typer.Option(help="key=value of the principal; true, false and numbers are read as such.")
    ] = None
    policies: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="Cedar policies in place of the default ones."),
    ] = None
    schema: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="The Cedar schema of those policies.")
    ] = None

    @property
    def authorizer(self) -> CedarAuthorizer:
        """The policies named by the options, else the default ones."""
        if not self.policies:
            if self.schema is not None:
                raise typer.BadParameter("--schema comes with --policies")
            return CedarAuthorizer.default()
        return CedarAuthorizer.from_files(self.policies, *([self.schema] if self.schema else ()))

    def called(self, id_: str, place: Place) -> Principal:
        """The principal of an id, a member of the projects that the command works in."""
        read: dict[str, Any] = {}
        for attribute in self.attribute or ():
            key, equals, value = attribute.partition("=")
            if not key or not equals:
                raise typer.BadParameter(f"--attribute must be key=value, not {attribute!r}")
            read[key] = _value(value)
        return Principal(id=id_, type=self.principal_type, attributes=read, projects=place.scopes)


@attrs.frozen(kw_only=True)
class Asker(Principals):
    """The principal that a command acts for."""

    principal: Annotated[str, typer.Option(help="The principal.")]

    def gate(self, place: Place, statistics: StatisticsOf = StatisticsOf.SCOPE) -> Gate:
        """The gate for the principal and the policies."""
        return Gate(self.authorizer, self.called(self.principal, place), statistics)


Log = Annotated[
    bool, typer.Option("--log/--no-log", help="Log what a block shows, for feedback; a standby takes only --no-log.")
]
Statistics = Annotated[
    StatisticsOf, typer.Option(help="What scores by words are computed from: the scope, or what is visible.")
]
Session = Annotated[str, typer.Option(help="The session of the block; default: a new one.")]


async def context(
    place: Place,
    question: Question,
    also: Also = None,
    session: Session = "",
    budget: Annotated[int | None, typer.Option(min=0, help="The token budget; default: that of the work type.")] = None,
    work_type: Annotated[WorkType, typer.Option(help="The kind of work of the session.")] = WorkType.UNKNOWN,
    mode: Mode = SearchMode.GRAPH_COMPLETION,
    observations: Annotated[bool, typer.Option(help="Include recalled memories.")] = True,
    workload: WorkloadName = None,
    traversal: TraversalName = None,
    graph: Annotated[bool, typer.Option(help="Include triplets.")] = True,
    log: Log = True,
    as_of: AsOf = None,
    statistics: Statistics = StatisticsOf.SCOPE,
    llm: Model = "",
    llm_url: ModelUrl = "",
    *,
    asker: Asker,
) -> Answer:
    """Build the context block for a session: what answers the question, is visible to the principal and fits."""
    place = place.asking(also)
    gate = asker.gate(place, statistics)
    session_id = session or f"cli-{uuid4()}"
    async with open_asked(place, mode=mode, llm=llm, llm_url=llm_url) as engine:
        block = await ContextBuilder(engine, log="engine" if log else None).build(
            question,
            gate=gate,
            session_id=session_id,
            budget=budget,
            work_type=work_type,
            observations=observations,
            graph=graph,
            workload=workload,
            mode=mode,
            traversal=traversal,
            as_of=as_of,
        )
    denied = sorted_counts(block.denied)
    entries = {str(scope): str(entry) for scope, entry in block.injection_ids.items()}
    data = {"session": session_id, **as_json(block), "denied": denied, **({"injection_ids": entries} if also else {})}
    facts = [
        ("session", session_id),
        ("tokens", f"{block.tokens} of {block.budget}"),
        *([("denied", hidden(block.denied))] if hidden(block.denied) else []),
        ("skipped", f"{block.skipped_memories} memories, {block.skipped} triplets"),
        *([("reason", block.reason)] if block.reason else []),
        *time_pairs(block.interpretation),
    ]
    summary = () if block.summary is None else summary_lines(block.summary)
    return Answer(data, (block.text, *summary, pairs(facts)))


def _outcome(text: str) -> Outcome:
    try:
        return Outcome[text.upper()]
    except KeyError as error:
        raise typer.BadParameter(f"must be accepted, rework or rejected, not {text!r}") from error


async def feedback(
    place: Place,
    session: Annotated[str, typer.Argument(help="The session, as `context` was given or printed it.")],
    outcome: Annotated[
        Outcome, typer.Argument(parser=_outcome, metavar="accepted|rework|rejected", help="The outcome.")
    ],
    also: Also = None,
    *,
    asker: Asker,
) -> Answer:
    """Report the outcome of a session, as the principal of its context; the weights of what it was shown move."""
    place = place.asking(also)
    async with open_asked(place) as engine:
        report = await ContextBuilder(engine).feedback(session, outcome, gate=asker.gate(place))
    if report == FeedbackReport():
        raise UnknownElementError(f"nothing was shown to a session {session!r}, so that its outcome changes nothing")
    lists = {name: getattr(report, name) for name in ("applied", "replaced", "repeated", "missing")}
    data = {name: [element._asdict() for element in elements] for name, elements in lists.items()}
    counts = {name: len(elements) for name, elements in lists.items()}
    return Answer({**data, "denied": report.denied}, (pairs([*counts.items(), ("denied", report.denied)]),))


async def mcp(
    place: Place,
    principal: Annotated[
        str,
        typer.Option(
            envvar="GRAPHSEARCH_PRINCIPAL", show_envvar=True, help="The principal of requests without a token."
        ),
    ] = "",
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
    also: Also = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Leave out all tools that change the graph.")] = False,
    operator: Annotated[
        bool, typer.Option("--operator", help="Add the tools for operators: scores, duplicates, merges, health, types.")
    ] = False,
    log: Log = True,
    disabled: Annotated[
        bool, typer.Option("--disabled", help="Switch the project off: every answer only states that.")
    ] = False,
    max_tokens: Annotated[int, typer.Option(min=500, help="The maximum number of tokens per answer.")] = 4_000,
    time_limit: Annotated[float, typer.Option(min=0.001, help="The seconds that a request may take.")] = 300.0,
    rate: Annotated[
        int | None, typer.Option(min=1, help="The maximum number of requests of each principal a minute.")
    ] = None,
    entity_cache: Annotated[
        str, typer.Option("--cache", metavar="memory|none|URL", help="Where entities are cached: a URL is of Redis.")
    ] = "memory",
    statistics: Statistics = StatisticsOf.SCOPE,
    llm: Model = "",
    llm_url: ModelUrl = "",
    *,
    reading: Reading,
    principals: Principals,
) -> Answer:
    """Serve the project to agents by the Model Context Protocol, until standard input ends or a signal comes."""
    from graphsearch.integrations import mcp as served  # noqa: PLC0415 - an optional extra

    place = place.asking(also)
    _refuse_contradictions(place, principal, http, tokens, allow_host or ())
    if entity_cache not in ("memory", "none") and not entity_cache.startswith(("redis://", "rediss://", "unix://")):
        raise typer.BadParameter(f"--cache must be memory, none or the URL of a Redis server, not {entity_cache!r}")
    scope = Scope(place.org, place.project)
    address = served.address(http) if http else None
    bearers = served.TokenMap.read(tokens, scope) if tokens else None
    who = (
        bearers.identify
        if bearers
        else served.Identity(principals.called(principal, place), scope, also=place.scopes[1:])
    )
    authorizer = principals.authorizer
    model, rules = choose_llm(llm, llm_url), reading.rules
    async with _signals() as stop, open_scopes(place) as scopes, entity_caches(entity_cache) as through_cache:
        embedder = await embedder_for(scopes.with_scope(org_id=scope.org_id, project_id=scope.project_id))

        @cache
        def engine_of(scope: Scope) -> GraphSearchEngine:
            store = through_cache(scopes.with_scope(org_id=scope.org_id, project_id=scope.project_id))
            return GraphSearchEngine(store=store, embedder=embedder, llm=model)

        own = engine_of(scope).store  # a missing extra is an error now, and not at the first request
        service = served.GraphService(
            engine_of=engine_of,
            authorizer=authorizer,
            max_tokens=max_tokens,
            read_only=read_only,
            operator=operator,
            log=log,
            time_limit=time_limit,
            rate=rate,
            extractor=rules,
            ingest=reading.options,
            disabled=disabled,
            statistics=statistics,
        )
        server = served.make_server(service, who)
        if address is None:
            await served.serve_stdio(server, stop)
        else:
            app = served.http_app(
                server, host=address[0], tokens=bearers, allowed_hosts=allow_host or (), probe=lambda: or_empty(own)
            )
            await served.serve_http(app, *address, stop, started=_say)
    return Answer({}, ())


def _refuse_contradictions(place: Place, principal: str, http: str, tokens: Path | None, hosts: Sequence[str]) -> None:
    if bool(principal) == bool(tokens):
        raise typer.BadParameter("give either --principal (or GRAPHSEARCH_PRINCIPAL), or --tokens with --http")
    if tokens and place.also:
        raise typer.BadParameter("--also comes with --principal: a token names one project")
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


def _value(text: str) -> object:
    try:
        read = check.parse_json(text)
    except ValueError:
        return text
    return read if isinstance(read, (bool, int, float)) else text
