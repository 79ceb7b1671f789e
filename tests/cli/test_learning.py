"""context and feedback."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphsearch.authz import cedar

RECIPES = Path(__file__).parents[2] / "examples" / "policies"
QUESTION = "where is the TLS handshake done?"


@pytest.fixture(autouse=True)
def ingested(line, folder):
    line.run("add", folder)


def test_context_is_what_the_principal_may_see(line):
    plainly = ("context", QUESTION, "--principal", "bob", "--session-id", "s1", "--budget", 200)
    everything = line.json(*plainly)
    assert "_check" in everything["text"]
    assert "hidden by policy" not in line.run(*plainly).stderr
    recipes = (each for name in ("members", "underscore_names") for each in ("--policies", RECIPES / f"{name}.cedar"))
    asked = (*plainly, *recipes)
    bob = line.json(*asked)
    assert bob["text"].startswith("## Knowledge Graph Triplets\n- ")
    assert "_check" not in bob["text"]
    assert bob["denied"]["entity"] == 1
    assert (bob["session_id"], bob["budget"]) == ("s1", 200)
    assert 0 < bob["tokens"] <= 200
    ada = line.json(*asked, "--attribute", "see_private=true", "--attribute", "age=36", "--attribute", "team=web")
    assert "_check" in ada["text"]
    assert line.json(*asked, "--statistics", "visible")["text"].startswith("## Knowledge Graph Triplets\n- ")
    shown = line.run(*asked)
    assert shown.stdout == bob["text"] + "\n", "it is the prompt"
    assert re.search(r"hidden by policy  1 entity", shown.stderr)


def test_context_shows_what_was_observed(line):
    line.run("remember", "--id", "m1", "--text", "The TLS handshake is slow on Mondays.")
    asked = ("context", QUESTION, "--principal", "bob")
    both = line.json(*asked)
    triplets, _, observed = both["text"].partition("\n## Relevant Past Observations (newest first)\n")
    assert triplets.startswith("## Knowledge Graph Triplets\n- "), "they answer"
    assert observed == f"- {datetime.now(UTC):%Y-%m-%d} The TLS handshake is slow on Mondays."
    assert (both["memories"][0]["memory"]["id"], both["skipped_memories"]) == ("m1", 0)
    assert "memories skipped  0" in line.run(*asked).stderr
    assert line.json(*asked, "--no-graph")["text"] == f"## Relevant Past Observations (newest first)\n{observed}"
    assert line.json(*asked, "--no-observations")["memories"] == []


def test_a_session_is_made_where_none_is_given_and_work_types_have_budgets(line):
    found = line.json("context", QUESTION, "--principal", "bob", "--work-type", "feature")
    assert found["session_id"].startswith("s-")
    assert found["budget"] == 400
    assert line.json("context", QUESTION, "--principal", "bob", "--work-type", "chore")["text"] == ""


def test_policies_of_ones_own(line, tmp_path):
    nobody = tmp_path / "nobody.cedar"
    nobody.write_text('@id("nobody") forbid (principal, action, resource);')
    asked = ("context", QUESTION, "--principal", "bob", "--policies", nobody)
    assert line.json(*asked)["text"] == ""
    assert line.json(*asked, "--schema", cedar._SCHEMA)["text"] == ""
    nobody.write_text("nonsense")
    assert line.run(*asked, code=1).stderr.startswith("error:")


def test_feedback_moves_what_was_surfaced(line):
    surfaced = line.json("context", QUESTION, "--principal", "bob", "--session-id", "s1")["triplets"][0]["relation"][
        "id"
    ]

    def ranked():
        return next(each for each in line.json("search", QUESTION)["triplets"] if each["relation"]["id"] == surfaced)

    before = ranked()
    found = line.json("feedback", "s1", "accepted", "--principal", "bob")
    assert {"kind": "relation", "id": surfaced} in found["applied"]
    after = ranked()
    assert after["relation"]["feedback_weight"] == pytest.approx(0.55)
    assert after["score"] > before["score"]
    again = json.loads(line.run("feedback", "s1", "accepted", "--principal", "bob", "--json").stdout)
    assert (again["applied"], len(again["repeated"])) == ([], len(found["applied"]))
    shown = line.run("feedback", "s1", "rejected", "--principal", "bob").stdout
    assert f"replaced  {len(found['applied'])}" in shown


def test_a_session_is_of_the_principal_who_began_it(line):
    found = line.json("context", QUESTION, "--principal", "bob", "--session-id", "s1")
    for command in (("context", QUESTION, "--session-id", "s1"), ("feedback", "s1", "rejected")):
        for other in (("--principal", "eve"), ("--principal", "bob", "--principal-type", "Agent")):
            assert "was opened by another principal" in line.run(*command, *other, code=1).stderr
    assert line.json("context", QUESTION, "--principal", "bob", "--session-id", "s1")["text"] == found["text"]
    assert line.json("feedback", "s1", "accepted", "--principal", "bob", "--attribute", "age=36")["applied"]


def test_feedback_for_an_unknown_session_is_an_error(line):
    assert (
        "nothing was shown to a session 'never'"
        in line.run("feedback", "never", "rework", "--principal", "bob", code=1).stderr
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("context", QUESTION), "--principal"),
        (("context", QUESTION, "--principal", "bob", "--attribute", "nonsense"), "must be key=value"),
        (("context", QUESTION, "--principal", "bob", "--work-type", "play"), "Invalid value"),
        (("context", QUESTION, "--principal", "bob", "--statistics", "mine"), "Invalid value"),
        (("feedback", "s1", "great", "--principal", "bob"), "must be one of 'accepted', 'rework', 'rejected'"),
    ],
)
def test_wrong_usage_has_messages_of_its_own(line, arguments, message):
    assert message in line.run(*arguments, code=2).stderr


def test_a_schema_comes_with_policies(line, tmp_path):
    (tmp_path / "s").write_text("")
    found = line.run("context", QUESTION, "--principal", "bob", "--schema", tmp_path / "s", code=2)
    assert "--schema comes with --policies" in found.stderr


def test_a_workload_of_texts_leaves_out_the_graph(line):
    asked = ("context", QUESTION, "--principal", "bob")
    assert line.json(*asked, "--workload", "relational")["triplets"]
    assert line.json(*asked, "--workload", "text")["triplets"] == []
    assert "--workload" in line.run(*asked, "--workload", "x", code=2).stderr
    line.run("remember", "--id", "n1", "--text", "The handshake checks for a connection.")
    recalled = [line.json("recall", QUESTION, "--workload", each)["memories"] for each in ("text", "relational")]
    assert all(recalled)
