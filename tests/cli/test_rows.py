"""Rows of the last answers stand for ids, and words that are no command for a question."""

import pytest


@pytest.fixture
def known(line):
    line.run("remember", "--text", "Ada Lovelace works at Acme. Grace Hopper reports to Ada Lovelace.", "--id", "m1")
    line.run("remember", "--text", "Grace Hopper works at Acme.", "--id", "m2")
    return line


def test_rows_and_short_ids_are_of_the_last_answer_of_their_kind(known):
    triplets = known.json("search", "who works at Acme?")["triplets"]
    known.run("search", "who works at Acme?")
    proofs = known.json("why", "2")
    assert proofs == known.json("why", triplets[1]["relation"]["id"])
    known.run("why", "1")  # whose rows are memories
    assert known.json("why", "2") == proofs
    assert known.json("why", triplets[1]["relation"]["id"][:8]) == proofs
    known.run("search-entities", "Ada")
    assert known.json("neighbors", "1") == known.json("neighbors", "Ada Lovelace")
    assert "Ada Lovelace" in str(known.json("explain", "1")["found"])


def test_a_row_of_another_kind_and_a_row_that_is_not_there_are_refused(known):
    known.run("recall", "who works at Acme?")
    assert "1 is of a memory in the last answer, and not of a relation" in known.run("why", "1", code=1).stderr
    assert "the last answer has no row 99" in known.run("why", "99", code=1).stderr
    assert "must be an id" in known.run("why", "nothing", code=2).stderr
    assert "Missing argument 'ID'" in known.run("explain", "99", code=2).stderr


def test_an_id_comes_before_a_row(known):
    known.run("remember", "--text", "Linus works at Acme.", "--id", "1")
    known.run("recall", "who works at Acme?", "--limit", "3")
    assert known.json("forget", "1", "--dry-run")["memories"] == 1
    assert "Remove this memory?" not in known.run("forget", "1").stderr
    assert [each["memory"]["id"] for each in known.json("recall", "Linus")["memories"]].count("1") == 0


def test_a_row_of_a_block_is_the_line_with_its_number(known):
    block = known.json("context", "who works at Acme?", "--principal", "ada")
    keys = [each["key"].partition(":")[2] for each in block["lines"] if each["key"]]
    known.run("who works at Acme?", "--principal", "ada")
    explained = known.json("explain", "1")
    assert keys[0] in str(explained["found"])


def test_words_are_a_question_but_for_a_misspelt_command(known):
    asked = known.run("who", "works", "at", "Acme?", "--principal", "ada").stdout
    assert asked == known.run("context", "who works at Acme?", "--principal", "ada").stdout
    assert "Acme" in known.run("Acme", "--principal", "ada").stdout
    assert "did you mean 'recall'?" in known.run("recal", "x", code=2).stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(line, shell):
    line.shared = ()
    assert "_GRAPHSEARCH_COMPLETE" in line.run("completion", shell).stdout


def test_what_goes_with_a_row_is_shown_before_it_is_asked_for(known):
    known.run("recall", "who works at Acme?")
    text = known.json("recall", "who works at Acme?")["memories"][0]["memory"]["text"]
    refused = known.run("forget", "1", code=1).stderr
    assert refused.index(text) < refused.index("Remove this memory?")
