"""The page over HTTP on loopback: its files and their headers, who looks, and the view of another principal."""

from __future__ import annotations

import hashlib
import json
from contextlib import asynccontextmanager

import attrs
import pytest

from graphsearch.integrations.mcp import Desk, Identity, TokenMap, make_server, page_routes, rest_routes
from graphsearch.model import Principal
from tests.curation.team import BATCH, HOME
from tests.integrations.mcp.bearers import token_file
from tests.integrations.mcp.conftest import SCOPE, surface_over, team_engine
from tests.integrations.mcp.test_http import client, listening

ROOT, ANA = "root's token", "ana's token"
ENTRIES = [
    {
        "sha256": hashlib.sha256(ROOT.encode()).hexdigest(),
        "principal": "root",
        "attributes": {"role": "admin", "see_private": True},
    },
    {"sha256": hashlib.sha256(ANA.encode()).hexdigest(), "principal": "ana", "attributes": {"role": "viewer"}},
]
AS_ANA = {"view-as": json.dumps({"id": "ana", "attributes": {"role": "viewer"}})}
HIDDEN = attrs.evolve(
    BATCH, memories=tuple(attrs.evolve(each, labels=("private",) * (each == HOME)) for each in BATCH.memories)
)
"""Where Ada lives is in a memory that is private."""


@asynccontextmanager
async def page(tmp_path, token=None, *, engine=None, **options):
    """A client of the page of a team, to whose administrator nothing is hidden."""
    engine = engine or await team_engine(HIDDEN)
    tokens = TokenMap.read(token_file(tmp_path, {"tokens": ENTRIES}), SCOPE)
    desk = Desk(surface_over(engine, **options))
    routes = [
        *rest_routes(desk, tokens.identify),
        *page_routes(desk, tokens.identify, principals=tokens.identities),
    ]
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with listening(make_server(desk, tokens.identify), tokens, routes=routes) as url, client(headers) as http:
        http.base_url = url.removesuffix("/mcp")
        yield http


async def test_files_are_served_to_everybody_under_a_strict_policy(tmp_path):
    async with page(tmp_path) as http:
        found = await http.get("/")
        again = await http.get("/", headers={"if-none-match": found.headers["etag"]})
        absent = [await http.get(each) for each in ("/page/serving.py", "/page/../rest.py", "/page/%2e%2e/__init__.py")]
        icon = await http.get("/page/icon.svg")
    assert (found.status_code, found.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert (again.status_code, again.content) == (304, b"")
    assert [each.status_code for each in absent] == [404, 404, 404]
    assert icon.headers["content-type"] == "image/svg+xml"
    for each in (found, again, icon, absent[0]):
        policy = each.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert {"frame-ancestors 'none'", "require-trusted-types-for 'script'"} <= {*policy.split("; ")}
        assert each.headers["x-content-type-options"] == "nosniff"
        assert each.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("token", [None, "nobody's token"])
async def test_data_need_a_token(tmp_path, token):
    async with page(tmp_path, token) as http:
        refused = [await http.get(path) for path in ("/page/me", "/v1/stats")]
    assert [each.status_code for each in refused] == [401, 401]
    assert "acme" not in refused[0].text


async def test_a_request_of_another_page_or_for_another_host_is_refused(tmp_path):
    async with page(tmp_path, ROOT) as http:
        for path in ("/", "/page/me"):
            assert (await http.get(path, headers={"host": "evil.example"})).status_code == 421
            assert (await http.get(path, headers={"origin": "http://evil.example"})).status_code == 403


async def test_who_looks_and_what_they_may_do(tmp_path):
    async with page(tmp_path, ROOT) as root, page(tmp_path, ANA) as ana:
        owner = (await root.get("/page/me")).json()
        viewer = (await ana.get("/page/me")).json()
    assert (owner["org"], owner["project"], owner["scopes"]) == ("acme", "web", ["acme/web"])
    assert {"write", "merge", "forget", "review", "view_as"} < {*owner["may"]}
    assert [each["id"] for each in owner["principals"]] == ["ana", "root"]
    assert owner["size"] == {"entities": 6, "relations": 5, "memories": 5}
    assert "who lives in Paris?" in owner["questions"]
    assert viewer["principal"] == {"id": "ana", "type": "User", "attributes": {"role": "viewer"}}
    assert (viewer["may"], viewer["principals"], viewer["size"]) == (["read", "feedback"], [], None)
    assert "who lives in Paris?" not in viewer["questions"]


async def test_view_as_shows_what_the_other_sees_and_what_hid_the_rest(tmp_path):
    question = {"query": "where does Ada live?"}
    async with page(tmp_path, ROOT) as root, page(tmp_path, ANA) as ana:
        own, others = [(await root.get("/v1/search", params=question, headers=each)).json() for each in ({}, AS_ANA)]
        hers = (await ana.get("/v1/search", params=question)).json()
        me = (await root.get("/page/me", headers=AS_ANA)).json()
    assert [each["relation"]["type"] for each in own["triplets"]].count("lives_in") == 1
    assert others["triplets"] == hers["triplets"]
    assert others["denied_by"] == {"private-elements": sum(others["denied"].values())} != {}
    assert not {"denied", "denied_by", "left_out", "timings"} & hers.keys()
    assert (me["principal"]["id"], me["viewed_by"]["id"], me["may"]) == ("ana", "root", ["read", "feedback"])


@pytest.mark.parametrize(
    ("token", "headers", "status"),
    [
        (ANA, AS_ANA, 403),
        (ANA, {"view-as": "{"}, 403),
        (ROOT, {"view-as": "{"}, 400),
        (ROOT, {"view-as": ""}, 400),
        (ROOT, {"view-as": '{"id": "ana", "projects": ["acme/other"]}'}, 400),
        (ROOT, {"view-as": '{"id": ""}'}, 400),
        (ROOT, {"view-as": '{"id": "ana", "type": "no type"}'}, 400),
        (ROOT, [("view-as", '{"id": "ana"}'), ("view-as", '{"id": "eve"}')], 400),
    ],
)
async def test_view_as_is_refused_without_the_permission_and_where_it_names_no_principal(
    tmp_path, token, headers, status
):
    async with page(tmp_path, token) as http:
        for path in ("/page/me", "/v1/list_memories"):
            refused = await http.get(path, headers=headers)
            assert (refused.status_code, "memories" in refused.json()) == (status, False)


async def test_whoever_views_as_another_changes_nothing(tmp_path):
    engine = await team_engine(HIDDEN)
    editor = {"view-as": '{"id": "ed", "attributes": {"role": "editor"}}'}
    async with page(tmp_path, ROOT, engine=engine) as http:
        before = await engine.store.version()
        refused = await http.post("/v1/forget", json={"memory": "moved"}, headers=editor)
        dry = await http.post("/v1/forget", json={"memory": "moved", "dry_run": True}, headers=editor)
        block = await http.get("/v1/graph_query", params={"query": "Ada", "session_id": "s"}, headers=editor)
        assert (refused.status_code, dry.json()["memories"], block.status_code) == (403, 1, 200)
        assert await engine.store.injections("s") == []
        assert await engine.store.version() == before


async def test_a_page_that_only_reads_refuses_changes_and_still_shows_what_they_would_do(tmp_path):
    async with page(tmp_path, ROOT, read_only=True) as http:
        me = (await http.get("/page/me")).json()
        refused = await http.post("/v1/merge_entities", json={"source": "Bob Noyce", "target": "Ada Lovelace"})
        ends = {"source": "Bob Noyce", "target": "Ada Lovelace"}
        dry = (await http.get("/v1/merge_entities", params={**ends, "dry_run": "false"})).json()
        made = (await http.get("/v1/merges")).json()
    assert (me["writes"], me["read_only"], refused.status_code) == (False, True, 405)
    assert (dry["source_name"], dry["target_name"], dry["relations"]) == ("Bob Noyce", "Ada Lovelace", 2)
    assert made == {"merges": []}


async def test_one_identity_without_tokens_is_who_looks():
    desk = Desk(surface_over(await team_engine()))
    who = Identity(Principal(id="me", attributes={"role": "editor"}, projects=[SCOPE]), SCOPE)
    async with listening(make_server(desk, who), routes=page_routes(desk, who)) as url, client() as http:
        me = (await http.get(url.replace("/mcp", "/page/me"))).json()
    assert (me["principal"]["id"], "view_as" in me["may"], me["principals"]) == ("me", False, [])
