"""rank, and explain of memories and entities."""

import json

import pytest

QUESTION = "Who was attorney general of California in 2020?"
PEOPLE = [
    {"type": "person", "name": name, "description": "attorney general of California", "attributes": attributes}
    for name, attributes in {
        "Xavier Becerra": {"term_start": 2017, "term_end": 2021},
        "Kamala Harris": {"year": 2011, "motto": "\x1b[31mred [bold]x[/bold]"},
        "Rob Bonta": {"term_start": 2021},
    }.items()
]


@pytest.fixture(autouse=True)
def ingested(line, folder):
    source, target = ({"type": "person", "name": each["name"]} for each in PEOPLE[:2])
    relation = {"source": source, "type": "knows", "target": target}
    lines = [*({"entity": each} for each in PEOPLE), {"relation": relation}]
    (folder / "office.jsonl").write_text("\n".join(map(json.dumps, lines)))
    line.run("add", folder)


def test_rank_prints_parts_that_add_up(line):
    found = line.json("rank-entities", QUESTION)
    best = found["entities"][0]
    assert (found["ranking"], best["entity"]["name"]) == (
        "question_aware",
        "Xavier Becerra",
    )
    assert sum(part["contribution"] for part in best["parts"]) == pytest.approx(best["score"])
    shown = line.run("rank-entities", QUESTION).stdout
    assert f"{best['score']:.2f}   Xavier Becerra  person" in shown
    assert "temporal" in shown
    assert "feedback 0.15" in shown
    assert "Kamala Harris" in shown


def test_rank_takes_its_options(line):
    assert len(line.json("rank-entities", QUESTION, "--limit", 1, "--ranking", "rrf")["entities"]) == 1
    options = ("--candidates", 2, "--diversity", 0.5, "--as-of", "2030-01-01", "--known-at", "2030-01-01")
    assert len(line.json("rank-entities", QUESTION, *options)["entities"]) == 2
    assert "none of 5 entities scores 1 or more" in line.run("rank-entities", QUESTION, "--min-score", 1).stderr
    assert "must be one of 'rrf'" in line.run("rank-entities", QUESTION, "--ranking", "best", code=1).stderr


def test_explain_an_entity(line):
    found = line.json("explain", QUESTION, "Kamala Harris", "--kind", "entity", "--limit", 1)
    assert (found["element"]["kind"], found["kept_out"], found["mode"]) == ("entity", "rank", "question_aware")
    shown = line.run("explain", QUESTION, "Kamala Harris", "--kind", "entity", "--ranking", "rrf").stdout
    assert "original" in shown
    assert "shown: rank" in shown


def test_explain_a_memory(line):
    line.run("remember", "--id", "m1", "--text", "Kamala Harris moved to California.")
    found = line.json("explain", "Who moved to California?", "m1", "--kind", "memory")
    assert (found["element"], found["rank"], found["kept_out"]) == ({"kind": "memory", "id": "m1"}, 1, None)
    assert sum(factor["contribution"] for factor in found["parts"]) == pytest.approx(found["score"])
    assert "not known" in line.run("explain", "quasar?", "m1", "--kind", "memory", "--known-at", "2001-01-01").stdout


def test_explain_wants_one_element(line):
    assert "Missing argument 'ID'" in line.run("explain", QUESTION, code=2).stderr
    assert "unexpected extra argument" in line.run("explain", QUESTION, "m1", "A", code=2).stderr
