"""The table of operations and the lists that are made of it: tools, routes, blocking names, commands, pages."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path

import attrs
import click
import pytest
from mcp import Client

from graphsearch import sync
from graphsearch.cli.app import app
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.integrations.http.rest import ROOT, openapi, rest_routes
from graphsearch.integrations.mcp.tools import CALL_TOOL, FIND_TOOL
from graphsearch.model.codec import schema
from graphsearch.operations.operation import Profile
from graphsearch.operations.service import Identity
from graphsearch.operations.serving import Desk
from graphsearch.operations.table import operations
from tests.integrations.mcp.conftest import EDITOR, SCOPE, server_for, surface_over, team_engine

DOCS = Path(__file__).parents[1] / "docs"
TABLE = list(operations().values())
SERVED = [each.name for each in TABLE if each.profile <= Profile.ALL]
ALL = {"profile": Profile.ALL, "review": True}
every_row = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


async def test_the_tools_are_the_rows_that_are_served():
    async with Client(server_for(await team_engine(), **ALL)) as client:
        assert [each.name for each in (await client.list_tools()).tools] == SERVED


@pytest.mark.parametrize("profile", [Profile.AGENT, Profile.CURATOR])
async def test_a_profile_lists_its_rows_and_a_pair_that_reaches_the_others(profile):
    async with Client(server_for(await team_engine(), **ALL | {"profile": profile})) as client:
        listed = [each.name for each in (await client.list_tools()).tools]
        assert listed == [*(each.name for each in TABLE if each.profile <= profile), FIND_TOOL, CALL_TOOL]
        for name in SERVED:
            found = await client.call_tool(FIND_TOOL, {"query": name})
            tools = (found.structured_content or {})["tools"]
            assert name in [each["name"] for each in tools]


def test_the_routes_and_their_description_are_the_rows_that_are_served():
    desk = Desk(surface_over(None, **ALL))
    paths = openapi(desk)["paths"]
    served = [each.name for each in TABLE if each.profile <= Profile.PAGE]
    assert [path.removeprefix(f"{ROOT}/") for path in paths] == served
    methods = {route.path: route.methods for route in rest_routes(desk, Identity(EDITOR, SCOPE))}
    for row in TABLE:
        if row.name in served:
            expected = ["get"] * (row.reads or row.has_dry_run) + ["post"] * (not row.reads)
            assert [*paths[f"{ROOT}/{row.name}"]] == expected
            assert {each.upper() for each in expected} == (methods[f"{ROOT}/{row.name}"] or set()) - {"HEAD"}


@every_row
def test_a_row_over_a_method_has_it_in_the_blocking_library(row):
    name = row.verb.__name__
    for owner in (GraphSearchEngine, Curator):
        if inspect.unwrap(getattr(owner, name, inspect.isfunction)) is inspect.unwrap(row.verb):
            assert callable(getattr(getattr(sync, owner.__name__), name))


@every_row
def test_a_row_is_a_command(row):
    assert app.get_command(click.Context(app), row.name.replace("_", "-")) is not None


@every_row
def test_every_argument_says_what_it_is(row):
    fields = {each.name: each for each in attrs.fields(row.request)}
    assert [name for name, each in fields.items() if not each.metadata["says"].text] == []
    assert row.people
    assert row.agents
    assert {*row.listed} <= fields.keys()
    assert schema(row.request)["properties"].keys() == fields.keys()
    needed = {name for name, each in fields.items() if each.default is attrs.NOTHING}
    assert not row.listed or needed <= {*row.listed}, "an agent is told of what it must give"


def test_the_reference_lists_all_rows_that_are_served():
    spec = importlib.util.spec_from_file_location("operations_of_site", DOCS / "building" / "operations.py")
    assert spec
    assert spec.loader
    building = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(building)
    page = building.on_page_markdown((DOCS / "reference" / "mcp-server.md").read_text())
    listed = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `") and "| `" in line[3:]]
    assert [name for name in listed if name in SERVED] == SERVED
    for row in TABLE:
        if row.name in SERVED:
            assert f"| {row.people} |" in page
