"""The protocol: handshakes of both eras, lists, faults, concurrent and cancelled calls, resources and prompts."""

import asyncio
import json
import logging
from datetime import UTC, datetime
from importlib.metadata import version

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from graphsearch.errors import InvalidInputError, StoreUnavailableError
from graphsearch.integrations.mcp import server as served
from graphsearch.integrations.mcp.tool import validated
from tests.curation.team import ADA
from tests.integrations.mcp.conftest import STRANGER, Asked, Slow, asking, server_for
from tests.waiting import LONGEST

TOOLS = (
    *("graph_query", "graph_neighbors", "graph_path", "remember", "feedback", "explain"),
    *(
        "recall",
        "rank_entities",
        "recall_entity",
        "recall_related",
        "entity_graph",
        "entity_timeline",
        "search_entities",
    ),
    *("merge_entities", "update_entity", "link_memories", "backlinks", "detect_communities", "forget"),
)


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
        assert found["entities"][0]["id"] == str(ADA.id)


async def test_every_tool_is_listed_with_a_schema_and_honest_hints(server):
    async with asking(server) as ask:
        tools = await ask.tools()
    assert sorted(tools) == sorted(TOOLS)
    for tool, hint in tools.values():
        assert tool.description
        assert "\n" not in tool.description.replace("\n\n", ""), "paragraphs, not lines"
        assert tool.input_schema["additionalProperties"] is False
        assert '"title"' not in json.dumps(tool.input_schema)
        assert hint.open_world_hint is False
    hints = {name: hint for name, (_, hint) in tools.items()}
    writing = {name for name, hint in hints.items() if not hint.read_only_hint}
    destructive = {name for name, hint in hints.items() if hint.destructive_hint}
    assert writing == {"remember", "feedback", "link_memories", "detect_communities", *destructive}
    assert destructive == {"merge_entities", "update_entity", "forget"}
    assert {name for name in writing if not hints[name].idempotent_hint} == {"merge_entities"}


async def test_the_defaults_of_graph_query_are_those_that_are_documented(server):
    async with asking(server) as ask:
        tool, _ = (await ask.tools())["graph_query"]
    fields = tool.input_schema["properties"]
    assert list(fields) == ["query", "seeds", "depth", "mode", "traversal", "as_of", "budget", "workload", "session_id"]
    assert [fields[name]["default"] for name in ("seeds", "depth", "budget")] == [10, 2, 500]
    assert tool.input_schema["required"] == ["query"]


@pytest.mark.parametrize(
    ("tool", "arguments", "faults"),
    [
        ("graph_query", {}, ["query: Field required"]),
        ("graph_query", {"query": "x", "seeds": 0, "mode": "sql"}, ["seeds: Input should be", "mode: Input should be"]),
        ("graph_query", {"query": "x" * 5_000}, ["query: String should have at most 4000 characters"]),
        ("graph_query", {"query": "a\0b"}, ["query must not contain NUL"]),
        ("graph_query", {"query": "x", "as_of": "yesterday"}, ["as_of: Input should be a valid datetime"]),
        ("graph_path", {"source": "Ada Lovelace", "target": "Paris", "max_hops": 99}, ["max_hops: Input should be"]),
        ("feedback", {"session_id": "s", "outcome": "great"}, ["outcome: Input should be 'accepted', 'rework'"]),
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
        with pytest.raises(MCPError, match="task: Field required"):
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


def sample(schema, defined):
    """A valid value of a schema."""
    schema = defined[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema.get("anyOf", [schema])[0]
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "array":
        return [sample(schema["items"], defined)]
    if schema["type"] == "object":
        return {name: sample(each, defined) for name, each in schema["properties"].items()}
    formats = {"date-time": "2024-05-01T09:00:00Z", "uuid": "748eab98-e551-59df-a8de-7fd35935d7a6"}
    kinds = {"string": formats.get(schema.get("format"), "a name"), "integer": 3, "number": 0.75, "boolean": True}
    return kinds[schema["type"]]


@pytest.mark.parametrize("tool", [*served.TOOLS, *served.OPERATOR_TOOLS], ids=lambda tool: tool.name)
def test_arguments_may_come_in_the_forms_in_which_clients_send_them(tool):
    schema = tool.listed().input_schema
    every = {name: sample(each, schema.get("$defs", {})) for name, each in schema["properties"].items()}
    needed = {name: every[name] for name in schema.get("required", [])}
    read = tool.arguments.model_validate(every)
    as_text = {name: value if isinstance(value, str) else json.dumps(value) for name, value in every.items()}
    in_parts = {name: [json.dumps(one) for one in value] for name, value in every.items() if name == "turns"}
    assert tool.arguments.model_validate(as_text) == read
    assert tool.arguments.model_validate(every | in_parts) == read
    bare = tool.arguments.model_validate(needed)
    for absent in (None, "", " "):
        assert tool.arguments.model_validate(dict.fromkeys(every, absent) | needed) == bare
    for wrong in (
        {**needed, "principal": "eve"},
        *({**needed, name: absent} for name in needed for absent in (None, "")),
    ):
        with pytest.raises(InvalidInputError):
            validated(tool.arguments, wrong, tool.name)


@pytest.mark.parametrize("text", ["[" * 100_000, "[1", "chat", '{"a": 1}', "9" * 5_000])
def test_a_text_that_is_no_list_is_a_fault(text):
    (remember,) = (tool for tool in served.TOOLS if tool.name == "remember")
    with pytest.raises(InvalidInputError, match="labels: Input should be a valid list"):
        validated(remember.arguments, {"text": "x", "labels": text}, "remember")
