"""A project to which nothing was ever written is empty."""

import pytest

NEW = "nothing was ever written to scope acme/web: check how it is spelt, or write to it first"


@pytest.mark.parametrize(
    "command",
    [
        *(("search", "who?"), ("recall", "who?"), ("rank-entities", "who?"), ("context", "who?", "--principal", "ada")),
        *(("stats",), ("search-entities", "Ada"), ("merges",), ("find-duplicates",), ("find-ambiguous",)),
        *(("contradictions",), ("communities",), ("graph-health",), ("relation-types",)),
    ],
)
def test_a_new_project_is_empty_and_says_what_to_do_first(line, command):
    assert line.json(*command)["reason"] == NEW
    assert NEW in " ".join(line.run(*command).stderr.split())


def test_an_entity_of_a_new_project_is_unknown_and_what_changes_a_project_needs_one(line, tmp_path):
    for command in (("neighbors", "Ada"), ("recall-entity", "Ada"), ("export", tmp_path / "e")):
        assert NEW in line.run(*command, code=1).stderr
    assert not (tmp_path / "e").exists()


def test_a_new_project_beside_another_is_empty_alone(line):
    line.run("remember", "--text", "Ada Lovelace works at Acme.", "--id", "m1")
    found = line.json("recall", "where does Ada Lovelace work?", "--also", "new")
    assert [each["memory"]["id"] for each in found["memories"]] == ["m1"]
    assert "acme/new" in found["reason"]
