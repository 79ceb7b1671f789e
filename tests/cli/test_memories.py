"""memories add: files of every kind, one memory by its text, and what is refused."""

import json

import pytest

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
    assert found["resolutions"]["create"] == 2
    assert 0 < found["resolution_fail_rate"] <= 1
    assert line.json("remember", path)["changed"] == 0
    (triplet,) = line.json("neighbors", "Priya Sharma")["triplets"]
    assert (triplet["relation"]["type"], triplet["target"]["name"]) == ("reports_to", "Sarah Chen")
    assert triplet["relation"]["evidence"] == ["team:0"]


def test_lines_and_documents_are_taken_in_together(line, tmp_path):
    lines = put(
        tmp_path, "a.jsonl", '{"id": "m1", "text": "Ada Lovelace works at Acme."}\n\n{"id": "m2", "text": "No."}\n'
    )
    page = put(tmp_path, "b.md", "# Tools\n\nBeacon depends on Kafka.\n")
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
        ("a.csv", "x", "memories are read from .json, .jsonl, .md, .txt"),
    ],
)
def test_a_faulty_file_is_refused_whole(line, tmp_path, name, content, fault):
    good = put(tmp_path, "good.txt", "Ada Lovelace works at Acme.")
    found = line.run("remember", good, put(tmp_path, name, content), code=1)
    assert fault in found.stderr
    assert "nothing was ever written" in line.run("stats", code=1).stderr


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
