"""REST: a route for each operation, its errors, health and metrics, and a fuzzer over its own description."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import StoreUnavailableError
from graphsearch.integrations.mcp import Desk, Identity, http_app, make_server, rest_routes
from graphsearch.model.codec import encode
from graphsearch.operations.operation import Profile
from graphsearch.operations.table import operations
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder, WordCounter
from tests.curation.team import ADA as ADA_LOVELACE
from tests.integrations.mcp.bearers import ADA, BOB, EVE
from tests.integrations.mcp.conftest import EDITOR, READER, SCOPE, surface_over, team_engine, tokens  # noqa: F401

SERVED = [each for each in operations().values() if each.profile != Profile.CONSOLE]


def app_over(service, who=None, **options):
    desk, who = Desk(service), who or Identity(EDITOR, SCOPE)
    probe = options.pop("probe", None)
    return http_app(make_server(desk, who), host="127.0.0.1", routes=rest_routes(desk, who, probe=probe), **options)


@asynccontextmanager
async def asking(app, token=None):
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
        yield client


@pytest.fixture
async def engine():
    return await team_engine()


async def test_an_operation_that_reads_is_a_get_and_its_answer_the_json_of_its_result(engine):
    async with asking(app_over(surface_over(engine))) as http:
        found = await http.get("/v1/graph_neighbors", params={"entity": "Ada Lovelace", "limit": 2})
        named = await http.get("/v1/search_entities", params={"query": "lovela"})
        none = await http.get("/v1/graph_path", params={"source": "Paris", "target": "Eve Curie"})
    expected = await engine.neighbors(ADA_LOVELACE.id, limit=2)
    assert (found.status_code, found.json()) == (200, {"triplets": encode(expected)})
    assert named.json()["entities"][0]["entity"]["id"] == str(ADA_LOVELACE.id)
    assert (none.status_code, none.json()) == (200, {"path": None})


async def test_what_is_remembered_answers_the_next_question_and_its_outcome_is_reported(engine):
    note = {"text": "Grace Hopper leads the compiler team.", "source": "notes.md"}
    async with asking(app_over(surface_over(engine))) as http:
        made = await http.post("/v1/remember", json=note)
        block = (await http.get("/v1/graph_query", params={"query": "who leads the compiler team?"})).json()
        moved = await http.post("/v1/feedback", json={"session_id": block["session_id"], "outcome": "accepted"})
        found = (await http.get("/v1/recall", params={"query": "compiler team"})).json()
    assert made.json()["changed"]
    assert "Grace Hopper" in block["text"]
    assert moved.json()["applied"]
    assert found["memories"][0]["memory"]["source"] == "notes.md"


@pytest.mark.parametrize(
    ("method", "name", "given", "status", "error"),
    [
        ("GET", "recall", {}, 400, "query: is needed"),
        ("GET", "recall", {"query": "x", "limit": "many"}, 400, "limit: must be a whole number"),
        ("GET", "recall", {"query": "x", "org": "acme"}, 400, "org: is unknown"),
        ("GET", "recall_entity", {"entity": "Nobody"}, 404, "Nobody"),
        ("GET", "graph_query", {"query": "x", "mode": "summary"}, 400, "llm"),
        ("POST", "forget", {"memory": 7}, 400, "memory: must be text"),
        ("POST", "forget", {"memory": "m", "everything": True}, 400, "everything: is unknown"),
        ("POST", "update_entity", {"entity": "Nobody", "name": "Somebody"}, 404, "Nobody"),
    ],
)
async def test_faults_are_named_with_the_status_of_their_kind(engine, method, name, given, status, error):
    how = {"params": given} if method == "GET" else {"json": given}
    async with asking(app_over(surface_over(engine))) as http:
        refused = await http.request(method, f"/v1/{name}", **how)
    assert (refused.status_code, error in refused.json()["error"]["message"]) == (status, True), refused.text


async def test_a_body_that_is_no_json_or_too_large_is_refused(engine):
    async with asking(app_over(surface_over(engine))) as http:
        assert (await http.post("/v1/forget", content=b"{")).status_code == 400
        assert (await http.post("/v1/remember", content=b"x" * (5 << 20))).status_code == 413
        assert (await http.get("/v1/feedback")).status_code == 405
        assert (await http.get("/v1/remove_scope")).status_code == 404


async def test_the_token_decides_who_asks(engine, tokens):  # noqa: F811
    app = app_over(surface_over(engine), tokens.identify, tokens=tokens)
    for path in ("/v1/stats", "/metrics"):
        async with asking(app) as http:
            refused = await http.get(path)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    async with asking(app, ADA) as ada, asking(app, BOB) as bob, asking(app, EVE) as eve:
        assert (await ada.post("/v1/forget", json={"memory": "home"})).json()["memories"] == 1
        assert (await bob.post("/v1/forget", json={"memory": "moved"})).status_code == 403
        off = await eve.get("/v1/stats")
    assert (off.status_code, off.json()) == (503, {"disabled": True})


async def test_a_service_that_only_reads_has_no_routes_that_write(engine):
    async with asking(app_over(surface_over(engine, read_only=True), Identity(READER, SCOPE))) as http:
        assert (await http.post("/v1/feedback", json={"session_id": "s"})).status_code == 404
        assert (await http.post("/v1/forget", json={"memory": "home"})).status_code == 405
        paths = (await http.get("/openapi.json")).json()["paths"]
    assert {path.removeprefix("/v1/") for path in paths} == {
        each.name for each in SERVED if each.reads or each.has_dry_run
    }
    assert {method for each in paths.values() for method in each} == {"get"}


async def test_rates_time_and_stores_that_do_not_answer_have_their_status(engine, monkeypatch):
    async with asking(app_over(surface_over(engine, rate=1))) as http:
        await http.get("/v1/stats")
        refused = await http.get("/v1/stats")
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0

    async def down(*_, **__):
        raise StoreUnavailableError("db.internal is down")

    monkeypatch.setattr(engine, "recall", down)
    async with asking(app_over(surface_over(engine))) as http:
        failed = await http.get("/v1/recall", params={"query": "x"})
    assert (failed.status_code, "db.internal" in failed.text) == (503, False)

    monkeypatch.setattr(engine, "recall", lambda *_, **__: asyncio.sleep(60))
    async with asking(app_over(surface_over(engine, time_limit=0.01))) as http:
        assert (await http.get("/v1/recall", params={"query": "x"})).status_code == 504


async def test_health_and_metrics(engine):
    up = True

    async def probe():
        if not up:
            raise StoreUnavailableError

    async with asking(app_over(surface_over(engine), probe=probe)) as http:
        assert (await http.get("/healthz")).json() == {"alive": True}
        assert (await http.get("/readyz")).json() == {"healthy": True}
        await http.get("/v1/stats")
        await http.get("/v1/recall")
        metrics = (await http.get("/metrics")).text
    assert 'graphsearch_seconds_count{operation="stats",status="200"} 1.0' in metrics
    assert 'graphsearch_seconds_count{operation="recall",status="400"} 1.0' in metrics
    up = False
    async with asking(app_over(surface_over(engine), probe=probe)) as http:
        assert (await http.get("/readyz")).status_code == 503


async def test_metadata_of_a_protected_resource_for_a_verifier_of_ones_own(engine, tokens):  # noqa: F811
    urls = {"issuer": "https://login.example/", "resource": "https://graphs.example/mcp"}
    app = app_over(surface_over(engine), tokens.identify, tokens=tokens, allowed_hosts=["graphs.example"], **urls)
    async with asking(app) as http:
        found = await http.get("/.well-known/oauth-protected-resource/mcp")
        refused = await http.post("/mcp", json={})
    assert found.json()["authorization_servers"] == ["https://login.example/"]
    assert refused.status_code == 401
    assert "resource_metadata" in refused.headers["www-authenticate"]


def fuzzed(*, review):
    """The description of a server over a project that the fuzzer fills."""
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    engine = GraphSearchEngine(store=store, embedder=HashEmbedder(16))
    service = surface_over(engine, counter=WordCounter(), review=review)
    return schemathesis.openapi.from_asgi("/openapi.json", app_over(service, allowed_hosts=["testserver"]))


@pytest.mark.parametrize(
    ("name", "review"),
    [*((each.name, False) for each in SERVED), ("remember", True), ("link_memories", True), ("proposals", True)],
)
def test_a_fuzzer_finds_no_answer_that_the_description_does_not_promise(name, review):
    described = fuzzed(review=review)
    path, unhurried = f"/v1/{name}", [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    found: list[Any] = list(described.get_all_operations())
    asked = [each.ok() for each in found if each.ok().path == path]
    assert asked
    for operation in asked:

        @settings(max_examples=10, deadline=None, suppress_health_check=unhurried, derandomize=True)
        @given(case=operation.as_strategy())
        def check(case):
            # a schema does not say which arguments go together
            case.call_and_validate(excluded_checks=[positive_data_acceptance])

        check()
