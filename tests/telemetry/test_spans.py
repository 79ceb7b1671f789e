"""Operations, their stages and the models they call, as spans."""

import asyncio

import pytest
from opentelemetry import trace
from opentelemetry.semconv._incubating.attributes import db_attributes, gen_ai_attributes, server_attributes
from opentelemetry.semconv.attributes import error_attributes
from opentelemetry.trace import SpanKind, StatusCode

from graphsearch import (
    Batch,
    Curator,
    Entity,
    FunctionEmbedder,
    GraphSearchEngine,
    Ingestor,
    Memory,
    Outcome,
    Principal,
    sync,
    telemetry,
)
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.errors import EmbedderError, UnknownElementError
from graphsearch.llms import OpenAILLM
from graphsearch.stores import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from tests.llms.llm_server import reply, serving

NOW = FixedClock().now()
MEMORIES = [
    Memory(id="m1", text="Ada Lovelace works with Charles Babbage.", occurred_at=NOW),
    Memory(id="m2", text="Charles Babbage reports to Mary Somerville.", occurred_at=NOW),
]


async def embed(text):
    return (await HashEmbedder().embed([text]))[0]


@pytest.fixture
async def engine(scoped):
    engine = GraphSearchEngine(store=scoped, embedder=embed)
    await Ingestor(engine).remember(MEMORIES)
    return engine


@pytest.fixture
def ada(scoped):
    return Gate(CedarAuthorizer.default(), Principal(id="ada", projects=[scoped.scope]))


async def test_a_search_has_its_stages_as_children_in_their_order(engine, reported):
    found = await engine.search("Ada Lovelace")
    (search,) = reported.named("graphsearch.search")
    assert search.parent is None
    assert search.kind is SpanKind.INTERNAL
    assert dict(search.attributes) == {
        "graphsearch.operation": "search",
        "graphsearch.mode": "graph_completion",
        "graphsearch.triplets": len(found.triplets),
        "graphsearch.found": found.found,
        "graphsearch.anchors": 1,
        "graphsearch.connections": 0,
        "graphsearch.below_floor": 0,
        "graphsearch.denied": 0,
    }
    inside = [span.name for span in reported.spans if span.name.startswith("graphsearch.search.")]
    stages = [name for name in found.timings if name != "total"]
    assert [name.removeprefix("graphsearch.search.") for name in inside if not name.endswith("transaction")] == stages


async def test_a_transaction_in_postgres_is_a_call_of_a_database_and_holds_the_stages_in_it(engine, reported):
    await engine.search("Ada Lovelace")
    transactions = reported.named("graphsearch.search.transaction")
    if isinstance(engine.store, type(InMemoryGraphStore().with_scope(org_id="a", project_id="b"))):
        assert transactions == []
        return
    (transaction,) = transactions  # the embedder is asked before it
    assert transaction.kind is SpanKind.CLIENT
    assert transaction.attributes[db_attributes.DB_SYSTEM_NAME] == db_attributes.DbSystemNameValues.POSTGRESQL.value
    assert "graphsearch.search.traversal" in reported.children(transaction)
    assert "graphsearch.search.embedding" not in reported.children(transaction)


async def test_every_operation_is_recorded_with_its_counts(engine, ada, reported):
    await engine.recall("Ada Lovelace")
    await engine.rank_entities("Ada Lovelace")
    await engine.neighbors("Ada Lovelace")
    path = await engine.path("Ada Lovelace", "Mary Somerville")
    assert await engine.path("Ada Lovelace", "Mary Somerville", max_hops=1) is None
    await engine.explain("Ada Lovelace", path.relations[0].id)
    await Curator(engine).find_duplicates()
    spans = {span.name: dict(span.attributes) for span in reported.spans}
    assert spans["graphsearch.recall"]["graphsearch.memories"] == 2
    assert spans["graphsearch.rank_entities"]["graphsearch.entities"] > 0
    assert spans["graphsearch.neighbors"]["graphsearch.triplets"] == 1
    paths = reported.named("graphsearch.path")
    assert [span.attributes.get("graphsearch.relations") for span in paths] == [2, None]
    explained = {"graphsearch.operation": "explain", "graphsearch.mode": "graph_completion"}
    assert spans["graphsearch.explain"] == explained
    assert spans["graphsearch.find_duplicates"] == {"graphsearch.operation": "find_duplicates"}


async def test_a_block_is_built_of_one_search_and_its_feedback_is_recorded(engine, ada, reported):
    context = ContextBuilder(engine)
    block = await context.build("Ada Lovelace", gate=ada, session_id="s1")
    report = await context.feedback("s1", Outcome.ACCEPTED, gate=ada)
    (built,) = reported.named("graphsearch.context")
    assert "graphsearch.search_and_recall" in reported.children(built)
    assert built.attributes["graphsearch.tokens"] == block.tokens
    assert built.attributes["graphsearch.triplets"] == len(block.triplets)
    (both,) = reported.named("graphsearch.search_and_recall")
    assert both.attributes["graphsearch.mode"] == "graph_completion"
    assert both.attributes["graphsearch.memories"] == 2
    (feedback,) = reported.named("graphsearch.feedback")
    assert feedback.attributes["graphsearch.applied"] == len(report.applied)


async def test_ingest_is_recorded_with_its_stages_and_its_embeddings(scoped, reported, tmp_path):
    engine = GraphSearchEngine(store=scoped, embedder=FunctionEmbedder(embed, "hashes"))
    open_name = Memory(id="m3", text="Mary Somerville founded the Harbour Trade Council.", occurred_at=NOW)
    await Ingestor(engine).remember([*MEMORIES, open_name])  # its words are compared by their meaning
    (tmp_path / "tls.py").write_text("def handshake():\n    'Do it.'\n")
    await Ingestor(engine).add(tmp_path)
    (remembered,) = reported.named("graphsearch.remember")
    assert remembered.attributes["graphsearch.memories"] == 3
    children = set(reported.children(remembered))
    assert {"graphsearch.remember.extraction", "graphsearch.remember.resolution"} <= children
    assert "graphsearch.remember.writing" in children
    embeddings = reported.named("embeddings hashes")
    (resolution,) = reported.named("graphsearch.remember.resolution")
    assert {span.parent.span_id for span in embeddings[:2]} == {resolution.context.span_id, remembered.context.span_id}
    assert dict(embeddings[0].attributes) == {
        gen_ai_attributes.GEN_AI_OPERATION_NAME: gen_ai_attributes.GenAiOperationNameValues.EMBEDDINGS.value,
        gen_ai_attributes.GEN_AI_PROVIDER_NAME: "function",
        gen_ai_attributes.GEN_AI_REQUEST_MODEL: "hashes",
        gen_ai_attributes.GEN_AI_EMBEDDINGS_DIMENSION_COUNT: 64,
    }
    (added,) = reported.named("graphsearch.add")
    assert added.attributes["graphsearch.files"] == 1


async def test_a_language_model_is_recorded_by_the_conventions(reported):
    with serving() as server:
        server.answers.append(reply("Forty-two."))
        model = OpenAILLM("a-model", base_url=server.openai_url)
        await model.ask("What is the answer?")
    (chat,) = reported.named("chat a-model")
    assert chat.kind is SpanKind.CLIENT
    written = dict(chat.attributes)
    assert written[gen_ai_attributes.GEN_AI_OPERATION_NAME] == gen_ai_attributes.GenAiOperationNameValues.CHAT.value
    assert written[gen_ai_attributes.GEN_AI_PROVIDER_NAME] == gen_ai_attributes.GenAiProviderNameValues.OPENAI.value
    assert written[gen_ai_attributes.GEN_AI_REQUEST_MODEL] == "a-model"
    assert written[gen_ai_attributes.GEN_AI_USAGE_INPUT_TOKENS] == model.usage.input_tokens > 0
    assert written[gen_ai_attributes.GEN_AI_USAGE_OUTPUT_TOKENS] == model.usage.output_tokens > 0
    assert written[server_attributes.SERVER_ADDRESS] == "127.0.0.1"
    assert written[server_attributes.SERVER_PORT] == int(server.openai_url.split(":")[2].split("/")[0])


async def test_an_error_is_recorded_by_its_type_alone(engine, reported):
    with pytest.raises(UnknownElementError, match="Secret Name"):
        await engine.neighbors("Secret Name")
    (failed,) = reported.named("graphsearch.neighbors")
    assert failed.attributes[error_attributes.ERROR_TYPE] == "graphsearch.errors.UnknownElementError"
    assert failed.status.status_code is StatusCode.ERROR
    assert failed.status.description is None
    assert failed.events == ()
    assert "Secret Name" not in reported.everything()


async def test_an_error_in_a_stage_is_recorded_of_the_stage_too(scoped, reported):
    async def breaks(text):
        raise ValueError(text)

    await scoped.write(Batch(entities=[Entity(type="person", name="Ada")]))
    engine = GraphSearchEngine(store=scoped, embedder=breaks)
    with pytest.raises(EmbedderError):
        await engine.search("a question")
    failed = [span for span in reported.spans if error_attributes.ERROR_TYPE in span.attributes]
    for span in failed:
        assert span.attributes[error_attributes.ERROR_TYPE] == "graphsearch.errors.EmbedderError", span.name
    assert len(failed) == 3


async def test_what_runs_at_the_same_time_keeps_its_parents(engine, reported):
    tracer = trace.get_tracer("the test", tracer_provider=None)
    assert tracer is not None
    await asyncio.gather(*(engine.search("Ada Lovelace") for _ in range(10)))
    operations = reported.named("graphsearch.search")
    assert len(operations) == 10
    assert len({span.context.trace_id for span in operations}) == 10
    by_id = {span.context.span_id: span for span in reported.spans}
    for span in reported.spans:
        if span.parent is not None:
            assert span.context.trace_id == by_id[span.parent.span_id].context.trace_id
    stages = reported.named("graphsearch.search.traversal")
    assert len({span.context.trace_id for span in stages}) == 10


def test_blocking_calls_are_children_of_the_span_that_is_open_in_their_thread(reported):
    store = sync.InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    engine = sync.GraphSearchEngine(store=store)
    sync.Ingestor(engine).remember(MEMORIES)
    (outer,) = reported.named("graphsearch.remember")
    with trace.use_span(trace.NonRecordingSpan(outer.context)):
        engine.search("Ada Lovelace", mode="neighborhood")
    (search,) = reported.named("graphsearch.search")
    assert search.parent.span_id == outer.context.span_id


async def test_nothing_is_recorded_any_more_when_it_is_switched_off(engine, reported):
    telemetry.uninstrument()
    await engine.search("Ada Lovelace")
    assert reported.spans == []
