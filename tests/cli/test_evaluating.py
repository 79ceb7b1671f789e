"""eval: what it prints, on sets of one's own."""

import json

import pytest

from graphsearch.cli import evaluating
from graphsearch.testing.fakes import HashEmbedder
from tests.cli.conftest import CommandLine
from tests.evaluation.office import LINES, QUESTIONS, TRIPLES

COSTS = {"index_s", "p50_ms", "p95_ms", "rss_mb"}
KEYS = {"metrics", "intervals", "by_type", "questions", "unanswerable", *COSTS}


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
    found = json.loads(evaluate("--group-by", "conv", "--embedder", "none", "--k", "1,3", "--json").stdout)
    assert set(found) == KEYS
    assert set(found["metrics"]) == {"R@1", "R@3", "All@1", "All@3", "MRR", "nDCG@10"}
    assert found["metrics"]["R@1"] == 1.0
    assert found["intervals"]["R@1"] == [1.0, 1.0]
    assert set(found["by_type"]) == {"who", "what", "where"}
    assert (found["questions"], found["unanswerable"]) == (3, 1)


def test_comparing_gives_an_object_a_set_of_channels(evaluate):
    arguments = ("--compare", "lexical", "--compare", "graph, lexical", "--embedder", "none")
    found = json.loads(evaluate(*arguments, "--budget", "100", "--json").stdout)
    assert [*found] == ["lexical", "lexical,graph"]
    assert all(set(each) == KEYS for each in found.values())
    assert found["lexical"]["metrics"]["R@100tok"] == found["lexical,graph"]["metrics"]["R@100tok"] > 0


def test_channels_are_compared_with_those_of_compare(evaluate):
    arguments = ("--channels", "graph", "--compare", "lexical", "--compare", "graph", "--embedder", "none")
    assert [*json.loads(evaluate(*arguments, "--json").stdout)] == ["graph", "lexical"]
    assert set(json.loads(evaluate(*arguments[:2], *arguments[-2:], "--json").stdout)) == KEYS


def test_people_see_tables(evaluate, tmp_path):
    shown = evaluate("--embedder", "none", "--level", "session", "--triples", tmp_path / "triples.jsonl").stdout
    assert "lexical,semantic,graph,temporal" in shown
    assert "peak MB" in shown
    assert "by type" in shown
    assert "3 questions; 1 without evidence were left out" in shown
    shown = evaluate("--embedder", "none", "--channels", "lexical", "--min-relevance", "0.2").stdout
    assert "answered" in shown
    assert "100 % of those without evidence got no answer by lexical" in shown


def test_an_embedder_is_chosen_by_name(evaluate, monkeypatch):
    monkeypatch.setattr(evaluating, "_EMBEDDERS", {evaluating.EmbedderName.WORDLLAMA: HashEmbedder})
    with_meaning = json.loads(evaluate("--channels", "semantic", "--json").stdout)
    without = json.loads(evaluate("--channels", "semantic", "--embedder", "none", "--json").stdout)
    assert with_meaning["metrics"]["R@5"] > without["metrics"]["R@5"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--channels", "lexical,telepathy"], "channels are some of"),
        (["--compare", ""], "channels are some of"),
        (["--k", "2,x"], "ranks between commas"),
        (["--k", "0"], "ranks from 1"),
        (["--store", "postgres"], "give either --dsn"),
    ],
)
def test_wrong_usage_is_told(evaluate, arguments, fault):
    assert fault in " ".join(evaluate(*arguments, code=2).stderr.replace("│", " ").split())


def test_faults_of_a_file_are_named_by_line(evaluate, tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"id": "a1", "text": "x"}\n{"id": 3}\n')
    shown = evaluate("--embedder", "none", code=1).stderr
    assert "corpus.jsonl: line 2: passage: text" in shown


def test_it_runs_in_postgres_and_leaves_nothing(evaluate, server_folder):
    arguments = ("--store", "postgres", "--embedded", server_folder, "--embedder", "none", "--json")
    assert json.loads(evaluate(*arguments).stdout)["metrics"]["R@5"] == 1.0
