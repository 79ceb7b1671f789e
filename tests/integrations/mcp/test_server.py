"""The protocol: handshakes of both eras, lists, faults, concurrent and cancelled calls, resources and prompts."""

import asyncio
import json
import logging
from datetime import UTC, datetime
from importlib.metadata import version

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent

from graphsearch.errors import InvalidInputError, StoreUnavailableError
from graphsearch.model.codec import schema
from graphsearch.operations.operation import Profile
from graphsearch.operations.serving import Desk
from graphsearch.operations.table import operations
from tests import o200k
from tests.curation.team import ADA
from tests.integrations.mcp.conftest import STRANGER, Asked, Slow, asking, server_for, surface_over
from tests.integrations.mcp.tour import AGENT
from tests.waiting import LONGEST

EVERY = Desk(surface_over(None)).rows()


@pytest.fixture
def server(engine):
    return server_for(engine)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_handshake_and_a_call_in_both_eras_of_the_protocol(server, mode):
    async with Client(server, mode=mode) as client:
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("graphsearch", version("graphsearch"))
        assert "graph_query" in (client.instructions or "")
        found = await Asked(client)("search_entities", query="Ada")
        assert found["entities"][0]["entity"]["id"] == str(ADA.id)


async def test_every_tool_is_listed_with_a_schema_and_honest_hints(engine):
    async with asking(server_for(engine, profile=Profile.ALL)) as ask:
        tools = await ask.tools()
    assert [*tools] == [each.name for each in EVERY]
    for tool, hint in tools.values():
        assert tool.description
        assert "\n" not in tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert '"title"' not in json.dumps(tool.input_schema)
        assert hint.open_world_hint is False
    hints = {name: hint for name, (_, hint) in tools.items()}
    assert {name for name, hint in hints.items() if hint.read_only_hint} == {e.name for e in EVERY if e.reads}
    destructive = {name for name, hint in hints.items() if hint.destructive_hint}
    assert destructive == {
        *("merge_entities", "undo_merge", "update_entity", "forget", "expire", "accept_proposal", "reject_proposal")
    }
    assert {name for name in hints if not hints[name].idempotent_hint} == {"merge_entities", "undo_merge"}


async def test_the_tools_of_an_agent_cost_at_most_1500_tokens_and_reach_all_others(server):
    async with asking(server) as ask:
        tools = await ask.tools()
        assert tuple(tools) == AGENT
        listed = [
            {"name": name, "description": tool.description, "input_schema": tool.input_schema}
            for name, (tool, _) in tools.items()
        ]
        spent = o200k.tokens(json.dumps(listed, separators=(",", ":")))
        assert spent <= 1_500
        found = await ask("find_tool", query="which entities are duplicates?")
        assert "find_duplicates" in [each["name"] for each in found["tools"]]
        assert await ask("call_tool", name="find_duplicates", arguments={"limit": "5"}) == {"duplicates": []}
        assert (await ask("call_tool", name="graph_neighbors", arguments='{"entity": "Acme"}'))["triplets"]
        assert "find_duplicates" in (await ask("find_tool", query="xyz"))["names"]
        with pytest.raises(MCPError, match="there is no tool 'remove_scope'"):
            await ask("call_tool", name="remove_scope")


async def test_a_block_costs_its_text_and_the_session(server):
    async with asking(server) as ask:
        result = await ask.client.call_tool("graph_query", {"query": "where does Ada Lovelace live?"})
    [content] = result.content
    assert isinstance(content, TextContent)
    assert result.structured_content is None
    text, _, session = content.text.rpartition("\n\nsession_id: ")
    assert "Paris" in text
    assert session.startswith("s-")
    assert o200k.tokens(content.text) <= o200k.tokens(text) + 20


async def test_the_defaults_of_graph_query_are_those_that_are_documented(server):
    async with asking(server) as ask:
        tool, _ = (await ask.tools())["graph_query"]
    assert list(tool.input_schema["properties"]) == ["query", "budget", "as_of", "session_id", "details"]
    assert tool.input_schema["required"] == ["query"]


@pytest.mark.parametrize(
    ("tool", "arguments", "faults"),
    [
        ("graph_query", {}, ["query: is needed"]),
        ("graph_query", {"query": "x", "seeds": 0, "depth": "far"}, ["seeds: must be at least 1", "depth: must be"]),
        ("graph_query", {"query": "x" * 5_000}, ["query: must have at most 4,000 characters"]),
        ("graph_query", {"query": "a\0b"}, ["query must not contain NUL"]),
        ("graph_query", {"query": "x", "as_of": "yesterday"}, ["as_of: must be a time, such as"]),
        ("graph_path", {"source": "Ada Lovelace", "target": "Paris", "max_hops": 99}, ["max_hops: must be at most 10"]),
        ("feedback", {"session_id": "s", "outcome": "great"}, ["outcome: must be one of 'accepted', 'rework'"]),
        ("explain", {"query": "x", "id": "no-id"}, ["the id must be a UUID"]),
    ],
)
async def test_bad_arguments_are_named_all_at_once(server, tool, arguments, faults):
    async with asking(server) as ask:
        error = await ask.error(tool, **arguments)
    assert error["type"] == "InvalidInputError"
    assert [fault for fault in faults if fault not in error["message"]] == []
    assert len(error["message"]) <= 1_001


async def test_a_mode_that_lacks_its_model_says_what_is_missing(server):
    async with asking(server) as ask:
        error = await ask.error("graph_query", query="who knows whom?", mode="natural_language")
    assert error["type"] == "MissingDependencyError"


async def test_an_unknown_tool_and_an_unknown_prompt_are_protocol_errors(server):
    async with asking(server) as ask:
        with pytest.raises(MCPError, match="there is no tool 'sql‹script›'") as failed:
            await ask("sql<script>")
        assert failed.value.code == -32602
        with pytest.raises(MCPError, match="there is no prompt 'nope'"):
            await ask.client.get_prompt("nope")


async def test_resources_are_an_entity_and_the_schema(server):
    async with asking(server) as ask:
        (schema,) = (await ask.client.list_resources()).resources
        (template,) = (await ask.client.list_resource_templates()).resource_templates
        types = json.loads(await ask.resource(schema.uri))
        entity = json.loads(await ask.resource(template.uri_template.replace("{id}", str(ADA.id))))
        for wrong in (
            "graphsearch://entity/nobody",
            "graphsearch://entity/",
            "graphsearch://else",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError) as failed:
                await ask.resource(wrong)
            assert failed.value.code == -32602
    assert types["whole"] is True
    assert {each["type"]: each["count"] for each in types["relation_types"]}["works_at"] == 2
    assert {each["type"] for each in types["entity_types"]} == {"person", "organisation", "place"}
    assert entity["entity"]["name"] == "Ada Lovelace"


async def test_the_prompt_holds_the_task_and_its_context_and_starts_a_session(engine, server):
    async with asking(server) as ask:
        text = await ask.prompt(task="Send Ada Lovelace a card to Paris.")
        with pytest.raises(MCPError, match="task: is needed"):
            await ask.prompt()
    async with asking(server_for(engine, STRANGER)) as ask:
        none = await ask.prompt(task="Send Ada Lovelace a card.")
    assert text.startswith("The task: Send Ada Lovelace a card to Paris.\n")
    inside = text.partition("<context>\n")[2].partition("\n</context>")[0]
    assert "- Ada Lovelace --lives_in--> Paris (since 2025-03-02)" in inside.splitlines()
    session = text.partition('session_id "')[2].partition('"')[0]
    assert await engine.store.injections(session)
    assert "Nothing is known." in none


async def test_calls_run_at_the_same_time(server):
    async with asking(server) as ask:
        names = ["Ada Lovelace", "Bob Noyce", "Acme", "Globex", "Paris"] * 8
        found = await asyncio.gather(*(ask("recall_entity", entity=name) for name in names))
    assert [each["entity"]["name"] for each in found] == names


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_call_that_is_given_up_is_cancelled_and_others_go_on(engine, server, mode):
    slow = Slow()
    fast, engine.embedder = engine.embedder, slow
    async with Client(server, mode=mode) as client:
        ask = Asked(client)
        call = asyncio.ensure_future(ask("graph_query", query="anything?"))
        await asyncio.wait_for(slow.asked.wait(), LONGEST)
        call.cancel()
        await asyncio.wait_for(slow.cancelled.wait(), LONGEST)
        engine.embedder = fast
        assert (await ask("graph_query", query="where does Ada Lovelace live?"))["triplets"]


async def test_what_should_not_happen_is_logged_and_reported_in_general(engine, server, monkeypatch, caplog):
    def broken(*_, **__):
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(engine, "neighbors", broken)
    monkeypatch.setattr(engine, "recall", broken)
    monkeypatch.setattr(engine, "search_and_recall", broken)
    monkeypatch.setattr(engine.store, "relation_types", broken)
    async with asking(server) as ask:
        error = await ask.error("graph_neighbors", entity="Ada Lovelace")
        with pytest.raises(MCPError) as failed:
            await ask.resource("graphsearch://schema")
    assert error == {"type": "InternalError", "message": "The server failed; see its log."}
    assert failed.value.message == error["message"]
    assert "the tool graph_neighbors failed" in caplog.text
    assert "hunter2" in caplog.text, "the operator finds the cause in the log"


async def test_errors_of_servers_and_vendors_tell_clients_no_address(engine, server, monkeypatch, caplog):
    async def down(*_, **__):
        raise StoreUnavailableError("postgresql at db.internal:5432 cannot be reached (password=hunter2)")

    monkeypatch.setattr(engine, "recall", down)
    with caplog.at_level(logging.WARNING):
        async with asking(server) as ask:
            error = await ask.error("recall", query="anything?")
    assert error == {"type": "StoreUnavailableError", "message": "The store cannot be reached."}
    assert "db.internal" in caplog.text


async def test_a_time_without_an_offset_is_utc(engine, server):
    async with asking(server) as ask:
        with_offset = await ask("graph_neighbors", entity="Acme", as_of="2025-01-20T01:00:00+01:00")
        without = await ask("graph_neighbors", entity="Acme", as_of="2025-01-20")
    assert with_offset == without
    assert len(without["triplets"]) == 2
    assert engine.store.clock.now() > datetime(2025, 1, 20, tzinfo=UTC)


SAMPLES = {"weights": {"connection": 0.5}}
"""Values that are checked further than by their schema."""


def sample(schema):
    """A valid value of a schema."""
    schema = schema.get("anyOf", [schema])[0]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    if kind == "array":
        return [sample(schema.get("items", {}))]
    if kind == "object":
        return {name: sample(each) for name, each in schema.get("properties", {}).items()}
    formats = {"date-time": "2024-05-01T09:00:00Z", "uuid": "748eab98-e551-59df-a8de-7fd35935d7a6"}
    kinds = {"string": formats.get(schema.get("format"), "a name"), "integer": 3, "number": 0.75, "boolean": True}
    return kinds[kind]


@pytest.mark.parametrize("tool", EVERY, ids=lambda tool: tool.name)
def test_arguments_may_come_in_the_forms_in_which_clients_send_them(tool):
    form = schema(tool.request)
    every = {name: SAMPLES.get(name) or sample(each) for name, each in form["properties"].items()}
    needed = {name: every[name] for name in form.get("required", [])}
    read = tool.read(every)
    as_text = {name: value if isinstance(value, str) else json.dumps(value) for name, value in every.items()}
    in_parts = {name: [json.dumps(one) for one in value] for name, value in every.items() if name == "turns"}
    assert tool.read(as_text) == read
    assert tool.read(every | in_parts) == read
    bare = tool.read(needed)
    for absent in (None, "", " "):
        assert tool.read(dict.fromkeys(every, absent) | needed) == bare
    for wrong in (
        {**needed, "principal": "eve"},
        *({**needed, name: absent} for name in needed for absent in (None, "")),
    ):
        with pytest.raises(InvalidInputError):
            tool.read(wrong)


@pytest.mark.parametrize("text", ["[" * 100_000, "[1", "chat", '{"a": 1}', "9" * 5_000])
def test_a_text_that_is_no_list_is_a_fault(text):
    with pytest.raises(InvalidInputError, match="labels: must be a list"):
        operations()["remember"].read({"text": "x", "labels": text})
