"""ingest and memories add by a language model that is served on the loopback: whole, within a budget, and refused."""

import json

import pytest

from tests.ingest.extract.llm.model import entity, passages, saying, states
from tests.ingest.resolve.test_judging import same
from tests.llms.llm_server import reply, serving

LINES = '{"id": "m1", "text": "Ann knows Bob."}\n{"id": "m2", "text": "Cy likes Di."}\n'


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture
def model(server):
    """The options that name the model."""
    return ("--llm", "openai:model-1", "--llm-url", server.openai_url)


def reading(answer_of=states):
    def answer(handler, body):
        given = passages(body["messages"][0]["content"])
        reply(data={"passages": [{"passage": each["passage"], **answer_of(each)} for each in given]})(handler, body)

    return answer


def edges(line, name):
    return [
        (each["source"]["name"], each["relation"]["type"], each["target"]["name"])
        for each in line.json("neighbors", name)["triplets"]
    ]


def test_memories_are_read_by_a_model(line, server, model, tmp_path):
    (tmp_path / "a.jsonl").write_text(LINES)
    server.answers.append(reading())
    found = line.json("remember", tmp_path / "a.jsonl", "--extractor", "llm", *model)
    assert (found["changed"], found["left"], found["refused"], found["unread"]) == (2, 0, [], [])
    assert edges(line, "Ann") == [("Ann", "knows", "Bob")]
    assert len(server.requests) == 1


def test_a_budget_leaves_memories_and_says_how_many(line, server, model, tmp_path):
    (tmp_path / "a.jsonl").write_text(LINES)
    command = ("remember", tmp_path / "a.jsonl", "--extractor", "llm", *model)
    assert line.json(*command, "--llm-calls", 0)["left"] == 2
    assert line.json(*command, "--llm-tokens", 10)["left"] == 2
    assert server.requests == []
    server.answers.append(reading())
    assert line.json(*command, "--llm-calls", 1, "--llm-tokens", 100_000)["changed"] == 2


def test_rules_and_a_model_read_a_folder_together(line, server, model, tmp_path):
    (tmp_path / "notes.md").write_text("Ada Lovelace works at Acme. Ann knows Bob.")
    server.answers.append(reading())
    line.json("add", tmp_path, "--extractor", "both", *model)
    assert edges(line, "Ann") == [("Ann", "knows", "Bob")]
    assert edges(line, "Ada Lovelace") == [("Ada Lovelace", "works_at", "Acme")]


def test_what_is_refused_and_what_is_unread_is_shown(line, server, model):
    server.answers.append(reading(lambda _: saying(entities=[entity("Eve")])))
    one = ("remember", "--id", "m1", "--text", "Ann knows Bob.", "--extractor", "llm", *model)
    assert "m1: entity: 'Eve' is not in the text" in line.run(*one).stdout
    server.answers.extend([reply("no"), reply("no")])
    other = ("remember", "--id", "m2", "--text", "Cy likes Di.", "--extractor", "llm", *model)
    assert "m2: the language model could not read it" in line.run(*other).stdout


def test_a_judge_is_asked_what_rules_do_not_decide(line, server, model, tmp_path):
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"entity": {"type": "project", "name": "Kestrel Payment Ledger"}}) + "\n"
    )
    line.json("add", tmp_path)
    server.answers.append(reply(data=json.loads(same(1))))
    one = ("remember", "--id", "m1", "--text", "The Kestrel payments project is late.", "--judge", *model)
    left = line.json(*one, "--llm-calls", 0)
    assert (left["changed"], left["left"], server.requests) == (0, 1, [])
    found = line.json(*one, "--llm-calls", 1)
    assert found["resolutions"] == {"llm": 1}
    assert len(server.requests) == 1


@pytest.mark.parametrize("options", [("--extractor", "llm"), ("--extractor", "both"), ("--judge",)])
def test_a_model_has_to_be_named(line, options):
    found = line.run("remember", "--id", "m1", "--text", "x", *options, code=2)
    assert "need --llm" in found.stderr
