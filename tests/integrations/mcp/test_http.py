"""Streamable HTTP: who a bearer token stands for, who is turned away, and how the server ends."""

from __future__ import annotations

import asyncio
import ssl
import sys
from contextlib import asynccontextmanager
from itertools import product

import attrs
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from graphsearch._support import concurrency
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import AccessDeniedError, InvalidInputError
from graphsearch.ingest import IngestLimits, TextExtractor
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.integrations.http.rest import LARGEST
from graphsearch.integrations.mcp import Identity, TokenMap, address, http_app, make_server, serve_http
from graphsearch.model import Scope
from graphsearch.stores.memory import InMemoryGraphStore, ScopedMemoryStore
from graphsearch.testing.fakes import HashEmbedder
from tests.integrations.mcp.bearers import ADA, BOB, ENTRIES, EVE, token_file
from tests.integrations.mcp.conftest import EDITOR, SCOPE, Asked, Slow, server_for, surface_over
from tests.integrations.mcp.tour import TURNS, at_once, every_tool, faults
from tests.waiting import LONGEST, Ticks

CLIENT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a client", "version": "1"},
    },
}


@asynccontextmanager
async def listening(server, tokens=None, **options):
    """The URL of a server that stops, in order, at the end."""
    stop, url = asyncio.Event(), asyncio.get_running_loop().create_future()
    app = http_app(server, host="127.0.0.1", tokens=tokens, **options)
    serving = asyncio.ensure_future(serve_http(app, "127.0.0.1", 0, stop, started=url.set_result))
    try:
        yield await url
    finally:
        stop.set()
        await asyncio.wait_for(serving, LONGEST)


def client(headers=None):
    """Asks over HTTP alone: to read the authorities that browsers trust takes longer than a request."""
    return httpx2.AsyncClient(headers=headers, timeout=LONGEST, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))


@asynccontextmanager
async def asking_at(url, token=None, mode="auto"):
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with (
        client(headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as asked,
    ):
        yield Asked(asked)


async def status(url, **headers):
    async with client() as http:
        return (await http.post(url, json=INITIALIZE, headers={**CLIENT, **headers})).status_code


@pytest.mark.parametrize(("scoped", "mode"), [("memory", "legacy"), ("postgres", "auto")], indirect=["scoped"])
async def test_every_tool_faults_and_many_calls_at_once(scoped, mode):
    service = surface_over(GraphSearchEngine(store=scoped, embedder=HashEmbedder(16)))
    server = make_server(service, Identity(attrs.evolve(EDITOR, projects=[scoped.scope]), scoped.scope))
    async with listening(server) as url, asking_at(url, mode=mode) as ask:
        await every_tool(ask)
        await faults(ask)
        await ask("remember", turns=TURNS, session_id="standup")
        await at_once(ask, ["COBOL", "Globex", "Grace Hopper"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_call_that_is_given_up_is_cancelled_and_others_go_on(engine, mode):
    slow = Slow()
    fast, engine.embedder = engine.embedder, slow
    async with listening(server_for(engine)) as url, asking_at(url, mode=mode) as ask:
        call = asyncio.ensure_future(ask("graph_query", query="anything?"))
        await asyncio.wait_for(slow.asked.wait(), LONGEST)
        call.cancel()
        await asyncio.wait_for(slow.cancelled.wait(), LONGEST)
        engine.embedder = fast
        assert (await ask("graph_query", query="where does Ada Lovelace live?"))["text"]


@pytest.fixture
def reading(monkeypatch):
    """An event that is set when a text begins to be extracted; each step of long work then gives others their turn."""
    monkeypatch.setattr(concurrency, "time", Ticks())
    begun, extract = asyncio.Event(), TextExtractor.extract

    async def extract_and_report(self, memories):
        begun.set()
        return await extract(self, memories)

    monkeypatch.setattr(TextExtractor, "extract", extract_and_report)
    return begun


async def test_a_long_text_of_one_client_does_not_keep_another_waiting(engine, tokens, reading):
    server = make_server(surface_over(engine), tokens.identify)
    text = " ".join(f"@name{number}" for number in range(4_000))
    async with listening(server, tokens) as url, asking_at(url, ADA) as ada, asking_at(url, BOB) as bob:
        long = asyncio.ensure_future(ada("remember", text=text))
        await reading.wait()
        for _ in range(3):
            assert (await bob("graph_query", query="where does Ada Lovelace live?"))["text"]
        assert not long.done()
        long.cancel()
        assert (await bob("graph_query", query="where does Ada Lovelace live?"))["text"]
    assert not await engine.store.find_names(["@name1"]), "what is given up is not written"


async def test_calls_are_answered_while_a_text_is_read_resolved_embedded_and_written(
    engine, tokens, reading, monkeypatch
):
    server = make_server(surface_over(engine), tokens.identify)
    text = " ".join(f"@name{number}" for number in range(1_000))
    slices, finished = 0, concurrency.finished

    async def counted(running):
        nonlocal slices
        slices += 1  # for the time of which others have the event loop
        return await finished(running)

    monkeypatch.setattr(concurrency, "finished", counted)
    stages = {(TextExtractor, "extract"): 0, (Resolver, "resolve"): 0, (ScopedMemoryStore, "write"): 0}
    for (owner, name), done in ((stage, getattr(*stage)) for stage in stages):

        async def counting(*given, _stage=(owner, name), _done=done, **options):
            before = slices
            try:
                return await _done(*given, **options)
            finally:
                stages[_stage] = max(stages[_stage], slices - before)

        monkeypatch.setattr(owner, name, counting)
    async with listening(server, tokens) as url, asking_at(url, ADA) as ada, asking_at(url, BOB) as bob:
        long = asyncio.ensure_future(ada("remember", text=text))
        await reading.wait()
        assert (await bob("search_entities", query="Ada Lovelace", limit=1))["entities"]
        assert not long.done()
        assert (await long)["changed"] > 1
    assert min(stages.values()) > 10, stages


@pytest.mark.parametrize(
    ("limits", "type_", "message"),
    [
        (IngestLimits(characters=10), "InvalidInputError", "more than the limit of 10"),
        (IngestLimits(names=1), "InvalidInputError", "more than the limit of 1"),
        (IngestLimits(seconds=0.05), "TimeLimitError", "took longer than 0.05 s"),
    ],
)
async def test_the_limits_of_a_call_are_kept(engine, limits, type_, message):
    fast, engine.embedder = engine.embedder, Slow()
    async with listening(server_for(engine, limits=limits)) as url, asking_at(url) as ask:
        error = await ask.error("remember", text="Grace Hopper built COBOL.")
        engine.embedder = fast
    assert error["type"] == type_
    assert message in error["message"]
    assert not await engine.store.find_names(["COBOL"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_token_says_who_asks(engine, tokens, mode):
    server = make_server(surface_over(engine), tokens.identify)
    async with listening(server, tokens) as url, asking_at(url, ADA, mode) as ada, asking_at(url, BOB, mode) as bob:
        found = await asyncio.gather(
            ada("graph_query", query="where does Ada Lovelace live?", session_id="s1"),
            bob("graph_query", query="where does Ada Lovelace live?", session_id="s2"),
        )
        assert found[0]["text"] == found[1]["text"] != ""
        assert (await ada("remember", text="Grace Hopper built COBOL."))["changed"] == 1
        assert (await bob.error("remember", text="Bob built Basic."))["type"] == "AccessDeniedError"
    asked_by = [(await engine.store.injections(session))[0].principal for session in ("s1", "s2")]
    assert asked_by == ["User:ada", "Agent:bob"]


async def test_the_token_says_in_which_scope_and_whether_it_is_switched_off(tokens):
    stores, asked = InMemoryGraphStore(), []

    def engine_of(scope: Scope) -> GraphSearchEngine:
        asked.append(scope)
        store = stores.with_scope(org_id=scope.org_id, project_id=scope.project_id)
        return GraphSearchEngine(store=store, embedder=HashEmbedder(16))

    server = make_server(surface_over(None, engine_of=engine_of), tokens.identify)
    async with listening(server, tokens) as url, asking_at(url, ADA) as ada, asking_at(url, EVE) as eve:
        await ada("remember", text="Grace Hopper built COBOL.")
        assert await eve("graph_query", query="what did Grace Hopper build?") == {"disabled": True}
    assert set(asked) == {SCOPE}


@pytest.mark.parametrize("header", [{}, {"authorization": "Bearer nobody's"}, {"authorization": f"Basic {ADA}"}])
async def test_without_a_token_that_is_known_there_is_401(engine, tokens, header):
    server = make_server(surface_over(engine), tokens.identify)
    async with listening(server, tokens) as url:
        assert await status(url, **header) == 401
        assert await status(url, authorization=f"Bearer {ADA}") == 200


async def test_a_request_that_is_too_large_is_refused(engine):
    async with listening(server_for(engine)) as url, client(CLIENT) as http:
        for size, answer in ((LARGEST, 400), (LARGEST + 1, 413)):  # white space alone is no request either
            assert (await http.post(url, content=b" " * size)).status_code == answer


async def test_a_session_is_its_tokens_alone(engine, tokens):
    server = make_server(surface_over(engine), tokens.identify)
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    async with listening(server, tokens) as url, client(CLIENT) as http:
        begun = await http.post(url, json=INITIALIZE, headers={"authorization": f"Bearer {ADA}"})
        session = {"mcp-session-id": begun.headers["mcp-session-id"]}
        codes = [
            (await http.post(url, json=listing, headers={**session, "authorization": f"Bearer {each}"})).status_code
            for each in (BOB, ADA)
        ]
    assert codes == [404, 200]


FROM_PAGES = [
    ({"host": "evil.example"}, 421),
    ({"origin": "https://evil.example"}, 403),
    ({"origin": "http://localhost:3000"}, 200),
    ({"host": "graphs.example:8443", "origin": "https://graphs.example"}, 200),
    ({"host": "Graphs.Example"}, 200),
    ({"host": "[::1]:80", "origin": "HTTP://[::1]"}, 200),
    ({"host": "ported.example:81"}, 200),
    *(
        ({"host": host}, 421)
        for host in (
            *("evil-graphs.example", "graphs.example.evil.com", "localhost.evil.com", "localhost:80.evil.com"),
            *("localhost:@evil.com", "localhost:evil.com", "localhost:", "[::1].evil.com", "[::1", "::1", "[::2]"),
            *("ported.example", "ported.example:8", "ported.example:811", "ported.example:81:82", "graphs.example."),
        )
    ),
    *(
        ({"origin": origin}, 403)
        for origin in (
            *("http://localhost:3000.evil.com", "http://localhost:x@evil.com", "http://localhost@evil.com"),
            *("http://localhost:3000/evil", "ftp://localhost", "localhost", "null", "http://graphs.example.evil.com"),
            *("https://evil-graphs.example", "http://", "http://ported.example:812", "http://[::1]x"),
        )
    ),
]
"""Headers of requests, and the status of their answers."""


async def test_a_web_page_cannot_make_a_browser_ask(engine):
    async with listening(server_for(engine), allowed_hosts=["graphs.example", "ported.example:81"]) as url:
        for headers, code in FROM_PAGES:
            assert await status(url, **headers) == code, headers


@pytest.mark.parametrize("wrong", ["https://graphs.example", "*.example", "graphs.example/mcp", "::1", ""])
def test_what_can_be_no_host_is_refused(engine, wrong):
    with pytest.raises(InvalidInputError, match="is no host"):
        http_app(server_for(engine), host="127.0.0.1", allowed_hosts=[wrong])


async def test_sessions_are_bounded_and_make_room_when_they_end(engine):
    async with (
        listening(server_for(engine), max_sessions=3) as url,
        client(CLIENT) as http,
    ):
        begun = [await http.post(url, json=INITIALIZE) for _ in range(5)]
        assert [each.status_code for each in begun] == [200, 200, 200, 503, 503]
        session = {"mcp-session-id": begun[0].headers["mcp-session-id"]}
        assert (await http.delete(url, headers=session)).status_code == 200
        assert [(await http.post(url, json=INITIALIZE)).status_code for _ in range(2)] == [200, 503]


async def test_a_body_that_does_not_come_is_given_up(engine):
    """Neither client sends all that it announces; a server that waits for it would never answer."""
    async with listening(server_for(engine), body_seconds=0.2) as url:
        host, port = url.removeprefix("http://").split("/")[0].split(":")
        for sent in (b"", b'{"jsonrpc"'):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n" + sent)
            answer = await asyncio.wait_for(reader.read(), LONGEST)  # until the server closes
            assert answer.startswith(b"HTTP/1.1 408 ")
            writer.close()


async def test_on_this_machine_a_server_may_do_without_tokens(engine):
    async with listening(server_for(engine)) as url, asking_at(url) as ask:
        assert (await ask("search_entities", query="Ada"))["entities"]


async def test_a_path_is_served_as_it_is_written_behind_a_proxy(engine):
    forwarded = {"x-forwarded-host": "graphs.example", "x-forwarded-for": "192.0.2.1"}
    hosts = ("graphs.example", "graphs.example:8443", "a.example:9", "127.0.0.1:1", "[::1]:80", "localhost")
    async with listening(server_for(engine), allowed_hosts=["graphs.example", "a.example:9"]) as url:
        for host, path, scheme in product(hosts, ("", "/"), ("http", "https")):
            asked = await status(url + path, host=host, **forwarded, **{"x-forwarded-proto": scheme})
            assert asked == 200, (host, path, scheme)


async def test_a_refused_host_is_told_how_to_be_allowed(engine):
    async with listening(server_for(engine), allowed_hosts=["a.example:9"]) as url, client() as http:
        for host in ("graphs.example", "graphs.example:8000", "a.example", "localhost.example", "127.0.0.1.example:80"):
            refused = await http.post(url, json=INITIALIZE, headers={**CLIENT, "host": host})
            assert (refused.status_code, refused.text.split()[-2:]) == (421, ["--allow-host", host.partition(":")[0]])


async def test_a_host_that_others_can_reach_needs_tokens(engine, tokens):
    for host in ("0.0.0.0", "192.0.2.1", "::", "graphs.example"):  # noqa: S104 - refused
        with pytest.raises(InvalidInputError, match="can be reached from elsewhere: give tokens"):
            http_app(server_for(engine), host=host)
        assert http_app(server_for(engine), host=host, tokens=tokens)
    for host in ("127.0.0.1", "::1", "localhost"):
        assert http_app(server_for(engine), host=host)


async def test_an_address_that_is_taken_is_reported(engine):
    async with listening(server_for(engine)) as url:
        port = int(url.rpartition(":")[2].partition("/")[0])
        app = http_app(server_for(engine), host="127.0.0.1")
        with pytest.raises(InvalidInputError, match="cannot be had"):
            await serve_http(app, "127.0.0.1", port, asyncio.Event(), started=print)


async def test_a_server_that_stops_does_not_wait_for_clients_that_stay(engine):
    async with asyncio.timeout(LONGEST):
        async with listening(server_for(engine)) as url:
            http = client(CLIENT)
            begun = await http.post(url, json=INITIALIZE)
            session = {"mcp-session-id": begun.headers["mcp-session-id"], "accept": "text/event-stream"}
            stream = http.stream("GET", url, headers=session)
            assert (await stream.__aenter__()).status_code == 200
        await http.aclose()


GONE = """
import asyncio, sys
from mcp import Client

async def main():
    async with Client(sys.argv[1], mode=sys.argv[2]) as client:
        await client.call_tool("graph_query", {"query": "anything?"})

asyncio.run(main())
"""


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_is_killed_in_mid_call_is_forgotten_and_others_go_on(engine, mode):
    slow = Slow()
    fast, engine.embedder = engine.embedder, slow
    async with listening(server_for(engine)) as url:
        client = await asyncio.create_subprocess_exec(sys.executable, "-c", GONE, url, mode)
        await asyncio.wait_for(slow.asked.wait(), LONGEST)
        client.kill()
        await client.wait()
        if mode == "auto":  # the older protocol has clients come back for their answer
            await asyncio.wait_for(slow.cancelled.wait(), LONGEST)
        engine.embedder = fast
        async with asking_at(url, mode=mode) as ask:
            assert (await ask("graph_query", query="where does Ada Lovelace live?"))["text"]
    assert slow.cancelled.is_set()


@pytest.mark.parametrize(
    ("text", "found"),
    [("127.0.0.1:8000", ("127.0.0.1", 8000)), ("[::1]:0", ("::1", 0)), ("localhost:80", ("localhost", 80))],
)
def test_addresses_are_read(text, found):
    assert address(text) == found


@pytest.mark.parametrize("text", ["8000", ":8000", "localhost", "localhost:", "localhost:http", "localhost:99999", ""])
def test_what_is_no_address_is_reported(text):
    with pytest.raises(InvalidInputError, match="must be HOST:PORT"):
        address(text)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "cannot be read as JSON"),
        ([], "must be an object"),
        ({}, "tokens: is needed"),
        ({"tokens": []}, "tokens: must not be empty"),
        ({"tokens": [{"sha256": ADA, "principal": "ada"}]}, "tokens.0.sha256: must have at least 64 characters"),
        ({"tokens": [{"token": ADA, "principal": "ada"}]}, "tokens.0.token: is unknown"),
        ({"tokens": [{**ENTRIES[0], "org": "acme"}]}, "tokens.0: project_id must not be empty"),
        ({"tokens": [ENTRIES[0], ENTRIES[0]]}, "tokens.1: another one has the same sha256"),
        ({"tokens": [{**ENTRIES[0], "principal": " "}]}, "tokens.0: id must not be empty"),
        ({"tokens": [ENTRIES[0], {**ENTRIES[1], "type": "a b"}]}, "tokens.1: type must be an identifier"),
        ({"tokens": ENTRIES, "disabled": [{"org": "acme", "project": ""}]}, "disabled.0.project: must not be empty"),
        ({"tokens": [{**ENTRIES[0], "project": "web"}]}, "tokens.0: org_id must not be empty"),
    ],
)
def test_a_token_file_is_refused_whole_and_its_tokens_are_not_quoted(tmp_path, content, fault):
    with pytest.raises(InvalidInputError) as refused:
        TokenMap.read(token_file(tmp_path, content), SCOPE)
    assert fault in str(refused.value)
    assert ADA not in str(refused.value)


async def test_every_digest_is_compared_in_constant_time(tokens, monkeypatch):
    compared = []

    def compare(one, other):
        compared.append(one)
        return one == other

    monkeypatch.setattr("graphsearch.integrations.http.tokens.hmac.compare_digest", compare)
    found = await tokens.verify_token(ADA)
    assert found is not None
    assert compared == [entry["sha256"] for entry in ENTRIES]
    assert ADA not in repr(found), "the token itself is kept nowhere"
    assert await tokens.verify_token("") is None


def test_a_request_that_nobody_authenticated_is_nobodys(tokens):
    for request in (None, httpx_like({}), httpx_like({"user": "ada"})):
        with pytest.raises(AccessDeniedError):
            tokens.identify(request)


def httpx_like(scope):
    return type("Request", (), {"scope": scope})()


def test_an_identity_has_the_attributes_of_its_token(tmp_path):
    known = TokenMap.read(token_file(tmp_path, {"tokens": ENTRIES}), SCOPE)
    assert known._identities[ENTRIES[0]["sha256"]] == Identity(EDITOR, SCOPE)
    assert known._identities[ENTRIES[2]["sha256"]].scope == Scope("acme", "old")
