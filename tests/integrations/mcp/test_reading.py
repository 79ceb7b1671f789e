"""Every tool that reads, asked by the official client."""

from uuid import UUID

import pytest

from graphsearch.model import ElementKind, ElementRef
from graphsearch.testing.samples import day
from tests.curation.team import ACME, ADA, BOB, GLOBEX, HOME, PARIS
from tests.integrations.mcp.conftest import asking, server_for

QUESTION = "where does Ada Lovelace live, in Paris?"


@pytest.fixture
def asked(engine):
    return asking(server_for(engine))


async def test_graph_query_gives_a_block_under_budget_and_the_same_as_data(asked):
    async with asked as ask:
        found = await ask("graph_query", query=QUESTION, budget=120)
    assert found["session_id"].startswith("s-")
    assert 0 < found["tokens"] <= found["budget"] == 120
    assert "- Ada Lovelace --lives_in--> Paris (since 2025-03-02)" in found["text"].splitlines()
    assert "Ada Lovelace --lives_in--> Paris" in [each["line"] for each in found["triplets"]]
    assert not {"reason", "time"} & set(found), "it answers, for the present"
    observed = (
        found["text"].partition("## Relevant Past Observations (newest first)\n")[2].partition("\n## ")[0].splitlines()
    )
    assert len(observed) == len(found["memories"]) > 0
    assert observed[[each["id"] for each in found["memories"]].index("home")].endswith("Ada lives in Paris, says Bob.")


async def test_graph_query_passes_its_arguments_on(engine, asked):
    async with asked as ask:
        then = await ask("graph_query", query=QUESTION, as_of=day(20).isoformat(), session_id="s7")
        near = await ask("graph_query", query=QUESTION, mode="neighborhood", depth=0)
        wide = await ask("graph_query", query=QUESTION, budget=4_000)
        bare = await ask("graph_query", query="Bob Noyce", seeds=1, depth=0)
        [plain] = (await ask.client.call_tool("graph_query", {"query": QUESTION, "budget": 4_000})).content
    assert then["session_id"] == "s7"
    assert "Acme" in then["text"]
    assert "Paris" not in then["text"], "she did not live there yet"
    assert "lives_in" in near["text"]
    assert wide["budget"] == 2_000, "half of the answer's tokens are for the same as data"
    assert plain.text.startswith(wide["text"])
    assert bare["triplets"] == []
    (injection,) = await engine.store.injections("s7")
    assert injection.principal == "User:ada"


async def test_graph_query_says_which_time_it_answers_for_and_why_it_does_not(asked):
    async with asked as ask:
        then = await ask("graph_query", query="where did Ada Lovelace live in January 2025?")
        ever = await ask("graph_query", query="where did Ada Lovelace use to live?")
        foreign = await ask("graph_query", query="who won the regatta?")
    assert ever["time"] == "did: until now"
    assert then["time"].startswith("January 2025: 2025-01-01T00:00:00+00:00 to 2025-01-31T23:59:59")
    assert (foreign["text"], foreign["memories"], foreign["triplets"]) == ("", [], [])
    assert foreign["reason"]


async def test_recall_gives_the_words_of_memories(asked):
    async with asked as ask:
        found = await ask("recall", query="who joined Globex?", limit=2)
        then = await ask("recall", query="who knows Bob?", as_of=day(75).isoformat())
    assert found["memories"][0]["text"] == "Ada joined Globex."
    assert len(found["memories"]) == 2
    assert found["reason"] == ""
    assert "friends" not in [each["id"] for each in then["memories"]]


async def test_a_workload_weights_the_graph(asked):
    async with asked as ask:
        block = await ask("graph_query", query=QUESTION, workload="text")
        recalled = await ask("recall", query=QUESTION, workload="relational")
        fault = await ask.error("recall", query=QUESTION, workload="all")
    assert (bool(block["memories"]), block["triplets"]) == (True, [])
    assert recalled["memories"]
    assert "workload must be one of 'relational'" in fault["message"]


async def test_graph_explain_takes_a_score_apart(engine, asked):
    (relation,) = await engine.store.list_relations(type="lives_in")
    async with asked as ask:
        found = await ask("explain", query=QUESTION, id=str(relation.id))
        entity = await ask("explain", query=QUESTION, id=str(PARIS.id), kind="entity")
        memory = await ask("explain", query=QUESTION, id=HOME.id, kind="memory")
    assert found["found"]["line"] == "Ada Lovelace --lives_in--> Paris"
    total = sum(part["contribution"] for part in found["parts"])
    assert found["score"] == pytest.approx(total, abs=1e-3), "all are rounded"
    assert (entity["found"]["name"], memory["found"]["id"]) == ("Paris", "home")
    explained = await engine.explain(QUESTION, ElementRef(ElementKind.MEMORY, HOME.id))
    assert memory["score"] == pytest.approx(explained.score, abs=1e-4)


async def test_graph_neighbors_by_name_and_by_id(asked):
    async with asked as ask:
        by_name = await ask("graph_neighbors", entity="Ada Lovelace")
        by_id = await ask("graph_neighbors", entity=str(ADA.id))
        two = await ask("graph_neighbors", entity="Ada", limit=2, depth=2)
    assert by_name == by_id
    assert {each["line"].split(" --")[1].partition("-->")[0] for each in by_id["triplets"]} == {
        "works_at",
        "lives_in",
        "knows",
    }
    assert len(two["triplets"]) == 2
    assert by_id["triplets"][0]["source_id"] == str(ADA.id)


async def test_graph_path_is_a_line_or_null(asked):
    async with asked as ask:
        found = await ask("graph_path", source="Globex", target="Paris")
        none = await ask("graph_path", source="Paris", target="Eve Curie")
    assert found["path"]["line"] == "Globex <--works_at-- Ada Lovelace --lives_in--> Paris"
    assert found["path"]["hops"] == len(found["path"]["relation_ids"]) == 2
    assert found["path"]["entity_ids"] == [str(each.id) for each in (GLOBEX, ADA, PARIS)]
    assert none == {"path": None}


async def test_recall_related_tells_the_way(asked):
    async with asked as ask:
        found = await ask("recall_related", entity="Paris", max_hops=2, limit=3)
    assert [each["hops"] for each in found["related"]] == [1, 2, 2]
    assert found["related"][0]["entity"]["name"] == "Ada Lovelace"
    assert all(len(each["path"]) == each["hops"] for each in found["related"])


async def test_entity_graph_is_node_link_json(asked):
    async with asked as ask:
        found = await ask("entity_graph", entity="Ada Lovelace", depth=1)
    ids = {node["id"] for node in found["nodes"]}
    assert ids == {str(each.id) for each in (ADA, BOB, GLOBEX, PARIS)}
    assert {link["type"] for link in found["links"]} == {"works_at", "lives_in", "knows"}
    assert all({link["source"], link["target"]} <= ids for link in found["links"])


async def test_search_entities_finds_parts_of_names(asked):
    async with asked as ask:
        found = await ask("search_entities", query="lovela")
        other = await ask("search_entities", query="lovela", type="place")
    assert [(each["entity"]["name"], each["way"]) for each in found["entities"]] == [("Ada Lovelace", "prefix")]
    assert UUID(found["entities"][0]["entity"]["id"]) == ADA.id
    assert other["entities"] == []


async def test_recall_entity_tells_role_place_relations_and_memories(asked):
    async with asked as ask:
        await ask("detect_communities")
        found = await ask("recall_entity", entity="Ada Lovelace", limit=2)
        place = await ask("recall_entity", entity="Paris")
    assert found["entity"]["aliases"] == ["Ada", "Countess"]
    assert found["most_recent_role"]["entity"]["name"] == "Globex"
    assert found["most_recent_location"]["entity"]["id"] == str(PARIS.id)
    assert "Ada Lovelace" in found["community"]["label"]
    assert len(found["triplets"]) == 2
    assert [each["id"] for each in found["memories"]] == ["friends", "again"]
    assert "most_recent_role" not in place


async def test_entity_timeline_is_in_order_and_bounded_in_time(asked):
    async with asked as ask:
        found = await ask("entity_timeline", entity=str(ACME.id))
        later = await ask("entity_timeline", entity="Ada Lovelace", since=day(60).isoformat(), until="2025-03-13")
    assert [(each["kind"], each.get("entity", {}).get("name")) for each in found["events"]] == [
        ("started", "Ada Lovelace"),
        ("started", "Bob Noyce"),
        ("mentioned", None),
        ("ended", "Ada Lovelace"),
    ]
    assert found["events"][2]["memory"]["id"] == "hired"
    assert [each["kind"] for each in later["events"]] == ["started", "mentioned", "started", "mentioned"]


async def test_backlinks_of_entities_and_of_memories(asked):
    async with asked as ask:
        mentioning = await ask("backlinks", entity="Globex")
        shared = await ask("backlinks", memory="home")
        await ask("link_memories", from_id="moved", to_id="home", type="follows")
        linked = await ask("backlinks", memory="home")
        both = await ask.error("backlinks", entity="Globex", memory="home")
    before, after = ([each["memory"]["id"] for each in found["backlinks"]] for found in (shared, linked))
    assert [each["memory"]["id"] for each in mentioning["backlinks"]] == ["moved"]
    assert not [each for each in shared["backlinks"] if "links" in each]
    assert {*after} == {"moved", *before}
    assert [link["type"] for each in linked["backlinks"] for link in each.get("links", ())] == ["follows"]
    assert after[0] == "moved"
    assert both["type"] == "InvalidInputError"
