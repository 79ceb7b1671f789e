"""remember: files of every kind, one memory by its text, by rules or a language model, and what is refused."""

from __future__ import annotations

import json

import pytest

from tests.ingest.extract.llm.model import entity, passages, saying, states
from tests.ingest.resolve.test_judging import same
from tests.llms.llm_server import reply, serving

TURNS = [
    {"speaker": "Sarah Chen", "content": "Priya Sharma reports to me.", "time": "2025-01-06T09:00:00Z"},
    {"role": "assistant", "content": "Noted."},
]


def put(folder, name, content):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_transcript_is_taken_in(line, tmp_path):
    path = put(tmp_path, "team.json", TURNS)
    found = line.json("remember", path)
    assert {name: found[name] for name in ("memories", "changed", "entities", "relations")} == {
        "memories": 2,
        "changed": 2,
        "entities": 2,
        "relations": 1,
    }
    assert found["resolutions"]["by_stage"]["create"] == 2
    assert line.json("remember", path)["changed"] == 0
    (triplet,) = line.json("neighbors", "Priya Sharma")["triplets"]
    assert (triplet["relation"]["type"], triplet["target"]["name"]) == ("reports_to", "Sarah Chen")
    assert triplet["relation"]["evidence"] == ["team:0"]


def test_lines_and_documents_are_taken_in_together(line, tmp_path):
    lines = put(
        tmp_path, "a.jsonl", '{"id": "m1", "text": "Ada Lovelace works at Acme."}\n\n{"id": "m2", "text": "No."}\n'
    )
    page = put(tmp_path, "b.md", "# Tools\n\nThe Tidewright service depends on Kafka.\n")
    shown = line.run("remember", lines, page, "--at", "2025-01-06").stdout
    assert "memories" in shown
    assert line.json("stats")["relations_by_type"] == {"depends_on": 1, "works_at": 1}


def test_a_line_ends_at_a_line_feed_alone(line, tmp_path):
    path = put(tmp_path, "a.jsonl", '{"id": "m1", "text": "Ada.\u2028Ada Lovelace works at Acme."}\r\n')
    assert line.json("remember", path)["memories"] == 1


def test_one_memory_is_taken_in_by_its_text(line):
    arguments = ("--text", "I live in Leeds.", "--id", "m1", "--speaker", "Ada Lovelace", "--at", "2025-01-06T09:00:00")
    assert line.json("remember", *arguments, "--session", "s1")["changed"] == 1
    (triplet,) = line.json("neighbors", "Leeds")["triplets"]
    assert (triplet["source"]["name"], triplet["relation"]["valid_from"]) == (
        "Ada Lovelace",
        "2025-01-06T09:00:00+00:00",
    )


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.json", "{}", "a transcript is a list of turns"),
        ("a.json", "[", "not valid"),
        ("a.json", [{"content": "x"}], "turn 0: needs a role or a speaker"),
        (
            "a.jsonl",
            '{"id": "m1"}\n{"text": "x"}\n{"id": "", "text": 3}',
            "line 2: memory: needs the field 'id'; line 3",
        ),
        ("a.txt", "one\ntwo\0", "line 2: holds a NUL character"),
        ("a.pdf", "x", "memories are read from .json, .jsonl, .csv, .md, .txt"),
        ("a.csv", "subject,relation,object\n,uses,Vim\n", "line 2: memory: facts[0]: fact: needs the field 'subject'"),
    ],
)
def test_a_faulty_file_is_refused_whole(line, tmp_path, name, content, fault):
    good = put(tmp_path, "good.txt", "Ada Lovelace works at Acme.")
    found = line.run("remember", good, put(tmp_path, name, content), code=1)
    assert fault in found.stderr
    assert "nothing was ever written" in line.json("stats")["reason"]


def test_files_that_cannot_be_read_are_named(line, tmp_path):
    assert "nothing.txt: cannot be read: No such file" in line.run("remember", tmp_path / "nothing.txt", code=1).stderr
    (tmp_path / "bad.txt").write_bytes(b"fine\n\xff")
    assert "line 2: not valid UTF-8" in line.run("remember", tmp_path / "bad.txt", code=1).stderr


def test_files_or_a_text_are_needed_and_not_both(line, tmp_path):
    assert "give files, or --text" in line.run("remember", code=2).stderr
    assert "give files, or --text" in line.run("remember", tmp_path, "--text", "x", code=2).stderr


def test_facts_are_embedded_unless_turned_off(line, folder):
    one = ("remember", "--id", "m1", "--text", "Priya Sharma reports to Sarah Chen.")
    assert line.json(*one, "--no-facts")["facts"] == 0
    assert line.json("add", folder, "--no-facts")["facts"] == 0
    assert line.json("add", folder)["facts"] >= 1
    assert line.json(*one)["facts"] == 0
    question = "Priya Sharma reports to Sarah Chen?"
    (best,) = line.json("search", question, "--mode", "triplet_completion", "--limit", 1)["triplets"]
    assert best["relation"]["fact"] == "Priya Sharma reports to Sarah Chen."


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
    assert found["resolutions"]["by_stage"] == {"llm": 1}
    assert len(server.requests) == 1


@pytest.mark.parametrize("options", [("--extractor", "llm"), ("--extractor", "both"), ("--judge",)])
def test_a_model_has_to_be_named(line, options):
    found = line.run("remember", "--id", "m1", "--text", "x", *options, code=2)
    assert "need --llm" in found.stderr


def test_what_a_session_was_shown_is_no_new_evidence(line, tmp_path):
    line.json("remember", put(tmp_path, "team.json", TURNS))
    block = line.json("context", "Who does Priya Sharma report to?", "--session-id", "s1", "--principal", "ada")
    before = line.json("stats")
    report = line.json("remember", "--text", block["text"], "--id", "copy", "--session", "s1")
    assert (report["changed"], [each["stored"] for each in report["echoes"]]) == (0, [False])
    assert line.json("stats") == before


def test_known_names_and_the_user_are_given_by_options(line, tmp_path):
    known = put(tmp_path, "names.jsonl", '{"name": "Keelbook", "type": "tool", "aliases": ["kb"]}\n')
    text = ("--text", "i use kb on every watch", "--id", "m1", "--speaker", "user")
    line.json("remember", *text, "--known", known, "--user", "Ada Moss")
    (triplet,) = line.json("neighbors", "Keelbook")["triplets"]
    assert (triplet["source"]["name"], triplet["relation"]["type"]) == ("Ada Moss", "uses")
    wrong = put(tmp_path, "wrong.jsonl", '{"title": "Keelbook"}\n')
    assert "--known must be JSON lines" in line.run("remember", *text, "--known", wrong, code=2).output


def test_facts_are_stated_by_the_line(line):
    facts = ("--fact", "Jonas Weber | leads | Lighthouse | since 2026-03-02", "--fact", "Mira Lund | likes | tea")
    found = line.json("remember", *facts, "--entity", "Lighthouse | project | LH", "--at", "2026-03-05")
    assert [(each["status"], each["held"]) for each in found["stated"]] == [
        ("new", ["Jonas Weber", "leads", "Lighthouse"]),
        ("new", ["Mira Lund", "prefers", "tea"]),
    ]
    (triplet,) = line.json("neighbors", "LH")["triplets"]
    assert (triplet["relation"]["valid_from"], triplet["target"]["type"]) == ("2026-03-02T00:00:00+00:00", "project")
    text = ("--text", "From May on Jonas Weber leads Lighthouse no more.", "--extractor", "none", "--at", "2026-05-03")
    over = ("--fact", "Jonas Weber | leads | Lighthouse | until 2026-05-01 | ended | “leads Lighthouse no more”")
    for outcome in ("1 ends Jonas Weber leads Lighthouse", "1 known"):
        assert outcome in line.run("remember", *text, *over).stdout


def test_files_state_facts(line, tmp_path):
    table = put(tmp_path, "a.csv", "subject,relation,object\nJonas Weber,leads,Lighthouse\n")
    lines = put(
        tmp_path, "a.jsonl", json.dumps({"id": "m", "text": "Hm.", "facts": ["Mira Lund | reports to | Jonas Weber"]})
    )
    shown = line.run("remember", table, lines).stdout
    assert "1 new\n2 new" in shown
    folder = tmp_path / "more"
    folder.mkdir()
    fact = {"subject": "Tom Reed", "relation": "reports to", "object": "Mira Lund"}
    put(folder, "a.jsonl", json.dumps({"memory": {"id": "n", "text": "So.", "facts": [fact]}}))
    assert "1 new" in line.run("add", folder).stdout
    assert line.json("stats")["relations_by_type"] == {"leads": 1, "reports_to": 2}


def test_what_is_no_fact_is_refused_before_anything_is_opened(line):
    for given, fault in (("Ana | uses", "subject | relation | object"), ("Ana|uses|Vim|maybe", "'maybe' is neither")):
        assert fault in line.run("remember", "--fact", given, code=1).stderr
    assert "--fact and --entity" in line.run("remember", code=2).stderr
