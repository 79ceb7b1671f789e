"""Commands are made of functions and of rows."""

import json

import pytest

TEXT = ("--text", "Ada Lovelace works at Acme.")


@pytest.fixture
def known(line):
    line.run("remember", *TEXT, "--id", "m1", "--session", "s1", "--label", "note")
    return line


def test_operations_answer_to_both_of_their_names(known):
    for name, arguments in (("neighbors", ["Acme"]), ("path", ["Ada Lovelace", "Acme"])):
        assert known.json(f"graph-{name}", *arguments) == known.json(name, *arguments)
    asked = ("who works at Acme?", "--principal", "ada", "--session-id", "s2")
    assert known.json("graph-query", *asked)["text"] == known.json("context", *asked)["text"]


def test_what_is_left_out_of_lists_stays(known):
    known.run("update-entity", "Acme", "--aliases", "Acme Ltd", "--aliases", "Apex", "--labels", "firm")
    found = known.json("update-entity", "Acme", "--description", "A firm.")
    assert (sorted(found["aliases"]), found["labels"]) == (["Acme Ltd", "Apex"], ["firm"])


def test_the_owner_of_a_store_may_ask_for_more_than_a_client_of_a_server(known):
    assert known.json("recall", "who?", "--limit", 1_000)["reason"] is not None
    assert "must be at least 1" in known.run("recall", "who?", "--limit", 0, code=2).stderr


def test_a_queue_of_review_is_decided_on_for_a_principal(known):
    assert "Missing option '--principal'" in known.run("proposals", code=2).stderr
    rita = ("--principal", "rita", "--attribute", "role=reviewer")
    assert known.json("proposals", *rita) == {"proposals": []}
    assert "no proposal" in known.run("accept-proposal", "0" * 32, *rita, code=1).stderr


def test_weights_are_an_object(known):
    weights = json.dumps({"connection": 0.5})
    assert known.json("rank-entities", "who works at Acme?", "--weights", weights)["entities"]
    assert "is unknown" in known.run("rank-entities", "x", "--weights", '{"conection": 1}', code=2).stderr
