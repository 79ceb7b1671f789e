"""eval: what it prints, on sets of one's own."""

import json

import pytest

from graphsearch.cli import evaluating
from graphsearch.testing.fakes import HashEmbedder
from tests.cli.conftest import CommandLine
from tests.evaluation.depot import ANSWERS, ENTITIES, NAMES, RELATIONS, TURNS, written
from tests.evaluation.depot import QUESTIONS as QUESTIONS_OF_DEPOT
from tests.evaluation.office import LINES, QUESTIONS, TRIPLES

COLUMN = {"metrics", "intervals", "by_kind", "p50_ms", "p95_ms", "regret", "best"}
KEYS = COLUMN | {"default", "others", "questions", "kinds", "unanswerable", "index_s", "rss_mb"}


@pytest.fixture
def files(tmp_path):
    written = {"corpus": LINES, "questions": QUESTIONS, "triples": TRIPLES}
    for name, lines in written.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return [part for name in ("corpus", "questions") for part in (f"--{name}", tmp_path / f"{name}.jsonl")]


@pytest.fixture
def evaluate(files):
    def run(*arguments, code=0):
        return CommandLine().run("eval", *files, *arguments, code=code)

    return run


def test_the_object_is_as_documented(evaluate):
    found = json.loads(evaluate("--embedder", "none", "--group-by", "conv", "--k", "1,3", "--json").stdout)
    assert set(found) == KEYS
    assert set(found["metrics"]) == {"R@1", "R@3", "All@1", "All@3", "MRR", "nDCG@10", "R@500tok", "lost", "silenced"}
    assert set(found["regret"]) == set(found["best"]) == set(found["metrics"]) - {"lost", "silenced"}
    assert [*found["others"]] == ["lexical", "graph", "temporal", "bm25"], "without an embedder none is semantic"
    assert all(set(each) == COLUMN for each in found["others"].values())
    assert found["metrics"]["R@1"] == 1.0
    assert found["intervals"]["R@1"] == [pytest.approx(0.4385, abs=1e-4), 1.0], "Wilson's, of three"
    assert set(found["by_kind"]) == {"who", "what", "where"}
    assert (found["questions"], found["unanswerable"]) == (4, 1)


def test_the_default_can_be_measured_by_itself_and_without_a_block(evaluate):
    found = json.loads(evaluate("--no-alone", "--budget", "0", "--embedder", "none", "--json").stdout)
    assert set(found) == KEYS
    assert "R@500tok" not in found["metrics"]


def test_comparing_gives_an_object_a_set_of_channels(evaluate):
    arguments = ("--compare", "lexical", "--compare", "graph, lexical", "--embedder", "none")
    found = json.loads(evaluate(*arguments, "--budget", "100", "--json").stdout)
    assert (found["default"], [*found["others"]]) == ("lexical", ["lexical,graph"])
    assert found["metrics"]["R@100tok"] == found["others"]["lexical,graph"]["metrics"]["R@100tok"] > 0


def test_channels_are_compared_with_those_of_compare(evaluate):
    arguments = ("--channels", "graph", "--compare", "lexical", "--compare", "graph", "--embedder", "none")
    found = json.loads(evaluate(*arguments, "--json").stdout)
    assert (found["default"], [*found["others"]]) == ("graph", ["lexical"])
    assert json.loads(evaluate(*arguments[:2], *arguments[-2:], "--json").stdout)["others"] == {}


def test_people_see_tables(evaluate, tmp_path):
    shown = evaluate("--embedder", "none", "--level", "session", "--triples", tmp_path / "triples.jsonl").stdout
    assert "default" in shown
    assert "bm25" in shown
    assert "regret" in shown
    assert "peak" in shown
    assert "by kind, lexical,semantic,graph,temporal" in shown
    assert "4 questions, 1 without an answer; indexed in" in shown
    shown = evaluate("--embedder", "none", "--channels", "lexical", "--min-relevance", "0.2").stdout
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("silenced")] == ["1.000"]


def test_an_embedder_is_chosen_by_name(evaluate, monkeypatch):
    monkeypatch.setattr(evaluating, "embedder_called", lambda _: HashEmbedder())
    with_meaning = json.loads(evaluate("--channels", "semantic", "--json").stdout)
    without = json.loads(evaluate("--channels", "semantic", "--embedder", "none", "--json").stdout)
    assert with_meaning["metrics"]["R@5"] > without["metrics"]["R@5"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--code", "."], "--gold passages needs --corpus"),
        (["--gold", "triplets"], "--gold triplets needs --graph"),
        (["--gold", "entities"], "--gold entities needs --graph or --code"),
        (["--gold", "entities", "--code", ".", "--graph", "a", "b"], "--gold entities needs --graph or --code"),
    ],
)
def test_wrong_usage_is_reported(evaluate, arguments, fault):
    assert fault in " ".join(evaluate(*arguments, code=2).stderr.split())


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--channels", "lexical,telepathy"], "--channels: 1: must be one of"),
        (["--compare", ","], "--channels: 0: must be one of"),
        (["--k", "2,x"], "--k: 1: must be a whole number"),
        (["--k", "0"], "--k: 0: must be at least 1"),
    ],
)
def test_faulty_lists_are_reported(evaluate, arguments, fault):
    assert fault in evaluate(*arguments, code=1).stderr


def test_passages_are_needed_for_what_they_answer(files):
    for gold in ([], ["--gold", "answers"]):
        shown = CommandLine().run("eval", *files[2:], *gold, code=2).stderr
        assert "--corpus" in shown


def test_triplets_of_a_given_graph_are_measured(tmp_path):
    arguments = ("eval", *_given(tmp_path), "--gold", "triplets", "--embedder", "none", "--now", "2025-10-31")
    found = json.loads(CommandLine().run(*arguments, "--json").stdout)
    assert set(found) == KEYS
    assert found["default"] == "neighborhood"
    assert set(found["metrics"]) == {"found", "R@10", "lost", "silenced"}
    assert set(found["regret"]) == set(found["best"]) == {"found", "R@10"}
    assert [*found["others"]] == ["lexical", "bm25"]
    assert found["kinds"] == {"now": 2, "old": 1, "foreign": 1}
    shown = CommandLine().run(*arguments).stdout
    assert "by kind, neighborhood" in shown
    assert "now (2)" in shown
    assert "regret" in shown
    assert "4 questions, 1 without an answer; indexed in" in " ".join(shown.split())


def test_questions_may_be_in_several_files(tmp_path):
    more = written(tmp_path / "more.jsonl", [{**QUESTIONS_OF_DEPOT[0], "id": "q9"}])
    arguments = ("eval", *_given(tmp_path), "--questions", more, "--gold", "triplets", "--embedder", "none", "--json")
    assert json.loads(CommandLine().run(*arguments).stdout)["questions"] == 5


def test_entities_of_code_and_of_a_graph_are_measured(tmp_path):
    (tmp_path / "tasks.py").write_text("def wait_for(task): ...\n")
    asked = written(tmp_path / "q.jsonl", [{"id": "q1", "question": "wait for a task", "gold": ["tasks.wait_for"]}])
    arguments = ("eval", "--questions", asked, "--gold", "entities", "--embedder", "none", "--json")
    found = json.loads(CommandLine().run(*arguments, "--code", tmp_path / "tasks.py").stdout)
    assert found["default"] == "rank_entities"
    assert found["metrics"]["hit@1"] == found["others"]["bm25"]["metrics"]["hit@1"] == 1.0
    asked = written(tmp_path / "q.jsonl", [{"id": "q1", "question": "Who sends invoices?", "gold": ["billing"]}])
    found = json.loads(CommandLine().run(*arguments, *_given(tmp_path)[:3]).stdout)
    assert found["metrics"]["hit@1"] == 1.0


def test_answers_to_a_conversation_are_measured(tmp_path):
    lines = {"turns": TURNS, "asked": ANSWERS, "names": NAMES}
    turns, asked, names = (written(tmp_path / f"{name}.jsonl", each) for name, each in lines.items())
    arguments = ("eval", "--corpus", turns, "--questions", asked, "--gold", "answers", "--embedder", "none", "--json")
    found = json.loads(CommandLine().run(*arguments, "--names", names, "--budget", "80").stdout)
    assert found["metrics"]["R@80tok"] == 1.0
    unnamed = json.loads(CommandLine().run(*arguments).stdout)
    assert unnamed["metrics"]["R@500tok"] == 0.5, "she is called Bea there"


def _given(folder):
    entities, relations = written(folder / "e.jsonl", ENTITIES), written(folder / "r.jsonl", RELATIONS)
    return ("--graph", entities, relations, "--questions", written(folder / "d.jsonl", QUESTIONS_OF_DEPOT))


def test_faults_of_a_file_are_named_by_line(evaluate, tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"id": "a1", "text": "x"}\n{"id": 3}\n')
    shown = evaluate("--embedder", "none", code=1).stderr
    assert "corpus.jsonl: line 2: passage: text" in shown


def test_it_runs_in_postgres_and_leaves_nothing(evaluate, server_folder):
    arguments = ("--embedder", "none", "--store", "postgres", "--embedded", server_folder, "--json")
    assert json.loads(evaluate(*arguments).stdout)["metrics"]["R@5"] == 1.0
