"""search, neighbors, path, explain, stats."""

import json
import uuid

import pytest
from click.testing import CliRunner

from graphsearch.cli.app import app

QUESTION = "where is the TLS handshake done?"


@pytest.fixture(autouse=True)
def ingested(line, folder):
    line.run("add", folder)


def test_search_prints_scores_that_add_up(line):
    found = line.json("search", QUESTION, "--limit", 3)
    assert (found["query"], found["mode"], len(found["triplets"])) == (QUESTION, "graph_completion", 3)
    best = found["triplets"][0]
    assert {best["source"]["name"], best["target"]["name"]} & {"tls.do_handshake"}
    parts = ("proximity_part", "importance_part", "feedback_part")
    assert sum(best["breakdown"][part] for part in parts) == pytest.approx(best["score"])
    assert sum(part["contribution"] for part in best["parts"]) == pytest.approx(best["score"])
    assert best["relation"]["evidence"] == ["file:tls.py"]
    shown = line.run("search", QUESTION, "--limit", 3)
    assert shown.stdout.startswith("#  score  proximity")
    assert "tls --defines--> tls.do_handshake" in shown.stdout
    assert "found        4" in shown.stderr


def test_search_by_names_needs_no_embedder(line, monkeypatch):
    monkeypatch.setattr("graphsearch.cli.environment.choose_embedder", lambda: pytest.fail("not needed"))
    assert line.json("search", "do_handshake", "--mode", "neighborhood")["triplets"]


def test_search_as_of_an_earlier_time_knows_nothing(line):
    options = ("--known-at", "2020-01-01", "--as-of", "2020-01-01T00:00:00+01:00")
    found = line.json("search", QUESTION, *options)
    assert found["triplets"] == []
    assert (found["as_of"], found["known_at"]) == ("2019-12-31T23:00:00+00:00", "2020-01-01T00:00:00+00:00")


def test_search_says_what_was_left_out(line):
    assert "left out     1 low_confidence" in line.run("search", QUESTION, "--min-edge-confidence", 0.985).stderr


def test_explain_takes_a_score_apart(line):
    best = line.json("search", QUESTION)["triplets"][0]
    found = line.json("explain", QUESTION, best["relation"]["id"])
    assert (found["rank"], found["score"]) == (1, best["score"])
    shown = line.run("explain", QUESTION, best["relation"]["id"]).stdout
    assert "fact_words" in shown
    assert "of     4" in shown


def test_explain_of_what_was_not_reached(line):
    (away,) = [each for each in line.json("neighbors", "tls")["triplets"] if each["target"]["name"] == "tls.Alone"]
    arguments = ("explain", "do_handshake", away["relation"]["id"], "--mode", "neighborhood", "--limit", 1)
    found = line.json(*arguments)
    assert found["reason"]
    assert found["reason"] in line.run(*arguments).stdout


def test_neighbors_of_an_entity_by_name_alias_and_id(line):
    (module,) = {each["source"]["id"] for each in line.json("neighbors", "tls")["triplets"]}
    by_id = line.json("neighbors", module)
    assert {each["target"]["name"] for each in by_id["triplets"]} == {"tls.do_handshake", "tls._check", "tls.Alone"}
    assert line.json("neighbors", "do_handshake", "--limit", 1)["triplets"]
    assert "tls --defines--> tls.Alone" in line.run("neighbors", "tls").stdout


def test_path_between_two_entities(line):
    found = line.json("path", "Alone", "_check")["path"]
    assert [each["name"] for each in found["entities"]] == ["tls.Alone", "tls", "tls._check"]
    assert found["hops"] == 2
    shown = line.run("path", "Alone", "_check").stdout
    assert "tls.Alone <--defines-- tls --defines--> tls._check" in shown
    assert "strength  0.99" in shown


def test_no_path_is_an_answer(line):
    assert line.json("path", "Alone", "_check", "--max-hops", 1) == {"path": None}
    assert "path: none" in line.run("path", "Alone", "_check", "--max-hops", 1).stdout


def test_stats_count_what_is_there(line):
    found = line.json("stats")
    assert (found["entities"], found["relations"], found["memories"]) == (4, 4, 1)
    assert found["relations_by_type"] == {"calls": 1, "defines": 3}
    assert found["embedder"] == "hash-of-words-16"
    assert "1 class, 2 function, 1 module" in line.run("stats").stdout


def test_an_entity_that_is_not_there_is_an_error(line):
    found = line.run("neighbors", "nothing", code=1)
    assert found.stdout == ""
    assert found.stderr.startswith("error: no entity called 'nothing'")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("search",), "Missing argument"),
        (("search", "q", "--limit", 0), "Invalid value"),
        (("search", "q", "--as-of", "yesterday"), "must be a time, such as"),
        (("why", "x"), "must be an id, not"),
        (("serch", "q"), "did you mean 'search'"),
    ],
)
def test_wrong_usage_has_messages_of_its_own(line, arguments, message):
    assert message in line.run(*arguments, code=2).stderr


def test_stored_text_cannot_colour_the_terminal(line, folder):
    hostile = "\x1b[31mred\x1b[0m [bold]x[/bold]\u202e"
    source, target = {"type": "person", "name": hostile}, {"type": "person", "name": "Ada"}
    (folder / "x.jsonl").write_text(json.dumps({"relation": {"source": source, "type": "knows", "target": target}}))
    line.run("add", folder)
    (entity,) = {str(uuid.UUID(each["source"]["id"])) for each in line.json("neighbors", hostile)["triplets"]}
    shown = line.run("neighbors", entity).stdout
    assert "\x1b" not in shown
    assert "[bold]x[/bold]" in shown


def test_search_prints_what_connects_two_names_and_why_there_is_nothing(line):
    found = line.json("search", "do_handshake and Alone", "--mode", "neighborhood")
    (joint,) = [each for each in found["connections"] if each["entity"]["name"] == "tls"]
    assert [path["hops"] for path in joint["paths"].values()] == [1, 1]
    assert joint["score"] == pytest.approx(0.6 * min(path["strength"] for path in joint["paths"].values()))
    assert (found["reason"], found["below_floor"]) == ("", 0)
    shown = line.run("search", "do_handshake and Alone", "--mode", "neighborhood").stdout
    assert "connection" in shown
    assert "tls.Alone <--defines-- tls" in shown
    nothing = line.json("search", "do_handshake", "--mode", "neighborhood", "--min-score", 1.0)
    assert (nothing["triplets"], nothing["below_floor"]) == ([], nothing["found"])
    shown = line.run("search", "do_handshake", "--mode", "neighborhood", "--min-score", 1.0).stderr
    assert nothing["reason"] in shown
    assert "below floor" in shown


def test_search_shows_triplets_that_differ(line):
    plain = line.json("search", QUESTION, "--limit", 4)["triplets"]
    varied = line.json("search", QUESTION, "--limit", 4, "--diversity", 1.0)["triplets"]
    assert varied[0] == plain[0]
    assert sorted(each["relation"]["id"] for each in varied) == sorted(each["relation"]["id"] for each in plain)


HOSTILE = "\x1b[31mred\x07\x9b2J\x7f\u202e"


@pytest.mark.parametrize(
    "arguments",
    [
        (HOSTILE,),
        ("recall", "x", HOSTILE),
        ("recall", "x", f"--{HOSTILE}"),
        ("search", "x", "--mode", HOSTILE),
        ("search", "x", "--limit", HOSTILE),
        ("explain", "x", HOSTILE),
        ("recall-entity", HOSTILE),
        ("why", HOSTILE),
        ("path", HOSTILE, "y"),
        ("add", f"/nowhere/{HOSTILE}"),
        ("remember", f"/nowhere/{HOSTILE}.md"),
        ("remember", "--text", "x", "--id", HOSTILE),
        ("import", f"/nowhere/{HOSTILE}"),
        ("forget", HOSTILE),
        ("recall-entity", "tls", "--org", HOSTILE),
        ("recall", HOSTILE),
        ("search-entities", HOSTILE),
    ],
)
def test_what_a_caller_gives_moves_no_cursor(line, arguments):
    for given in (arguments, (*arguments, "--json")):
        found = CliRunner().invoke(app, [*given, *line.shared])
        for text in (found.stdout, found.stderr):
            assert not set(text) & set("\x1b\x07\x9b\x7f\u202e"), text
        if found.exit_code == 0 and given[-1] == "--json":
            json.loads(found.stdout)


def test_hidden_files_and_keys_are_named_and_read_when_asked_for(line, folder):
    for name in (".env.md", "id_rsa.txt"):
        (folder / name).write_text("Ada Moss works at Acme.")
    skipped = line.json("add", folder)["skipped"]
    assert [(each["path"], each["message"].split(";")[0]) for each in skipped] == [
        (".env.md", "skipped: it is hidden"),
        ("id_rsa.txt", "skipped: it may be a private key or a password"),
    ]
    assert line.json("search-entities", "Ada Moss")["entities"] == []
    assert "id_rsa.txt: skipped" in line.run("add", folder, "--hidden").stdout
    assert line.json("search-entities", "Ada Moss")["entities"]
