"""The tools for operators: served on request, each of them behind the gate of the request."""

import attrs
import pytest

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.caching import InProcessCache, cached
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.operations.operation import Profile
from graphsearch.operations.serving import Desk
from graphsearch.testing.fakes import EchoLLM
from graphsearch.testing.samples import person
from tests.curation.team import ADA, BATCH, BOB
from tests.integrations.mcp.conftest import (
    EDITOR,
    READER,
    SCOPE,
    STRANGER,
    asking,
    server_for,
    surface_over,
    team_engine,
)

NAMESAKES = person("Christopher Montgomery"), person("Christopher Montgomerys")


@pytest.fixture
async def server():
    return server_for(
        await team_engine(attrs.evolve(BATCH, entities=(*BATCH.entities, *NAMESAKES))), profile=Profile.ALL
    )


async def test_they_are_listed_on_request_and_none_that_writes_where_all_is_read_only(server):
    engine = await team_engine()
    async with asking(server) as ask:
        listed = await ask.tools()
    assert listed.keys() == {each.name for each in Desk(surface_over(engine)).rows()}
    async with asking(server_for(engine, profile=Profile.CURATOR)) as ask:
        curators = (await ask.tools()).keys()
    assert {"merge_entities", "update_entity", "find_tool", "call_tool"} <= curators
    assert curators - {"find_tool", "call_tool"} < listed.keys()
    async with asking(server_for(engine, profile=Profile.ALL, read_only=True)) as ask:
        listed = await ask.tools()
    assert {"find_duplicates", "why", "graph_health"} <= listed.keys()
    assert not {"undo_merge", "mark_distinct", "register_type", "refresh_communities"} & listed.keys()


async def test_a_day_of_an_operator(server):
    async with asking(server) as ask:
        found = await ask("search", query="Where does Ada work?")
        [works] = [each for each in found["triplets"] if each["line"].startswith("Ada Lovelace --works_at--> Globex")]
        [proof] = (await ask("why", relation_id=works["relation_id"]))["proofs"]
        assert (proof["memory"]["id"], proof["extractor"]) == ("moved", "rules/1")
        ranked = await ask("rank_entities", query="Who is Ada?", ranking="connection", limit=2)
        assert ranked["entities"][0]["id"] == str(ADA.id)
        assert set(ranked["entities"][0]["factors"]) >= {"original", "connection"}
        [pair] = (await ask("find_duplicates"))["duplicates"]
        assert {pair["one"]["name"], pair["other"]["name"]} == {each.name for each in NAMESAKES}
        both = {"one": pair["one"]["id"], "other": pair["other"]["id"]}
        assert await ask("mark_distinct", **both) == {"changed": True}
        assert (await ask("find_duplicates"))["duplicates"] == []
        assert await ask("mark_distinct", **both, distinct=False) == {"changed": True}
        merge = await ask("merge_entities", source=both["one"], target=both["other"])
        assert ["undone_at" in each for each in (await ask("merges", entity=both["other"]))["merges"]] == [False]
        await ask("undo_merge", merge_id=merge["id"])
        assert ["undone_at" in each for each in (await ask("merges"))["merges"]] == [True]
        assert (await ask("contradictions"))["contradictions"] == []
        assert await ask("detect_communities") == await ask("communities")
        assert len((await ask("communities", entity=str(ADA.id)))["communities"]) == 1
        assert (await ask("refresh_communities"))["communities"] == []
        assert (await ask("graph_health"))["value"] > 0


async def test_summaries_are_shown_with_communities_as_safe_text():
    engine = await team_engine()
    curator = Curator(engine, gate=ALLOW_ALL)
    await curator.detect_communities()
    answer = '{"sentences": [{"text": "They know <b>each</b> other.", "cites": [1]}]}'
    await curator.summarise_communities(EchoLLM(*[answer] * 9))
    async with asking(server_for(engine, profile=Profile.ALL)) as ask:
        [found] = (await ask("communities", entity=str(ADA.id)))["communities"]
        assert found["summary"] == "They know ‹b›each‹/b› other."
        assert (await ask("recall_entity", entity=str(ADA.id)))["community"]["summary"] == found["summary"]


async def test_types_are_listed_registered_and_changed(server):
    async with asking(server) as ask:
        made = await ask("register_type", name="Leads To", causal=True, half_life_days=30, hop_scores=[1, 0.5])
        assert made == {
            "name": "leads_to",
            "prior": 1.0,
            "half_life_days": 30.0,
            "hop_scores": [1.0, 0.5],
            "causal": True,
        }
        assert "half_life_days" not in await ask("register_type", name="leads_to", half_life_days=0)
        types = {each["name"]: each for each in (await ask("relation_types"))["relation_types"]}
        assert types["leads_to"]["causal"]
        assert types["works_at"]["functional"]
        assert "prior: must be at most 1" in (await ask.error("register_type", name="x", prior=7))["message"]


async def test_the_gate_decides_for_each_of_them():
    engine = await team_engine()
    async with asking(server_for(engine, READER, profile=Profile.ALL)) as ask:
        assert (await ask("rank_entities", query="Ada"))["entities"]
        assert (await ask.error("register_type", name="knows", prior=0.1))["type"] == "AccessDeniedError"
        both = {"one": str(ADA.id), "other": str(BOB.id)}
        assert (await ask.error("mark_distinct", **both))["type"] == "AccessDeniedError"
    async with asking(server_for(engine, STRANGER, profile=Profile.ALL)) as ask:
        assert (await ask("search", query="Where does Ada work?"))["triplets"] == []
        assert (await ask("rank_entities", query="Ada"))["entities"] == []
        for tool in ("contradictions", "find_duplicates", "merges"):
            assert [*(await ask(tool)).values()] == [[]]
        for tool in ("communities", "graph_health"):
            assert (await ask.error(tool))["type"] == "PartialViewError"
    assert EDITOR != READER


async def test_stats_count_the_project_and_what_the_cache_answered():
    engine = await team_engine()
    async with asking(server_for(engine, profile=Profile.ALL)) as ask:
        plain = await ask("stats")
        assert (plain["entities"], "cache" in plain) == (len(BATCH.entities), False)
        assert plain["entities_by_type"]["place"] == 1
    cache = InProcessCache(scope=SCOPE)
    engine = GraphSearchEngine(store=cached(engine.store, cache), embedder=engine.embedder)
    async with asking(server_for(engine, profile=Profile.ALL)) as ask:
        for _ in range(3):
            await ask("recall_entity", entity=str(ADA.id))
        assert (await ask("stats"))["cache"]["hit_rate"] == round(cache.report().hit_rate or 0, 4) > 0.5
    async with asking(server_for(engine, STRANGER, profile=Profile.ALL)) as ask:
        assert (await ask.error("stats"))["type"] == "PartialViewError"
