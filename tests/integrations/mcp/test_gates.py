"""What a principal may not see is absent, what it may not do is a typed error, and only its token names it."""

import json

import attrs
import pytest

from graphsearch.integrations.mcp import Identity, make_server
from graphsearch.model import Batch, Relation
from graphsearch.operations.operation import Profile
from graphsearch.operations.table import operations
from tests.curation.team import ADA, BATCH, CLAIMS, ENTITIES, HOME, MEMORIES, MENTIONS, PARIS
from tests.integrations.mcp.conftest import (
    EDITOR,
    READER,
    SCOPE,
    STRANGER,
    asking,
    own,
    server_for,
    surface_over,
    team_engine,
)

PRIVATE = ("private",)
SECRETS = Batch(
    entities=[*ENTITIES[:-1], attrs.evolve(PARIS, labels=PRIVATE)],
    memories=[attrs.evolve(memory, labels=PRIVATE) if memory is HOME else memory for memory in MEMORIES],
    mentions=MENTIONS,
    claims=CLAIMS,
)
WITHOUT = Batch(
    entities=ENTITIES[:-1],
    memories=[memory for memory in MEMORIES if memory is not HOME],
    mentions=[each for each in MENTIONS if each.memory_id != HOME.id],
    claims=[each for each in CLAIMS if each.memory_id != HOME.id],
)
LIVES_IN = Relation(source_id=ADA.id, type="lives_in", target_id=PARIS.id, valid_from=HOME.occurred_at)
QUERY = "where does Ada Lovelace live, in Paris?"
READS = [
    ("graph_query", {"query": QUERY, "session_id": "s"}),
    ("graph_query", {"query": QUERY, "session_id": "s", "mode": "neighborhood"}),
    ("recall", {"query": "Ada"}),
    ("rank_entities", {"query": QUERY}),
    ("explain", {"query": QUERY, "id": str(ADA.id), "kind": "entity"}),
    ("graph_neighbors", {"entity": "Ada Lovelace", "depth": 2}),
    ("graph_path", {"source": "Globex", "target": "Bob Noyce"}),
    ("recall_related", {"entity": "Ada Lovelace"}),
    ("entity_graph", {"entity": "Ada Lovelace"}),
    ("search_entities", {"query": "Pari"}),
    ("recall_entity", {"entity": "Ada Lovelace"}),
    ("entity_timeline", {"entity": "Ada Lovelace"}),
    ("backlinks", {"entity": "Ada Lovelace"}),
]
WRITES = [
    ("remember", {"text": "Ada left."}),
    ("update_entity", {"entity": "Ada Lovelace", "name": "Ada King"}),
    ("merge_entities", {"source": "Acme", "target": "Globex"}),
    ("link_memories", {"from_id": "moved", "to_id": "hired"}),
    ("detect_communities", {}),
    ("forget", {"memory": "moved"}),
]
NAMES = {"Paris", "home", str(PARIS.id), "lives_in"}


def text_of(answer) -> str:
    return json.dumps(answer).replace(QUERY, "")


@pytest.mark.parametrize(("tool", "arguments"), READS)
async def test_what_is_hidden_is_not_there(tool, arguments):
    async with (
        asking(server_for(await team_engine(SECRETS), READER)) as ask,
        asking(server_for(await team_engine(WITHOUT), READER)) as plain,
    ):
        hidden, absent = await ask(tool, **arguments), await plain(tool, **arguments)
    assert not [name for name in NAMES if name in text_of(hidden)]
    if tool in ("graph_query", "recall"):  # a scope's own statistics go into scores
        for answer in (hidden, absent):
            for each in answer["memories"]:
                del each["score"]
            answer["memories"].sort(key=lambda each: each["id"])
    assert hidden == absent


@pytest.mark.parametrize("query", ["Does Ada live in Paris?", "who lives in Paris?"])
async def test_a_reason_says_the_same_of_what_is_hidden_as_of_what_is_not_there(query):
    reasons = []
    for batch in (SECRETS, WITHOUT):
        async with asking(server_for(await team_engine(batch), READER)) as ask:
            reasons.append((await ask("graph_query", query=query))["reason"])
    assert reasons[0] == reasons[1]
    assert "of Paris" in reasons[0], "a word of the question itself"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("recall_entity", {"entity": str(PARIS.id)}),
        ("graph_neighbors", {"entity": "Paris"}),
        ("graph_path", {"source": "Ada Lovelace", "target": "Paris"}),
        ("backlinks", {"memory": "home"}),
        ("explain", {"query": "x", "id": str(PARIS.id), "kind": "entity"}),
        ("explain", {"query": "x", "id": str(LIVES_IN.id)}),
        ("explain", {"query": "x", "id": "home", "kind": "memory"}),
        ("update_entity", {"entity": "Paris", "name": "Lutetia"}),
        ("merge_entities", {"source": "Paris", "target": "Globex"}),
        ("link_memories", {"from_id": "home", "to_id": "moved"}),
    ],
)
async def test_pointing_at_what_is_hidden_is_as_pointing_at_nothing(tool, arguments):
    engine, absent = await team_engine(SECRETS), await team_engine(WITHOUT)
    async with asking(server_for(engine)) as ask, asking(server_for(absent)) as plain:
        error = await ask.error(tool, **arguments)
        assert error == await plain.error(tool, **arguments)
    assert error["type"] == "UnknownElementError"


@pytest.mark.parametrize(("tool", "arguments"), WRITES)
async def test_who_may_not_change_the_graph_is_refused_without_any_of_its_text(engine, tool, arguments):
    before = await state(engine)
    async with asking(server_for(engine, READER)) as ask:
        error = await ask.error(tool, **arguments)
    assert error["type"] == "AccessDeniedError"
    assert " is denied for " in error["message"]
    assert not [each.name for each in ENTITIES if each.name in error["message"]]
    assert await state(engine) == before


async def test_the_relation_that_is_hidden_is_explained_to_those_who_may_see_it():
    async with asking(server_for(await team_engine())) as ask:
        found = await ask("explain", query=QUERY, id=str(LIVES_IN.id))
    assert found["found"]["line"] == "Ada Lovelace --lives_in--> Paris"


async def test_who_may_write_but_not_what_is_labelled_is_refused_whole(engine):
    turns = [{"role": "user", "content": "One."}, {"role": "user", "content": "Two."}]
    before = await state(engine)
    async with asking(server_for(engine)) as ask:
        error = await ask.error("remember", turns=turns, session_id="s", labels=["private"])
    assert error["message"].startswith("write is denied")
    assert await state(engine) == before


@pytest.mark.parametrize("text", [HOME.text, "Ada lives in Rome."])
async def test_a_hidden_memory_is_not_overwritten_nor_confirmed_by_writing_its_text(text):
    engine = await team_engine(SECRETS)
    async with asking(server_for(engine)) as ask:
        told = await ask("remember", turns=[{"id": "home", "role": "user", "content": text}], session_id="s2")
    assert told == {"changed": 1, "memory_ids": [own("home")]}
    (kept,) = await engine.store.get_memories(["home"])
    assert (kept.labels, kept.text) == (PRIVATE, HOME.text)


async def test_an_outcome_for_what_may_not_be_judged_is_denied(engine):
    async with asking(server_for(engine)) as ask:
        await ask("graph_query", query=QUERY, session_id="s1")
    async with asking(server_for(engine, attrs.evolve(EDITOR, projects=STRANGER.projects))) as ask:
        error = await ask.error("feedback", session_id="s1", outcome="rejected")
    assert error["type"] == "AccessDeniedError"
    assert error["message"].startswith("feedback is denied")


async def test_a_session_of_somebody_else_is_closed(engine):
    async with asking(server_for(engine)) as ask:
        await ask("graph_query", query=QUERY, session_id="s1")
    before = await engine.store.injections("s1")
    async with asking(server_for(engine, READER)) as ask:
        errors = [
            await ask.error("graph_query", query=QUERY, session_id="s1"),
            await ask.error("feedback", session_id="s1", outcome="rejected"),
        ]
    message = "the session 's1' was opened by another principal, and nothing was written: use a session id of your own"
    assert errors == [{"type": "ForeignSessionError", "message": message}] * 2
    assert await engine.store.injections("s1") == before
    async with asking(server_for(engine)) as ask:
        assert (await ask("feedback", session_id="s1", outcome="accepted"))["moved"] > 0


async def test_a_stranger_sees_nothing(engine):
    async with asking(server_for(engine, STRANGER)) as ask:
        assert (await ask("graph_query", query=QUERY))["text"] == ""
        assert (await ask("search_entities", query="Ada"))["entities"] == []
        schema = json.loads(await ask.resource("graphsearch://schema"))
        assert schema == {"whole": True, "entity_types": [], "relation_types": []}
        assert (await ask.error("recall_entity", entity="Ada Lovelace"))["type"] == "UnknownElementError"


async def test_the_schema_tells_only_of_types_that_may_be_seen():
    answers = []
    for batch in (SECRETS, WITHOUT):
        async with asking(server_for(await team_engine(batch), READER)) as ask:
            answers.append(await ask.resource("graphsearch://schema"))
    assert answers[0] == answers[1]
    assert "place" not in answers[0]
    assert "lives_in" not in answers[0]


@pytest.mark.parametrize("argument", ["org_id", "org", "project_id", "project", "principal", "attributes", "gate"])
async def test_no_argument_names_a_scope_or_a_principal(engine, argument):
    async with asking(server_for(engine, READER, profile=Profile.ALL)) as ask:
        tools = await ask.tools()
        assert [name for name, (tool, _) in tools.items() if argument in tool.input_schema["properties"]] == [
            name for name in tools if (name, argument) == ("update_entity", "attributes")
        ], "the attributes of an entity, not of a principal"
        for name in tools.keys() - {"update_entity" if argument == "attributes" else ""}:
            error = await ask.error(name, **{argument: "acme"})
            assert f"{argument}: is unknown" in error["message"]


async def test_a_read_only_server_has_no_tools_that_write(engine):
    async with asking(server_for(engine, read_only=True)) as ask:
        tools = await ask.tools()
        assert {*tools} == {"graph_query", "recall", "graph_neighbors", "graph_path", "find_tool", "call_tool"}
        assert all(hints.read_only_hint for _, hints in tools.values())
        found = await ask("find_tool", query="forget, merge or correct what an entity or a memory says")
        assert not {name for name, _ in WRITES} & {each["name"] for each in found["tools"]}
        for name, arguments in (*WRITES, ("feedback", {})):
            with pytest.raises(Exception, match="there is no tool"):
                await ask(name, **arguments)
            with pytest.raises(Exception, match="there is no tool"):
                await ask("call_tool", name=name, arguments=arguments)
        assert "feedback" not in await ask.prompt(task="x")
        assert "feedback" not in (ask.client.instructions or "")


@pytest.mark.parametrize("everything", [True, False])
async def test_a_project_that_is_switched_off_says_so_and_nothing_else(engine, everything):
    before = await state(engine)
    identity = Identity(EDITOR, SCOPE, disabled=not everything)
    async with asking(make_server(surface_over(engine, disabled=everything), identity)) as ask:
        for name in (*await ask.tools(), *operations()):
            assert await ask(name, anything="goes") == {"disabled": True}
        for uri in ("graphsearch://schema", f"graphsearch://entity/{ADA.id}"):
            assert await ask.resource(uri) == '{"disabled":true}'
        assert await ask.prompt(task="x") == '{"disabled":true}'
    assert await state(engine) == before


async def state(engine):
    """All that a write could change."""
    store = engine.store
    return (
        await store.statistics(),
        await store.list_entities(),
        await store.list_relations(),
        await store.list_memories(),
        await store.memory_links([each.id for each in BATCH.memories]),
        await store.communities(),
    )


async def test_a_note_of_somebody_who_may_not_write_is_not_split(engine, monkeypatch):
    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr("graphsearch.operations.remembering.document_memories", never)
    async with asking(server_for(engine, READER)) as ask:
        error = await ask.error("remember", text="# a" + " " * 100 + "x")
    assert error["type"] == "AccessDeniedError"
