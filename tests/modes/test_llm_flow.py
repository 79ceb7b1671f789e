"""How a question flows through the modes that ask a model: what is open meanwhile, what else comes along, over HTTP."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import BudgetExhaustedError, LLMAnswerError, LLMUnavailableError, UnknownElementError
from graphsearch.explaining.elements import KeptOut
from graphsearch.llms import Budget, BudgetedLLM, OpenAILLM, metered
from graphsearch.model import Batch, Claim, Memory, Mention
from graphsearch.modes.result import SearchMode, SearchRequest
from graphsearch.ranking.recall_result import RecallRequest
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import EchoLLM, FixedClock
from tests.graphs import days_ago, edge, people, person
from tests.llms.llm_server import CHAT, Answer, reply, serving
from tests.waiting import LONGEST

NATURAL, SUMMARY = SearchMode.NATURAL_LANGUAGE, SearchMode.SUMMARY
QUERY: dict[str, object] = {
    "anchors": ["Ada"],
    "relation_types": ["knows"],
    "direction": "out",
    "hops": 2,
    "entity_types": [],
    "since": None,
    "until": None,
    "limit": None,
}
SENTENCES = {"sentences": [{"text": "Ada knows Bob.", "cites": [1, 5]}]}
ANSWERS = {NATURAL: QUERY, SUMMARY: SENTENCES}
MODES = pytest.mark.parametrize("mode", ANSWERS)


async def written(store):
    note = Memory(id="note", text="Ada and Bob know each other.", occurred_at=days_ago(1))
    stated = Claim(memory_id="note", source_id=person("Ada"), type="knows", target_id=person("Bob"), confidence=0.9)
    await store.write(people(edge("Bob", "knows", "Cyd", confidence=0.8), names="Ada Bob Cyd"))
    seen = Mention(memory_id="note", entity_id=person("Ada"), surface="Ada")
    await store.write(Batch(memories=[note], claims=[stated], mentions=[seen]))


@MODES
async def test_no_connection_is_held_while_the_model_thinks(postgres_server, mode):
    class Writing(EchoLLM):
        async def ask(self, text):
            await store.write(people(names="Zoe"))  # needs the one connection that there is
            return await super().ask(text)

    database = await postgres_server.database()
    async with AsyncConnectionPool(database.dsn, min_size=1, max_size=1, timeout=LONGEST, open=False) as pool:
        store = PostgresGraphStore(pool, exact=True).with_scope(org_id="acme", project_id="web")
        await written(store)
        model = Writing(*[json.dumps(ANSWERS[mode])] * 2)
        engine = GraphSearchEngine(store=store, llm=model)
        found = await engine.search("what of Ada?", mode=mode, gate=ALLOW_ALL)
        both, recalled = await engine.search_and_recall(
            SearchRequest("what of Ada?", mode=mode, gate=ALLOW_ALL), RecallRequest("what of Ada?")
        )
        assert found.triplets == both.triplets != ()
        assert (found.summary, found.graph_query) == (both.summary, both.graph_query)
        assert recalled.memories
        assert len(model.asked) == 2
    await postgres_server.drop(database)


@MODES
async def test_a_block_has_the_triplets_and_next_to_them_the_summary(scoped, mode):
    await written(scoped)
    model = EchoLLM(json.dumps(ANSWERS[mode]))
    builder = ContextBuilder(GraphSearchEngine(store=scoped, llm=model))
    block = await builder.build("what of Ada?", gate=ALLOW_ALL, session_id="s", mode=mode)
    assert "Ada --knows--> Bob" in block.text
    assert "Ada knows Bob. [1]" not in block.text
    assert (block.summary and block.summary.text) == ("Ada knows Bob. [1]" if mode is SUMMARY else None)
    assert len(model.asked) == 1


async def test_a_relation_is_explained_by_the_query_that_the_model_wrote(scoped):
    await written(scoped)
    (extra,) = [edge("Cyd", "knows", "Ada", confidence=0.7)]
    await scoped.write(Batch(relations=[extra]))
    model = EchoLLM(*[json.dumps(QUERY)] * 9)
    engine = GraphSearchEngine(store=scoped, llm=model)
    found = await engine.search("what of Ada?", mode=NATURAL, gate=ALLOW_ALL)
    for rank, triplet in enumerate(found.triplets, 1):
        why = await engine.explain("what of Ada?", triplet.relation.id, mode=NATURAL, gate=ALLOW_ALL)
        assert (why.rank, why.score) == (rank, triplet.score)
    why = await engine.explain("what of Ada?", extra.id, mode=NATURAL, gate=ALLOW_ALL)
    assert (why.rank, why.kept_out, why.score > 0) == (None, KeptOut.NOT_FOUND, True)  # three hops out
    model = EchoLLM(*[json.dumps(QUERY | {"entity_types": ["person"], "hops": 1})] * 9)
    why = await GraphSearchEngine(store=scoped, llm=model).explain(
        "what of Ada?", extra.id, mode=NATURAL, gate=ALLOW_ALL
    )
    assert (why.rank, why.kept_out) == (None, KeptOut.NOT_FOUND)
    with pytest.raises(UnknownElementError):
        await engine.explain("what of Ada?", person("Zoe"), mode=NATURAL, gate=ALLOW_ALL)


async def test_memories_are_recalled_as_of_the_time_that_was_asked_for(scoped):
    await written(scoped)
    engine = GraphSearchEngine(store=scoped, llm=EchoLLM(json.dumps(QUERY | {"until": "2025"})))
    search = SearchRequest("what of Ada?", mode=NATURAL, gate=ALLOW_ALL)
    found, recalled = await engine.search_and_recall(search, RecallRequest("what of Ada?"))
    assert found.as_of.year == 2025
    assert [each.memory.id for each in recalled.memories] == ["note"]  # of 2026


async def test_both_answers_are_of_one_moment_while_the_clock_goes_on():
    class Going(FixedClock):
        def now(self):
            self.set(self.time + timedelta(seconds=1))
            return self.time

    store = InMemoryGraphStore(clock=Going()).with_scope(org_id="acme", project_id="web")
    await written(store)
    search, recall = SearchRequest("what of Ada?", mode=SearchMode.NEIGHBORHOOD), RecallRequest("what of Ada?")
    found, recalled = await GraphSearchEngine(store=store).search_and_recall(search, recall)
    assert (found.as_of, found.known_at) == (recalled.as_of, recalled.known_at)


@MODES
async def test_an_exhausted_budget_is_an_error_and_nothing_is_asked(scoped, mode):
    await written(scoped)
    model = EchoLLM(json.dumps(ANSWERS[mode]))
    engine = GraphSearchEngine(store=scoped, llm=BudgetedLLM(model, Budget(tokens=100)))
    with pytest.raises(BudgetExhaustedError):
        await engine.search("what of Ada?", mode=mode, gate=ALLOW_ALL)
    assert model.asked == []


@MODES
async def test_a_search_that_is_cancelled_stops_asking(scoped, mode):
    stopped = asyncio.Event()

    class Thinking:
        async def ask(self, text: str) -> str:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()
            return text

    await written(scoped)
    asked = asyncio.Event()
    engine = GraphSearchEngine(store=scoped, llm=Thinking())
    search = asyncio.create_task(engine.search("what of Ada?", mode=mode, gate=ALLOW_ALL))
    await asked.wait()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert stopped.is_set()


# -- over HTTP -------------------------------------------------------------------------------------------------------


async def over_http(store, mode, *answers: Answer, **options: Any) -> Any:
    with serving() as server:
        server.answers.extend(answers)
        llm = OpenAILLM("model-1", base_url=server.openai_url, max_retries=1, **options)
        with metered() as meter:
            found = await GraphSearchEngine(store=store, llm=llm).search("what of Ada?", mode=mode, gate=ALLOW_ALL)
        return found, server, meter


@MODES
async def test_a_real_client_asks_by_the_schema(scoped, mode):
    await written(scoped)
    found, server, meter = await over_http(scoped, mode, reply(data=ANSWERS[mode]))
    assert server.paths == [CHAT]
    (request,) = server.requests
    assert request["response_format"]["json_schema"]["strict"] is True
    assert (len(found.triplets), meter.total.answers) == (2, 1)
    if mode is SUMMARY:
        assert (found.summary.text, found.summary.unknown_citations) == ("Ada knows Bob. [1]", (5,))


@MODES
async def test_invalid_json_twice_is_an_error(scoped, mode):
    await written(scoped)
    with pytest.raises(LLMAnswerError, match="not JSON"):
        await over_http(scoped, mode, reply("Ada knows Bob."), reply("[1] Ada {knows} Bob."))


@MODES
async def test_invalid_json_once_is_repaired(scoped, mode):
    await written(scoped)
    found, server, meter = await over_http(scoped, mode, reply("Ada knows Bob."), reply(data=ANSWERS[mode]))
    assert (len(found.triplets), len(server.requests), meter.total.answers) == (2, 2, 2)


@MODES
async def test_a_model_that_is_down_is_an_error(scoped, mode):
    await written(scoped)
    llm = OpenAILLM("model-1", base_url="http://127.0.0.1:9/v1", max_retries=1)
    with pytest.raises(LLMUnavailableError, match="cannot be reached"):
        await GraphSearchEngine(store=scoped, llm=llm).search("what of Ada?", mode=mode, gate=ALLOW_ALL)


@MODES
async def test_a_model_that_is_slow_is_an_error(scoped, mode):
    def slow(handler, body):
        handler.llm.closing.wait(60)

    await written(scoped)
    with pytest.raises(LLMUnavailableError, match=r"no answer within 0\.05 s"):
        await over_http(scoped, mode, slow, slow, timeout=0.05)
