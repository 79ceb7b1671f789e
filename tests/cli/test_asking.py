"""search, context and explain with a language model, over HTTP."""

import pytest

from graphsearch.cli.showing import Shown
from graphsearch.modes.result import Summary
from tests.llms.llm_server import fail, reply, serving

QUERY: dict[str, object] = {
    "anchors": ["do_handshake"],
    "relation_types": [],
    "direction": "out",
    "hops": 1,
    "entity_types": [],
    "since": None,
    "until": None,
    "limit": None,
}
SENTENCES = {"sentences": [{"text": "A handshake checks.", "cites": [1, 9]}, {"text": "It is so.", "cites": []}]}
QUESTION = "what does do_handshake do?"


@pytest.fixture(autouse=True)
def ingested(line, folder):
    line.run("add", folder)


@pytest.fixture
def model():
    with serving() as server:
        yield server


def options(model):
    return "--llm", "openai:model-1", "--llm-url", model.openai_url


def test_search_shows_a_summary_with_its_sources(line, model):
    model.answers.extend([reply(data=SENTENCES)] * 2)
    found = line.json("search", QUESTION, "--mode", "summary", *options(model))
    assert found["summary"]["text"] == "A handshake checks. [1]"
    assert found["summary"]["sentences"] == [{"text": "A handshake checks.", "cites": [1]}]
    assert found["summary"]["sources"][0]["element"]["kind"] == "relation"
    assert (found["summary"]["unknown_citations"], found["summary"]["uncited"]) == ([9], ["It is so."])
    shown = line.run("search", QUESTION, "--mode", "summaries", *options(model)).stdout
    for part in ("A handshake checks. [1]", "unknown citations  9", "uncited            It is so.", "[1] tls"):
        assert part in shown


def test_search_shows_the_query_that_was_run(line, model, monkeypatch):
    monkeypatch.setattr("graphsearch.cli.environment.choose_embedder", lambda: pytest.fail("not needed"))
    model.answers.extend([reply(data=QUERY)] * 2)
    found = line.json("search", QUESTION, "--mode", "natural_language", *options(model))
    assert (found["graph_query"]["anchors"], found["graph_query"]["direction"]) == (["do_handshake"], "out")
    assert found["summary"] is None
    assert "do_handshake" in line.run("search", QUESTION, "--mode", "natural_language", *options(model)).stdout


def test_the_model_may_be_named_in_the_environment(line, model, monkeypatch):
    monkeypatch.setenv("GRAPHSEARCH_LLM", "anthropic:model-1")
    monkeypatch.setenv("GRAPHSEARCH_LLM_URL", model.host)
    model.answers.append(reply(data=SENTENCES))
    assert line.json("search", QUESTION, "--mode", "summary")["summary"]["sentences"]
    assert line.json("search", QUESTION)["summary"] is None  # and is asked by no other mode
    assert len(model.requests) == 1


def test_context_has_the_summary_next_to_the_block(line, model):
    model.answers.extend([reply(data=SENTENCES)] * 2)
    asked = ("context", QUESTION, "--principal", "ada", "--mode", "summary", *options(model))
    found = line.json(*asked)
    assert found["summary"]["text"] == "A handshake checks. [1]"
    assert "A handshake checks." not in found["text"]
    assert "A handshake checks. [1]" in line.run(*asked).stdout


def test_explain_asks_the_model_again(line, model):
    model.answers.extend([reply(data=QUERY)] * 2)
    asked = ("--mode", "natural_language", *options(model))
    best = line.json("search", QUESTION, *asked)["triplets"][0]
    assert line.json("explain", QUESTION, best["relation"]["id"], *asked)["rank"] == 1


def test_what_is_missing_is_wrong_usage(line):
    assert "--mode summary needs --llm" in line.run("search", QUESTION, "--mode", "SUMMARIES", code=2).stderr
    assert "there is no mode 'psychic'" in line.run("search", QUESTION, "--mode", "psychic", code=1).stderr
    asked = ("search", QUESTION, "--mode", "summary")
    assert "must be openai:MODEL" in line.run(*asked, "--llm", "gpt", code=1).stderr
    assert "--mode summary needs --llm" in line.run(*asked, "--llm-url", "http://x", code=2).stderr


def test_a_model_that_fails_is_an_error_of_one_line(line, model):
    model.answers.append(fail(404, "no such model"))
    shown = line.run("search", QUESTION, "--mode", "summary", *options(model), code=1)
    (message_line,) = shown.stderr.splitlines()
    assert message_line.startswith("error: model-1 at")
    assert "no such model" in message_line


def test_search_looks_at_a_period_of_time(line):
    assert line.json("search", "do_handshake", "--mode", "neighborhood", "--since", "2020-01-01")["triplets"]
    asked = ("search", "do_handshake", "--mode", "neighborhood", "--since", "2020-01-02", "--as-of", "2020-01-01")
    assert "since must not be after as_of" in line.run(*asked, code=1).stderr


def test_a_word_of_the_past_is_no_time_to_report(line):
    found = line.run("search", "what was before do_handshake?")
    assert "before: now" not in found.stderr


def test_everything_that_a_summary_lacks_is_reported():
    lacking = Summary(sentences=(), sources=(), beyond=2, note="no communities")
    assert Shown.of(lacking).lines == ["beyond  2", "note    no communities"]
