"""What fails around a server is a typed error of the call that met it, and the next call works again."""

import asyncio
import json
import signal

import psutil  # type: ignore[import-untyped]
import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.llms import Budget, BudgetedLLM, OpenAILLM
from graphsearch.model import Memory
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import HashEmbedder
from tests.integrations.mcp.conftest import asking, server_for
from tests.llms.llm_server import fail, hang, hang_up, reply, serving
from tests.waiting import LONGEST, until

BOTH = pytest.mark.parametrize("mode", ["natural_language", "summary"])
DOWN = "The language model cannot be reached, or kept failing after retries."
QUESTION = "What did Grace Hopper build?"


async def test_a_database_that_goes_down_is_reported_and_used_again_when_it_is_back(server_folder):
    async with (
        EmbeddedPostgres(server_folder) as postgres,
        PostgresGraphStore.open(postgres.dsn, timeout=60) as stores,
    ):
        store = stores.with_scope(org_id="acme", project_id="web")
        hurried = PostgresGraphStore(stores._gateway.pool, timeout=0.5).with_scope(org_id="acme", project_id="web")
        engine = GraphSearchEngine(store=store, embedder=HashEmbedder(16))
        await Ingestor(engine).remember([Memory(id="m1", text="Grace Hopper built COBOL.")])
        async with asking(server_for(engine)) as ask:
            before = await ask("graph_query", query=QUESTION, session_id="s1")
            stop(server_folder)
            engine.store = hurried
            for tool, arguments in [
                ("graph_query", {"query": QUESTION}),
                ("remember", {"text": "Grace Hopper built Flowmatic."}),
                ("feedback", {"session_id": "s1", "outcome": "accepted"}),
            ]:
                error = await ask.error(tool, **arguments)
                assert error == {"type": "StoreUnavailableError", "message": "The store cannot be reached."}
            assert len(await ask.tools()) == 8, "the server lives"
            engine.store = store
            async with EmbeddedPostgres(server_folder):
                after = await soon(lambda: ask("graph_query", query=QUESTION, session_id="s1"))
                assert (await ask("feedback", session_id="s1", outcome="accepted"))["moved"] > 0
    assert before["text"] == after["text"] != "", "and nothing was half written"


@pytest.fixture
def model():
    with serving() as server:
        yield server


async def asked_of(engine, llm, mode="natural_language"):
    """The error of a question that needs a model, and the proof that others need none."""
    engine.llm = llm
    async with asking(server_for(engine)) as ask:
        error = await ask.error("graph_query", query="Who knows whom?", mode=mode, session_id="s1")
        assert (await ask("graph_query", query="Ada Lovelace?"))["text"], "what needs no model goes on"
    assert not await engine.store.injections("s1"), "nothing was surfaced, and so nothing is logged"
    return error


def hosted(model, **options):
    return OpenAILLM("model-1", base_url=model.openai_url, api_key="sk-secret", **options)


@BOTH
async def test_a_model_that_is_down_is_a_typed_error(engine, model, mode):
    model.answers.extend([hang_up] * 2)
    error = await asked_of(engine, hosted(model, max_retries=1), mode)
    assert error == {"type": "LLMUnavailableError", "message": DOWN}
    assert len(model.requests) == 2, "tried again as often as was asked for"


@BOTH
async def test_a_model_that_is_slow_is_given_up(engine, model, mode):
    model.answers.append(hang)
    error = await asked_of(engine, hosted(model, timeout=1, max_retries=0), mode)
    assert error == {"type": "LLMUnavailableError", "message": DOWN}
    await until(model.hung_up.is_set)


@BOTH
async def test_invalid_json_twice_is_a_typed_error_after_one_repair(engine, model, mode):
    model.answers.extend([reply("I would say: Ada."), reply("{")])
    error = await asked_of(engine, hosted(model), mode)
    assert error == {
        "type": "LLMAnswerError",
        "message": "The language model's answer is not of the requested form.",
    }
    assert len(model.requests) == 2


@BOTH
async def test_a_budget_that_is_spent_asks_nothing(engine, model, mode):
    error = await asked_of(engine, BudgetedLLM(hosted(model), Budget(calls=0)), mode)
    assert error == {
        "type": "BudgetExhaustedError",
        "message": "The budget for language models is spent; no request was made.",
    }
    assert model.requests == []


async def test_a_key_that_is_refused_is_not_quoted(engine, model):
    model.answers.append(fail(401, "wrong key sk-secret"))
    error = await asked_of(engine, hosted(model))
    assert error["type"] == "LLMRequestError"
    assert "sk-secret" not in error["message"]


async def test_a_client_that_gives_up_hangs_up_on_the_model(engine, model):
    model.answers.append(hang)
    engine.llm = hosted(model)
    async with asking(server_for(engine)) as ask:
        call = asyncio.ensure_future(ask("graph_query", query="Who knows whom?", mode="natural_language"))
        await until(model.asked.is_set)
        call.cancel()
        await until(model.hung_up.is_set)
        assert (await ask("graph_query", query="Ada Lovelace?"))["text"]


async def test_a_model_that_answers_well_queries_and_summarises(engine, model):
    wanted = {"anchors": ["Ada Lovelace"], "relation_types": ["lives_in"], "direction": "out", "hops": 1}
    model.answers.append(reply(data={**wanted, "entity_types": [], "since": None, "until": None, "limit": None}))
    model.answers.append(reply(data={"sentences": [{"text": "She lives\nin <b>Paris</b>.", "cites": [1, 99]}]}))
    engine.llm = hosted(model)
    async with asking(server_for(engine)) as ask:
        found = await ask("graph_query", query="Where does she live?", mode="natural_language")
        structured = await ask("graph_query", query="Where does Ada Lovelace live?", mode="summary")
    assert [each["line"] for each in found["triplets"]] == ["Ada Lovelace --lives_in--> Paris"]
    assert structured["summary"] == "She lives in ‹b›Paris‹/b›. [1]"
    (source,) = structured["sources"]
    assert (source["number"], source["kind"]) == (1, "relation")
    assert structured["text"]
    prompts = json.dumps(model.requests)
    assert "Ada Lovelace --lives_in--> Paris" in prompts


async def soon(ask):
    """The answer, as soon as there is one: a pool takes a moment to notice that its server is back."""
    async with asyncio.timeout(LONGEST):
        while True:
            try:
                return await ask()
            except AssertionError:
                await asyncio.sleep(0.1)


def stop(folder):
    """Stop a server of Postgres as its own administrator would, at once."""
    process = psutil.Process(int((folder / "postmaster.pid").read_text().splitlines()[0]))
    process.send_signal(signal.SIGINT)
    process.wait(LONGEST)
