"""What is asked over every transport: each tool once, faults, and many calls at the same time."""

import asyncio

import pytest
from mcp.shared.exceptions import MCPError

from tests.integrations.mcp.conftest import Asked

AGENT = (
    *("graph_query", "remember", "recall", "graph_neighbors", "graph_path", "feedback"),
    *("find_tool", "call_tool"),
)
"""What an agent is told of."""
TURNS = [
    {"speaker": "Grace Hopper", "content": "I work at Globex.", "time": "2026-01-10T09:00:00Z"},
    {"speaker": "Ada Lovelace", "content": "Grace Hopper built COBOL. COBOL uses Flowmatic."},
    {"role": "assistant", "content": "Ada Lovelace works at Initech."},
]
QUESTION = "What did Grace Hopper build?"


async def every_tool(ask: Asked) -> None:
    """A day of an agent, from what it learns to what it forgets."""
    called = set()

    async def call(tool, **arguments):
        called.add(tool)
        return await ask(tool, **arguments)

    ids = (await call("remember", turns=TURNS, session_id="tour"))["memory_ids"]
    assert [each.partition("#")[0] for each in ids] == ["tour:0", "tour:1", "tour:2"]
    asked = await call("graph_query", query=QUESTION, session_id="tour-1")
    assert "- Grace Hopper --created--> COBOL" in asked["text"]
    [built] = [each for each in asked["triplets"] if "--created--> COBOL" in each["line"]]
    assert ids[2] in [each["id"] for each in (await call("recall", query="who works at Initech?"))["memories"]]
    assert (await call("rank_entities", query=QUESTION, ranking="rrf"))["entities"][0]["name"] in (
        "Grace Hopper",
        "COBOL",
    )
    assert (await ask("graph_query", query=QUESTION, traversal="pagerank", mode="neighborhood"))["triplets"]
    assert (await call("explain", query=QUESTION, id=built["relation_id"]))["rank"] >= 1
    assert (await call("feedback", session_id="tour-1", outcome="accepted"))["moved"] > 0
    assert (await call("graph_neighbors", entity="COBOL"))["triplets"]
    path = await call("graph_path", source="Globex", target="Flowmatic")
    assert path["path"]["line"] == "Globex <--works_at-- Grace Hopper --created--> COBOL --uses--> Flowmatic"
    assert (await call("recall_related", entity="Globex"))["related"][0]["entity"]["name"] == "Grace Hopper"
    assert len((await call("entity_graph", entity="COBOL"))["nodes"]) == 3
    assert (await call("search_entities", query="cobo"))["entities"][0]["entity"]["name"] == "COBOL"
    assert (await call("recall_entity", entity="Grace Hopper"))["most_recent_role"]["entity"]["name"] == "Globex"
    assert (await call("entity_timeline", entity="Globex"))["events"][0]["at"].startswith("2026-01-10")
    mentioning = (await call("backlinks", entity="Flowmatic"))["backlinks"]
    assert [each["memory"]["id"] for each in mentioning] == [ids[1]]
    assert (await call("update_entity", entity="COBOL", description="A language."))["name"] == "COBOL"
    assert (await call("merge_entities", source="Initech", target="Globex"))["claims"] == 1
    assert (await call("link_memories", from_id=ids[1], to_id=ids[0]))["new"]
    assert (await call("detect_communities", limit=1))["communities"]
    assert (await call("forget", session_id="tour"))["memories"] == 3
    assert {*AGENT} - called == {"find_tool", "call_tool"}
    assert tuple(await ask.tools()) == AGENT, "all others are called by name"


async def faults(ask: Asked) -> None:
    """Bad arguments, and what is not there."""
    assert "seeds: must be at least 1" in (await ask.error("graph_query", query="x", seeds=-1))["message"]
    assert "org_id: is unknown" in (await ask.error("recall", query="x", org_id="other"))["message"]
    assert (await ask.error("recall_entity", entity="Nobody"))["type"] == "UnknownElementError"
    with pytest.raises(MCPError, match="there is no tool 'drop_tables'") as failed:
        await ask("drop_tables")
    assert failed.value.code == -32602


async def at_once(ask: Asked, names: list[str]) -> None:
    """Many calls, each of which gets its own answer."""
    asked = names * 8
    found = await asyncio.gather(*(ask("recall_entity", entity=name) for name in asked))
    assert [each["entity"]["name"] for each in found] == asked
