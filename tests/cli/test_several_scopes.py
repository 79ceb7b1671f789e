"""search, recall, rank-entities, context, feedback and mcp with --also: other projects asked with the project."""

from __future__ import annotations

import pytest

from tests.cli.conftest import CommandLine

QUESTION = "Where does Ada work?"
TEXTS = {"web": "Ada works at Globex.", "team": "Ada leads the Apollo project.", "other": "Ada owns Initech."}
ALSO = ("--also", "team")
BOB = ("--principal", "bob")


@pytest.fixture(autouse=True)
def remembered(line):
    """One memory in the project of the command line, and one in each of two others."""
    for project, text in TEXTS.items():
        other = CommandLine(*line.shared, "--project", project)  # of several, the last option counts
        other.run("remember", "--id", f"of-{project}", "--text", text)


def weights(line):
    """The feedback weight of the memory of each project, by an answer of all three."""
    found = line.json("recall", QUESTION, "--also", "team", "--also", "other")["memories"]
    return {each["memory"]["id"]: each["channels"]["feedback"]["score"] for each in found}


def test_each_answer_names_its_scopes(line):
    own, other = "acme/web", "acme/team"
    recalled = line.json("recall", QUESTION, *ALSO)["memories"]
    assert {each["memory"]["id"]: each["scopes"] for each in recalled} == {"of-web": [own], "of-team": [other]}
    found = line.json("search", QUESTION, *ALSO)["triplets"]
    assert {each["relation"]["type"]: [*each["origins"]] for each in found} == {
        "works_at": ["acme/web"],
        "leads": ["acme/team"],
    }
    ranked = line.json("rank-entities", QUESTION, *ALSO)["entities"]
    assert {each["entity"]["name"]: each["scopes"] for each in ranked}["Ada"] == [other, own]
    assert "team" in line.run("recall", QUESTION, *ALSO).stdout
    assert not any(each["origins"] for each in line.json("search", QUESTION)["triplets"])


def test_a_block_is_logged_and_an_outcome_counts_in_every_scope(line):
    before = weights(line)
    block = line.json("context", QUESTION, *BOB, *ALSO, "--session-id", "s1")
    assert "- [web] Ada --works_at--> Globex" in block["text"]
    assert "- [team] Ada --leads--> Apollo" in block["text"]
    assert (block["injection_id"], set(block["injection_ids"])) == (None, {"acme/web", "acme/team"})
    report = line.json("feedback", "s1", "accepted", *BOB, *ALSO)
    assert {"of-web", "of-team"} <= {each["id"] for each in report["applied"]}
    after = weights(line)
    assert after["of-web"] > before["of-web"]
    assert after["of-team"] > before["of-team"]
    assert after["of-other"] == before["of-other"]


def test_what_policies_hide_of_another_project_takes_no_part(line, tmp_path):
    policies = tmp_path / "own.cedar"
    policies.write_text(
        "permit (principal, action, resource);\n"
        'forbid (principal, action, resource) when { resource in Project::"acme/team" };'
    )
    asked = ("context", QUESTION, *BOB, "--policies", policies)
    alone, both = line.json(*asked), line.json(*asked, *ALSO)
    assert (both["text"], both["denied"]) == (alone["text"], alone["denied"])


def test_projects_are_checked(line, tmp_path):
    tokens = tmp_path / "tokens.json"
    for command in (("search", QUESTION), ("context", QUESTION, *BOB)):
        assert "acme/nowhere" in line.json(*command, "--also", "nowhere")["reason"]
    assert "acme/nowhere" in line.run("feedback", "s1", "accepted", *BOB, "--also", "nowhere", code=1).stderr
    assert "name each scope once" in line.run("recall", QUESTION, "--also", "web", code=1).stderr
    tokens.write_text("{}")
    shown = line.run("mcp", "--http", "127.0.0.1:0", "--tokens", tokens, *ALSO, code=2).output
    assert "a token names one project" in shown
