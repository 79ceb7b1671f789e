"""The product, blocking: over both stores, in scripts, threads and running loops, with the types of its signatures."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import assert_type
from uuid import uuid4

import pytest

from graphsearch import (
    DEFAULT_MODES,
    Entity,
    Explanation,
    Fact,
    GraphPath,
    Memory,
    Outcome,
    Principal,
    SearchResult,
    sync,
)
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.caching import InProcessCache
from graphsearch.context import ContextBlock
from graphsearch.errors import StoreConfigurationError, StoreUnavailableError, UnknownElementError, UnknownScopeError
from graphsearch.evaluation import (
    AnswerSet,
    EntitySet,
    Evaluation,
    GivenGraph,
    GoldQuestion,
    Passage,
    QuestionSet,
    TripletSet,
)
from graphsearch.ingest import RememberReport
from graphsearch.model import Batch, Relation, Statistics, View, WriteReport
from graphsearch.stores import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder

MEMORIES = [
    Memory(id="m1", text="Ada Lovelace works with Charles Babbage on the engine.", occurred_at=FixedClock().now()),
    Memory(id="m2", text="Charles Babbage reports to Mary Somerville.", occurred_at=FixedClock().now()),
]


@pytest.fixture(params=["memory", "postgres"])
def stores(request):
    """Both stores."""
    if request.param == "memory":
        yield sync.InMemoryGraphStore(clock=FixedClock())
        return
    database = request.getfixturevalue("shared_database")
    with sync.PostgresGraphStore.open(database.dsn, exact=True, clock=FixedClock(), max_connections=2) as opened:
        yield opened


@pytest.fixture
def store(stores):
    return stores.with_scope(org_id="acme", project_id=f"web-{uuid4()}")


@pytest.fixture
def engine(store):
    made = sync.GraphSearchEngine(store=store, embedder=HashEmbedder())
    sync.Ingestor(made).remember(MEMORIES)
    return made


@pytest.fixture
def ada(store):
    return Gate(CedarAuthorizer.default(), Principal(id="ada", projects=[store.scope]))


def test_a_session_is_given_its_context_and_reports_how_it_went(engine: sync.GraphSearchEngine, ada: Gate):
    found = assert_type(engine.search("Who works with Ada Lovelace?", mode="neighborhood"), SearchResult)
    assert {found.triplets[0].source.name, found.triplets[0].target.name} == {"Ada Lovelace", "Charles Babbage"}
    before = found.triplets[0].relation.feedback_weight
    context = sync.ContextBuilder(engine)
    block = assert_type(context.build("Ada Lovelace", gate=ada, session_id="s1"), ContextBlock)
    assert "Charles Babbage" in block.text
    context.feedback("s1", Outcome.ACCEPTED, gate=ada)
    after = engine.search("Who works with Ada Lovelace?", mode="neighborhood").triplets[0].relation.feedback_weight
    assert after == pytest.approx(before + 0.05)
    again = sync.FeedbackService(engine.store).apply("s1", Outcome.ACCEPTED, gate=ada)
    assert again.applied == ()


def test_the_other_reads_answer_too(engine: sync.GraphSearchEngine, ada: Gate):
    assert_type(engine.path("Ada Lovelace", "Mary Somerville"), GraphPath | None)
    way = engine.path("Ada Lovelace", "Mary Somerville")
    assert way is not None
    assert way.hops == 2
    assert engine.neighbors("Ada Lovelace")
    assert engine.recall("engine").memories[0].memory.id == "m1"
    assert engine.rank_entities("Ada Lovelace").entities
    assert_type(engine.explain("Ada Lovelace", way.relations[0].id), Explanation)
    block = sync.build_graph_context_block(engine, "Ada Lovelace", gate=ada, session_id="s2")
    assert block.triplets
    assert block.memories == ()


def test_the_graph_is_looked_after(engine: sync.GraphSearchEngine):
    curator = sync.Curator(engine)
    assert_type(curator.update_entity("Ada Lovelace", description="a mathematician"), Entity)
    assert curator.recall_entity("Ada Lovelace").entity.description == "a mathematician"
    assert curator.graph_health().edge_coverage == 1.0
    assert curator.forget("m2").memories == 1


def test_a_store_is_written_read_and_seen_in_one_state(store: sync.GraphStore):
    with pytest.raises(UnknownScopeError):
        store.statistics()
    tls = Entity(type="tool", name="TLS")
    assert_type(store.write(Batch(entities=[tls])), WriteReport)
    with store.snapshot():
        seen = assert_type(store.statistics(), Statistics)
        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(store.write, Batch(entities=[Entity(type="tool", name="DNS")])).result()
        assert store.statistics() == seen
    assert store.statistics().entities == 2
    located = store.locate([tls.id], view=View(as_of=FixedClock().now(), known_at=FixedClock().now()))
    assert list(store.entity_ids(located.keys)) == [tls.id]


def test_threads_share_a_store(engine: sync.GraphSearchEngine):
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: engine.search("Ada Lovelace").triplets, range(24)))
    assert all(answer == answers[0] for answer in answers)


async def test_a_running_loop_is_no_hindrance(engine: sync.GraphSearchEngine):
    assert asyncio.get_running_loop().is_running()
    assert engine.search("Ada Lovelace").triplets == (await asyncio.to_thread(engine.search, "Ada Lovelace")).triplets


def test_errors_are_those_of_the_asynchronous_names(engine: sync.GraphSearchEngine):
    with pytest.raises(UnknownElementError):
        engine.neighbors("Nobody At All")
    with pytest.raises(StoreUnavailableError), sync.PostgresGraphStore.open("host=/nowhere", timeout=1):
        pytest.fail("there is no server")


def test_type_checkers_know_the_parameters(engine: sync.GraphSearchEngine):
    with pytest.raises(TypeError, match="limitt"):
        engine.search("Ada", limitt=3)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="query"):
        engine.recall()  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="dry_run"):
        sync.Curator(engine).merges(dry_run=True)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]


def test_progress_is_reported(store: sync.GraphStore):
    counts: list[int] = []

    def note(done: int, total: int, name: str) -> None:
        assert (total, name) == (len(MEMORIES), "m2")
        counts.append(done)

    report = sync.Ingestor(sync.GraphSearchEngine(store=store)).remember(MEMORIES, progress=note)
    assert_type(report, RememberReport)
    assert counts[-1] == len(MEMORIES)


def test_entities_are_read_through_a_cache():
    bare = sync.InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    tls = Entity(type="tool", name="TLS")
    bare.write(Batch(entities=[tls]))
    cache = InProcessCache(scope=bare.scope)
    store = sync.cached(bare, cache)
    assert [entity.name for _ in range(2) for entity in store.get_entities([tls.id])] == ["TLS", "TLS"]
    assert cache.report().hits == 1


def test_question_sets_are_measured():
    given = QuestionSet(
        passages=(Passage(id="p1", text="Ada wrote it."), Passage(id="p2", text="It rained.")),
        questions=(GoldQuestion(id="q1", question="Who wrote it? Ada?", gold=frozenset({"p1"})),),
    )
    evaluated = sync.evaluate(given, sync.InMemoryGraphStore(), Evaluation(channel_sets=(("lexical",),), ks=(1,)))
    assert evaluated.default.metrics["R@1"] == 1.0


def test_triplets_entities_and_answers_are_measured():
    ada, leeds = Entity(type="person", name="Ada"), Entity(type="place", name="Leeds")
    lives = Relation(source_id=ada.id, type="lives_in", target_id=leeds.id, fact="Ada lives in Leeds.")
    graph, stores = GivenGraph(entities=(ada, leeds), relations=(lives,)), sync.InMemoryGraphStore()
    triplet = GoldQuestion(id="q1", question="Where does Ada live?", gold=frozenset({("Ada", "lives_in", "Leeds")}))
    name = GoldQuestion(id="q1", question="Where does Ada live?", gold=frozenset({"Leeds"}))
    found = sync.evaluate_triplets(TripletSet(graph=graph, questions=(triplet,)), stores)
    assert found.default.metrics["found"] == 1.0
    person = GoldQuestion(id="q1", question="Who is Ada?", gold=frozenset({"Ada"}))
    assert sync.evaluate_entities(EntitySet.of_graph(graph, (person,)), stores).default.metrics["hit@1"] == 1.0
    given = AnswerSet(passages=(Passage(id="p1", text="Ada lives in Leeds."),), questions=(name,))
    assert sync.evaluate_answers(given, stores, budget=50).default.metrics["R@50tok"] == 1.0


def test_a_server_of_ones_own_is_started_and_stopped(server_folder):
    with ExitStack() as stack:
        server = stack.enter_context(sync.EmbeddedPostgres(server_folder))
        assert server.folder == server_folder.resolve()
        assert sync.migrate(server.admin_dsn, app_role="graphsearch_app") == []
        stores = stack.enter_context(sync.PostgresGraphStore.open(server.dsn))
        store = stores.with_scope(org_id="acme", project_id="web")
        store.write(Batch(entities=[Entity(type="tool", name="TLS")]))
        assert store.statistics().entities == 1
    with pytest.raises(StoreConfigurationError, match="not running"):
        _ = server.dsn


def test_a_pool_of_ones_own_is_opened_on_the_loop_that_all_share(postgres_database):
    from psycopg_pool import AsyncConnectionPool  # noqa: PLC0415

    pool = AsyncConnectionPool(postgres_database.dsn, min_size=1, max_size=2, open=False)
    with sync.hold(pool):
        store = sync.PostgresGraphStore(pool).with_scope(org_id="acme", project_id="web")
        store.write(Batch(entities=[Entity(type="tool", name="TLS")]))
        assert store.statistics().entities == 1


def test_a_store_is_the_process_s_that_opened_it(engine: sync.GraphSearchEngine):
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            try:
                code = 10 + engine.store.statistics().memories
            except StoreConfigurationError as refusal:
                code = 20 + ("forked" in str(refusal))
        os._exit(code)
    in_memory = isinstance(engine.store.asynchronous, type(InMemoryGraphStore().with_scope(org_id="a", project_id="b")))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (12 if in_memory else 21)
    assert engine.store.statistics().memories == 2


def test_modes_are_those_of_the_engine(store: sync.GraphStore):
    assert sync.GraphSearchEngine(store=store).modes is DEFAULT_MODES


def test_facts_are_stated_blocking():
    store = sync.InMemoryGraphStore().with_scope(org_id="acme", project_id=f"facts-{uuid4()}")
    fact = Fact("Tom Reed", "reports to", "Dana Levy", quote="reports to Dana")
    memory = Memory(id="m", text="Tom Reed reports to Dana Levy.", facts=[fact])
    report = sync.Ingestor(sync.GraphSearchEngine(store=store), extractor=None).remember([memory])
    assert [(each.fact, each.held) for each in report.stated] == [(fact, ("Tom Reed", "reports_to", "Dana Levy"))]
