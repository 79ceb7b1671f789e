"""The benchmarks run, and print what docs/project/measurements/benchmarks.md documents. Speed is not tested here."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import psycopg
import pytest

from benchmarks import blocks, cluster, command, peers, plans, soak, storage
from benchmarks.__main__ import BENCHMARKS
from benchmarks.bare import measure as measure_bare
from benchmarks.bare_memory import FAN_OUT, BareMemory
from benchmarks.bare_recall import BareRecall
from benchmarks.command import Setting, at_least, at_most
from benchmarks.context import forget
from benchmarks.conversations import Conversations
from benchmarks.graph import Graph
from benchmarks.measuring import in_turns
from benchmarks.reading_shapes import SHAPES, text_of
from benchmarks.trace import count_messages
from benchmarks.workload import Workload, make
from graphsearch.evaluation.question_set import GoldQuestion, Passage, QuestionSet
from graphsearch.model.identity import snake_case
from graphsearch.stores.memory import InMemoryGraphStore
from tests.fix_postgres import Server

ROOT = Path(__file__).parents[1]
N = 40
BARE = {
    "scan_ms": 1.5,
    "hop_ms": 2.5,
    "seeds_ms": 1.0,
    "search_ms": 3.5,
    "hydrate_ms": 4.5,
    "copy_entities_s": 1000,
    "copy_relations_s": 2000,
    "feedback_ms": 5.5,
}


Reports: TypeAlias = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def reports(postgres_server: Server) -> Reports:
    """What the command that runs all benchmarks prints at size N with one run: a report a line, by name in order."""
    lines = printed("-m", "benchmarks", str(N), "--runs", "1", "--json", "--dsn", postgres_server.admin_dsn)
    found = [json.loads(line) for line in lines.splitlines()]
    return {each["benchmark"]: each for each in found}


@pytest.fixture(scope="module")
def workload() -> Workload:
    return make(500)


def printed(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- plans ----------------------------------------------------------------------------------------------------------


async def test_storage_counts_rows_and_indexes_of_every_kind(postgres_server: Server) -> None:
    report = await storage.measure(N, Setting(dsn=postgres_server.admin_dsn))
    sizes = report["bytes"]
    assert sizes.keys() == {*storage.TABLES, "walk"}
    assert all(sizes[kind]["rows"] > 0 < sizes[kind]["indexes"] for kind in storage.TABLES)
    assert 0 < sizes["walk"]["indexes"] < sizes["relation"]["indexes"]


def test_shards_are_dealt_by_size() -> None:
    assert cluster.shares(3, 1.0) == pytest.approx([6 / 11, 3 / 11, 2 / 11])
    report = cluster.measure(100, nodes=2, shards=8, exponent=1.0, draws=20)
    assert 1 <= report["by_size"] <= report["in_turn"] <= 2
    assert report["largest_shard"] >= report["largest_organisation"] == pytest.approx(0.1928)
    assert cluster.measure(1, nodes=4, shards=8, exponent=1.0, draws=3)["by_size"] == 4


# -- each benchmark -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_reports_figures_and_a_verdict(name: str, reports: Reports) -> None:
    report = reports[name]
    assert isinstance(report["met"], bool)
    assert report["machine"]["cores"] > 0
    assert report["runs"] > 0
    if name != "import_time":
        assert report["n"] == N
    if name not in {"import_time", "remember", "recall", "reading_growth", "vectors", "visible_statistics"}:
        assert 0 < report["relations"] <= 10 * N


def test_searches_show_the_bare_cost_and_the_ratio(reports: Reports) -> None:
    report = reports["search_postgres"]
    cost = report["bare"]["search_ms"] + report["bare"]["hydrate_ms"]
    assert report["ratio"] == pytest.approx(report["ours"]["p50_ms"] / cost, rel=1e-2)
    assert report["met"] == (report["ratio"] <= 2)


def test_a_trace_counts_statements_and_waits() -> None:
    sent = ['F\t33\tParse\t ""', "F\t12\tExecute", "F\t4\tSync", "F\t12\tExecute", "F\t4\tSync"]
    answered = ["B\t4\tBindComplete", "B\t5\tReadyForQuery\t I"]
    described = ["F\t6\tDescribe", "F\t4\tSync"]
    assert count_messages([*sent, *answered, *described, *answered]) == {"statements": 2, "round_trips": 2}


def test_the_way_of_a_question_is_traced_on_both_stores(reports: Reports) -> None:
    ours = reports["trace"]["ours"]
    for way in ours.values():
        for crossed in way.values():
            assert 0 < crossed["rooms"] <= crossed["files"] <= crossed["functions"] <= crossed["calls"]
        assert way["postgres"]["round_trips"] > 0
        assert way["postgres"]["statements"] > 0


async def test_context_is_measured_with_and_without_denied_elements() -> None:
    report = await BENCHMARKS["context"](100, Setting(runs=2))
    figures = report["ours"]
    assert figures["allowed"]["candidates"] == figures["denied"]["candidates"] == 200
    assert figures["allowed"]["denied"] == figures["by_element"]["denied"] == 0
    assert figures["denied"]["denied"] > 0
    assert figures["observations"]["memories"] > figures["allowed"]["memories"] == 0


def test_outcomes_of_sessions_pay_and_one_of_them_moves_little(reports: Reports) -> None:
    report = reports["feedback_pays"]
    assert [*report["ndcg_at_10"]] == ["0", "50"]
    assert all(0 < value < 1 for each in report["each"] for value in each.values())
    assert report["bound"] == pytest.approx(0.03)
    assert 0 < report["hostile_session_moves"] <= report["bound"] + 1e-9


@pytest.mark.parametrize("size", [40, 320])
def test_every_shape_of_text_has_the_size_that_is_asked_for(size: int) -> None:
    lengths = {shape: len(text_of(shape, size)) for shape in SHAPES}
    assert min(lengths.values()) >= size, lengths
    assert max(lengths.values()) < size + 200, lengths


def test_runs_decide_how_many_shapes_of_text_are_read(reports: Reports) -> None:
    shapes = reports["reading_growth"]["exponents"]
    assert len(SHAPES) / 9 < len(shapes) <= 8


async def test_the_bare_recall_finds_the_memory_that_is_asked_about() -> None:
    conversations = Conversations(make(200))
    bare = BareRecall(conversations, 20)
    asked = [row for _, _, row in conversations.queries(20)]
    assert sum(bare.recall()[0] == row for row in asked) >= 18


async def test_conversations_are_what_they_promise() -> None:
    conversations = Conversations(make(60))
    store = InMemoryGraphStore().with_scope(org_id="a", project_id="b")
    await conversations.write_to(store)
    mentions = await store.list_mentions(memory_ids=[memory.id for memory in conversations.memories])
    assert len(mentions) == 60 * 3
    text = {memory.id: memory.text for memory in conversations.memories}
    assert all(text[each.memory_id][each.span.start : each.span.end] == each.surface for each in mentions if each.span)
    assert {memory.session_id for memory in conversations.memories} == {"s0", "s1", "s2"}


async def test_the_bare_cost_has_every_figure(postgres_server: Server) -> None:
    report = await measure_bare(N, Setting(runs=2, dsn=postgres_server.admin_dsn))
    assert set(report) == {"n", "relations", *BARE}
    assert all(report[name] > 0 for name in BARE if name != "hop_ms")


async def test_nothing_is_left_on_the_server(postgres_server: Server) -> None:
    with pytest.raises(SystemExit):
        await BENCHMARKS["search_postgres"](N, Setting(dsn=postgres_server.admin_dsn, bare_file=Path("nowhere.py")))
    async with await psycopg.AsyncConnection.connect(postgres_server.admin_dsn) as connection:
        left = await connection.execute(
            "SELECT datname FROM pg_database WHERE datname LIKE 'graphsearch_benchmark%'"
            " UNION ALL SELECT rolname FROM pg_roles WHERE rolname LIKE 'graphsearch_benchmark%'"
        )
        assert await left.fetchall() == []


# -- the command line ---------------------------------------------------------------------------------------------


def test_a_benchmark_prints_an_object_a_size() -> None:
    text = printed("-m", "benchmarks.communities", str(N), "60", "--runs", "2")
    first, end = json.JSONDecoder().raw_decode(text)
    assert [first["n"], json.loads(text[end:])["n"]] == [N, 60]


def test_all_benchmarks_print_a_line_each(reports: Reports) -> None:
    assert list(reports) == list(BENCHMARKS)


@pytest.mark.parametrize("name", ["search_memory", "search_postgres", "upsert_postgres", "feedback"])
async def test_other_programs_take_the_place_of_ours(name: str, tmp_path: Path, postgres_server: Server) -> None:
    (tmp_path / "other.py").write_text(
        "from benchmarks.workload import Workload\nmake = lambda n: Workload(n, seed=3)\n"
    )
    (tmp_path / "cost.py").write_text(
        f"import sys\nassert sys.argv[1] == '{N}'\nprint('hello')\nprint('{json.dumps(BARE)}')\n"
    )
    setting = Setting(
        runs=2, workload_file=tmp_path / "other.py", bare_file=tmp_path / "cost.py", dsn=postgres_server.admin_dsn
    )
    report = await BENCHMARKS[name](N, setting)
    assert report["bare"].items() <= BARE.items()
    assert report["data"].endswith("other.py")
    assert report["relations"] == Workload(N, seed=3).m
    if name == "search_memory":
        assert set(report["peers"]) == set(peers.PEERS)


def test_a_program_that_fails_ends_the_benchmark(tmp_path: Path) -> None:
    (tmp_path / "cost.py").write_text("raise SystemExit(3)")
    with pytest.raises(SystemExit, match="code 3"):
        Setting(bare_file=tmp_path / "cost.py").foreign_bare_cost(N)
    with pytest.raises(SystemExit, match="no Python module"):
        Setting(workload_file=tmp_path / "workload.txt").make(N)


def test_an_embedded_server_and_a_dsn_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.arguments("Something.", ["--embedded", "--dsn", "postgresql://"])
    assert "not allowed with" in capsys.readouterr().err


# -- peers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("peer", peers.PEERS)
def test_a_peer_is_measured_or_reported_absent(peer: str, workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name=name)

    report = peers.measured(peer, workload, runs=2)
    assert set(report) in ({"p50_ms", "cpu_ms", "load_s", "runs"}, {"absent"})
    monkeypatch.setattr(peers, "import_module", missing)
    assert "pip install --group bench" in peers.measured(peer, workload, runs=2)["absent"]


@pytest.mark.parametrize("peer", ["networkx", "igraph_neighborhood", "langgraph"])
def test_peers_find_the_relations_nearest_to_the_question(peer: str, workload: Workload) -> None:
    text, vector, _ = workload.queries(1)[0]
    found: Any = peers.PEERS[peer](workload)(text, vector)
    reached = set(np.argsort(-(workload.vec @ vector))[:10].tolist())
    for _ in range(2):
        met = {pair for pair in peers._edges(workload) if reached & set(pair)}
        reached |= {end for pair in met for end in pair}
    likeness = workload.vec @ vector
    within = [pair for pair in peers._edges(workload) if set(pair) <= reached]
    best = max(within, key=lambda pair: float(likeness[pair[0]] + likeness[pair[1]]))
    assert found[0] == best
    assert len(found) == 10


# -- parts --------------------------------------------------------------------------------------------------------


def test_the_workload_is_the_same_each_time(workload: Workload) -> None:
    again = make(500)
    assert np.array_equal(again.vec, workload.vec)
    assert np.array_equal(again.src, workload.src)
    assert again.names == workload.names
    assert [text for text, _, _ in again.queries(5)] == [text for text, _, _ in workload.queries(5)]


def test_the_workload_has_the_shape_it_promises(workload: Workload) -> None:
    pairs = set(zip(workload.src.tolist(), workload.dst.tolist(), strict=True))
    assert len(pairs) == workload.m <= 5000
    assert all(source != target for source, target in pairs)
    assert np.allclose(np.linalg.norm(workload.vec, axis=1), 1.0, atol=1e-5)
    assert len(set(workload.names)) == 500
    assert len(set(workload.rel_names)) == 64
    assert all(snake_case(name) == name for name in workload.rel_names)
    degrees = np.bincount(workload.src, minlength=500)
    assert degrees.max() > 10 * np.median(degrees)
    inside = workload.cluster[workload.src] == workload.cluster[workload.dst]
    assert inside.mean() > 0.4
    assert np.array_equal(workload.embed(workload.names[7]), workload.vec[7])


def test_questions_lie_near_their_entity(workload: Workload) -> None:
    for _, vector, entity in workload.queries(20):
        assert int(np.argmax(workload.vec @ vector)) == entity


def test_the_graph_leaves_nothing_out_and_hides_a_share(workload: Workload) -> None:
    graph = Graph.of(workload, private_share=0.1)
    assert all(relation.confidence >= 0.5 for relation in graph.relations)
    assert 20 < sum(entity.labels == ("private",) for entity in graph.entities) < 80
    assert len({relation.id for relation in graph.relations}) == workload.m
    assert sum(len(batch.relations) for batch in graph.relation_batches(700)) == workload.m
    assert sum(len(batch.vectors) for batch in graph.entity_batches(70)) == 500


def test_the_bare_walk_takes_the_strongest_relations(workload: Workload) -> None:
    bare = BareMemory(workload, 1)
    nearest = bare.scan()
    assert nearest.tolist() == np.argsort(-(workload.vec @ workload.queries(1)[0][1]))[:10].tolist()
    hub = int(np.argmax(np.bincount(workload.src)))
    strength = np.random.default_rng(1).random(workload.m)
    of_hub = np.flatnonzero(workload.src == hub)
    relations, far = bare._sides[0].strongest(np.array([hub]))
    assert relations.tolist() == of_hub[np.argsort(-strength[of_hub])][:FAN_OUT].tolist()
    assert far.tolist() == workload.dst[relations].tolist()
    assert set(bare.search().tolist()) >= {row for row in range(workload.m) if workload.src[row] in nearest[-1:]}


async def test_steps_are_timed_in_turns() -> None:
    order: list[str] = []

    async def second() -> None:
        order.append("b")

    samples = await in_turns({"a": lambda: order.append("a"), "b": second}, runs=4, rounds=2)
    assert "".join(order) == "ab" + "aabb" * 2
    assert {name: len(sample.wall) for name, sample in samples.items()} == {"a": 4, "b": 4}
    assert len(samples["a"].cpu) == 2


def test_verdicts() -> None:
    assert at_most(3.0, 6.0, 2.0) == {"ratio": 3.0, "target": "<= 3", "met": True}
    assert not at_most(3.0, 6.1, 2.0)["met"]
    assert at_least(0.5, 50.0, 100.0) == {"ratio": 0.5, "target": ">= 0.5", "met": True}
    assert not at_least(0.5, 49.0, 100.0)["met"]


def test_forgetting_empties_the_caches_of_graphsearch() -> None:
    cached: Any = import_module("graphsearch.model.identity")._snake_case
    snake_case("Reports To")
    assert cached.cache_info().currsize > 0
    forget()
    assert cached.cache_info().currsize == 0


async def test_a_soak_reports_each_minute_and_a_verdict(server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "KEPT", 12)
    monkeypatch.setattr(soak, "PAUSE", 0.01)
    found = await soak.soak(1, 0.5, server_folder)
    assert found["clients"] == 8
    assert found["minutes"]
    assert found["errors"] == 0, found
    assert all(minute["clients_mb"] > 0 < minute["folder_mb"] for minute in found["minutes"])
    early = {**found["minutes"][0], "p95_ms": {"search": 10.0}, "errors": {}}
    late = {**early, "p95_ms": {"search": 30.0}}
    assert soak.verdict([early, early, early])["met"]
    assert not soak.verdict([early, early, late])["met"]
    assert not soak.verdict([early, early, {**early, "errors": {"StoreError": 1}}])["met"]
    assert not soak.verdict([early, early, {**early, "clients_mb": 2 * early["clients_mb"]}])["met"]


def test_changes_by_plan_are_those_of_its_questions() -> None:
    assert plans.measures(["a", "b", "c", "d"], ["c", "x"]) == {"R@2": 0.0, "R@5": 0.5, "R@10": 0.5, "RR": 1 / 3}
    none = {"R@2": 0.0, "RR": 0.0}
    asked = [
        ("temporal", {"R@2": 0.5, "RR": 1.0}, {"both": {"R@2": 1.0, "RR": 0.5}}),
        ("temporal", none, {"both": none}),
        ("balanced", none, {"both": none}),
    ]
    found = plans.by_plan(asked)
    assert {plan: each["questions"] for plan, each in found.items()} == {"all": 3, "balanced": 1, "temporal": 2}
    assert found["temporal"]["default"] == {"R@2": 25.0, "RR": 50.0}
    assert found["temporal"]["changes"]["both"] == {
        "R@2": {"points": 25.0, "better": 1, "worse": 0},
        "RR": {"points": -25.0, "better": 0, "worse": 1},
    }


async def test_constants_of_recall_are_measured_by_plan() -> None:
    given = QuestionSet(
        passages=(Passage(id="p1", text="Ada Lovelace wrote to Charles Babbage."), Passage(id="p2", text="A mill.")),
        questions=(
            GoldQuestion(id="q1", question="Whom did Ada Lovelace write to?", gold=frozenset({"p1"})),
            GoldQuestion(id="q2", question="Nothing of it?", gold=frozenset()),
        ),
    )
    found = await plans.measure(given, None, None)
    assert found["all"]["questions"] == found["entity_centric"]["questions"] == 1
    assert found["all"]["default"] == {"R@2": 100.0, "R@5": 100.0, "R@10": 100.0, "RR": 100.0}
    assert {*found["all"]["changes"]} == {*plans.VARIANTS}


async def test_blocks_are_measured_beside_the_plain_rule(tmp_path: Path) -> None:
    notes = [{"id": f"n{n}", "text": f"Kiln {n} is cold.", "time": "2026-05-01T09:00:00Z"} for n in range(30)]
    notes.append({"id": "rent", "text": "The studio rent is 950 a month.", "time": "2026-05-02T09:00:00Z"})
    questions = [
        {"id": "q1", "question": "what is the studio rent?", "gold_ids": ["rent"], "answer": "950"},
        {"id": "q2", "question": "who repairs the Brackwater lock?", "gold_ids": [], "type": "abstention"},
    ]
    for name, rows in (("corpus", notes), ("questions", questions)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (found,) = await blocks.measure(tmp_path, (300,))
    ours, plain = found["ours"], found["plain"]
    assert (ours["questions"], ours["evidence"], ours["answers"], ours["lost"]) == (1, 100.0, 100.0, 0.0)
    assert ours["tokens"] < plain["tokens"] <= 300
    assert (ours["unanswerable"]["of"], ours["unanswerable"]["short"]) == (1, 1)
    assert blocks.together([found], 300)["plain_evidence"] == 100.0
