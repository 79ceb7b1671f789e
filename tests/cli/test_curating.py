"""forget, why, timeline, backlinks, and the care of the graph, on a small team's year."""

import json
import re

import pytest

from tests.ingest.resolve.test_judging import questions
from tests.llms.llm_server import reply, serving

TURNS = [
    ("2025-01-06", "Sarah Chen", "Priya Sharma reports to me. Bob Miller reports to me."),
    ("2025-02-03", "Priya Sharma", "I live in Leeds."),
    ("2025-07-01", "Sarah Chen", "Priya Sharma reports to Dana Levy as of 2025-07-01."),
    ("2025-08-01", "Dana Levy", "Robert Muller joined the data team."),
]


@pytest.fixture
def team(line, tmp_path):
    path = tmp_path / "team.json"
    path.write_text(
        json.dumps([{"speaker": who, "content": text, "time": f"{day}T09:00:00Z"} for day, who, text in TURNS])
    )
    line.run("remember", path)
    return line


def test_forgetting_tells_what_went_or_that_there_was_nothing(team, tmp_path):
    report = team.json("forget", "team:1")
    assert (report["memories"], report["relations_retracted"], report["entities_removed"]) == (1, 1, 1)
    for again in (("team:1",), ("team:1", "--receipt", tmp_path / "receipt"), ("nosuch", "--json")):
        assert "there is no memory" in team.run("forget", *again, code=1).stderr
    assert not (tmp_path / "receipt").exists()
    assert "changed  nothing" in team.run("forget", "--session-id", "nosuch").stdout
    assert team.json("forget", "--source", "team.json")["memories"] == 3
    assert team.json("stats")["entities"] == 0


def test_a_session_is_forgotten_whole(team):
    assert "memories" in team.run("forget", "--session-id", "team").stdout
    assert team.json("stats")["memories"] == 0


@pytest.mark.parametrize("arguments", [(), ("team:1", "--session-id", "team"), ("--session-id", "a", "--source", "b")])
def test_what_to_forget_is_given_exactly_once(team, arguments):
    assert "give one of memory, session_id" in team.run("forget", *arguments, code=1).stderr


def test_why_gives_the_words_and_the_pattern(team):
    (triplet,) = team.json("neighbors", "Leeds")["triplets"]
    found = team.json("why", triplet["relation"]["id"])
    (proof,) = found["proofs"]
    assert (proof["quote"], proof["extractor"], proof["pattern"]) == ("I live in Leeds.", "frames/1", "lives_in")
    assert proof["adds"] == pytest.approx(found["relation"]["confidence"])
    shown = team.run("why", triplet["relation"]["id"]).stdout
    assert "confidence  0.86" in shown
    assert "team:1" in shown


def test_a_timeline_is_in_order(team):
    events = team.json("entity-timeline", "Priya Sharma")["events"]
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    assert {"started", "ended", "mentioned"} == {event["kind"] for event in events}
    shown = team.run("entity-timeline", "Priya Sharma", "--since", "2025-07-01").stdout
    assert "--reports_to--> Dana Levy" in shown
    assert "Leeds" not in shown
    assert "<--reports_to-- Priya Sharma" in team.run("entity-timeline", "Sarah Chen").stdout


def test_backlinks_of_an_entity_and_of_a_memory(team):
    found = team.json("backlinks", "Leeds")["backlinks"]
    assert [each["memory"]["id"] for each in found] == ["team:1"]
    assert "Priya Sharma: I live in Leeds." in team.run("backlinks", "Leeds").stdout
    sharing = team.json("backlinks", "--memory", "team:1")["backlinks"]  # Priya Sharma is mentioned in both
    assert {each["memory"]["id"] for each in sharing} == {"team:0", "team:2"}
    assert "give either an entity or a memory" in team.run("backlinks", code=1).stderr


def test_entities_are_found_by_parts_and_slips(team):
    assert [each["entity"]["name"] for each in team.json("search-entities", "priy")["entities"]] == ["Priya Sharma"]
    assert "Priya Sharma" in team.run("search-entities", "Pria Sharma", "--type", "person").stdout
    assert team.json("search-entities", "Priya", "--type", "place")["entities"] == []


def test_a_merge_is_tried_made_and_undone(team):
    before = team.json("stats")
    tried = team.run("merge-entities", "Robert Muller", "Bob Miller", "--dry-run").stdout
    assert re.search("^mentions +1$", tried, re.MULTILINE)
    assert team.json("stats") == before
    merge = team.json("merge-entities", "Robert Muller", "Bob Miller")
    assert merge["mentions"] == 1
    team.run("merge-entities", "Dana Levy", "Sarah Chen")
    assert "error" in team.run("merge-entities", "Leeds", "Sarah Chen", code=1).stderr  # a place and a person
    report = team.json("undo-merge", merge["id"])
    assert (report["mentions"], report["forgotten"]) == (1, 0)
    assert "error" in team.run("undo-merge", merge["id"], code=1).stderr


def test_duplicates_communities_and_health(team, tmp_path):
    lines = tmp_path / "more.jsonl"
    lines.write_text(
        '{"entity": {"type": "tool", "name": "postgresql"}}\n{"entity": {"type": "tool", "name": "postgresqll"}}\n'
    )
    team.run("add", lines)
    found = team.json("find-duplicates", "--threshold", "0.7")["duplicates"]
    (pair,) = [each for each in found if {each["one"]["name"], each["other"]["name"]} == {"postgresql", "postgresqll"}]
    assert (pair["one"]["type"], pair["verdict"], pair["likeness"]) == ("tool", "review", "similar")
    assert "postgresqll" in team.run("find-duplicates", "--threshold", "0.7").stdout
    assert team.json("communities")["communities"] == []
    found = team.json("detect-communities", "--seed", "3")["communities"]
    assert sum(each["size"] for each in found) >= 3
    assert team.json("refresh-communities")["communities"] == []
    assert team.json("communities")["communities"] == found
    assert "Priya Sharma" in team.run("communities", "Priya Sharma").stdout
    health = team.json("graph-health")
    assert 0 <= health["value"] <= 1
    assert health["maturity"] == "sparse"
    assert "sparse" in team.run("graph-health").stdout


def test_entities_of_two_types_are_merged_with_retype(team, tmp_path):
    lines = tmp_path / "more.jsonl"
    lines.write_text(
        '{"entity": {"type": "tool", "name": "Mercury"}}\n{"entity": {"type": "organisation", "name": "Mercury"}}\n'
    )
    team.run("add", lines)
    found = team.json("find-duplicates", "--limit", "100")["duplicates"]
    (pair,) = [each for each in found if each["likeness"] == "type"]
    merge = team.json("merge-entities", "--retype", pair["one"]["id"], pair["other"]["id"])
    assert merge["target_id"] == pair["other"]["id"]
    team.run("undo-merge", merge["id"])


def test_merges_are_listed_with_those_that_were_undone(team):
    assert team.json("merges")["merges"] == []
    merge = team.json("merge-entities", "Robert Muller", "Bob Miller")
    team.run("undo-merge", merge["id"])
    team.run("merge-entities", "Dana Levy", "Sarah Chen")
    found = team.json("merges")["merges"]
    assert [each["undone_at"] is None for each in found] == [False, True]
    assert [each["id"] for each in team.json("merges", "Bob Miller")["merges"]] == [merge["id"]]
    assert merge["id"][:8] in team.run("merges").stdout


def test_an_entity_is_corrected_field_by_field(team):
    given = ("--description", "A city.", "--aliases", "Loidis", "--labels", "city", "--attributes", '{"rivers": 1}')
    found = team.json("update-entity", "Leeds", *given)
    assert (found["name"], found["description"], found["labels"]) == ("Leeds", "A city.", ["city"])
    assert found["attributes"] == {"rivers": 1}
    assert team.json("search-entities", "Loidis")["entities"][0]["entity"]["id"] == found["id"]
    assert "Leeds on Aire" in team.run("update-entity", "Leeds", "--name", "Leeds on Aire").stdout
    for text in ("[]", "{", "1"):
        refused = team.run("update-entity", "Loidis", "--attributes", text, code=2)
        assert "Invalid value for '--attributes': must be an object" in refused.stderr
    assert "importance" in team.run("update-entity", "Loidis", "--importance", 7, code=2).stderr


def test_an_entity_and_what_is_around_it_are_recalled(team):
    found = team.json("recall-entity", "Priya Sharma")
    assert found["most_recent_location"]["entity"]["name"] == "Leeds"
    assert {each["relation"]["type"] for each in found["triplets"]} >= {"lives_in", "reports_to"}
    shown = team.run("recall-entity", "Priya Sharma", "--limit", 2).stdout
    assert "entity    Priya Sharma" in shown
    assert "location" in shown
    related = team.json("recall-related", "Leeds", "--max-hops", 2)["related"]
    assert (related[0]["entity"]["name"], related[0]["hops"]) == ("Priya Sharma", 1)
    assert "Dana Levy" in team.run("recall-related", "Leeds").stdout


def test_memories_are_linked_once(team):
    assert team.json("link-memories", "team:2", "team:0", "--type", "follows") == {"new": True}
    assert "new: no" in team.run("link-memories", "team:2", "team:0", "--type", "follows").stdout
    assert "team:2" in [each["memory"]["id"] for each in team.json("backlinks", "--memory", "team:0")["backlinks"]]


def test_types_are_listed_registered_and_changed(team):
    before = {each["name"]: each for each in team.json("relation-types")["relation_types"]}
    assert before["works_at"]["functional"]
    options = ("--causal", "--prior", 0.9, "--half-life-days", 30, "--hop-scores", 1, "--hop-scores", 0.5)
    found = team.json("register-type", "triggers", *options)
    assert (found["causal"], found["half_life_days"], found["hop_scores"]) == (True, 30.0, [1.0, 0.5])
    assert team.json("register-type", "triggers", "--half-life-days", 0)["half_life_days"] is None
    assert "triggers" in team.run("relation-types").stdout
    assert "prior" in team.run("register-type", "works_at", "--prior", 3, code=2).stderr
    assert "must be a number" in team.run("register-type", "x", "--half-life-days", "long", code=2).stderr


def test_contradictions_are_listed(team):
    assert team.json("contradictions")["contradictions"] == []
    options = ("--speaker", "Sarah Chen", "--at", "2025-09-01T09:00:00")
    team.run("remember", "--id", "n1", "--text", "Eva Finn reports to Dana Levy as of 2025-09-01.", *options)
    team.run("remember", "--id", "n2", "--text", "Eva Finn reports to Bob Miller as of 2025-09-01.", *options)
    (found,) = team.json("contradictions")["contradictions"]
    assert found["one"]["source_id"] == found["other"]["source_id"]
    assert {found["one"]["evidence"][0], found["other"]["evidence"][0]} == {"n1", "n2"}
    shown = team.run("contradictions").stdout
    assert "Eva Finn" in shown
    assert "2025-09-01" in shown


def judging(entities_by_word):
    """An answer of a served model: how many entities there are, by a word in the names."""

    def answer(handler, body):
        asked = questions(body["messages"][0]["content"])
        counts = [next(number for word, number in entities_by_word.items() if word in each["one"]) for each in asked]
        answers = [{"question": at, "entities": number} for at, number in enumerate(counts, 1)]
        reply(data={"answers": answers})(handler, body)

    return answer


def test_duplicates_are_judged_by_a_model_and_the_next_time_from_where_it_stopped(line, tmp_path):
    names = ("Kestrel Payment Ledger", "Kestrel Payment Ledgers", "Osprey Invoice Archive", "Osprey Invoice Archives")
    lines = tmp_path / "projects.jsonl"
    lines.write_text("".join(json.dumps({"entity": {"type": "project", "name": name}}) + "\n" for name in names))
    line.run("add", lines)
    command = ("judge-duplicates", "--threshold", "0.7", "--llm", "openai:model-1")
    with serving() as server:
        at = ("--llm-url", server.openai_url)
        for limit in ("--llm-calls", "--llm-tokens"):
            stopped = line.json(*command, *at, limit, 0)
            assert (stopped["judged"], stopped["left"]) == (0, 2)
            assert stopped["why"][0].startswith("BudgetExhaustedError: ")
        assert server.requests == []
        server.answers.append(judging({"Kestrel": 1, "Osprey": 2}))
        found = line.json(*command, *at)
        assert [found[name] for name in ("judged", "merged", "distinct", "left")] == [2, 1, 1, 0]
        assert line.json(*command, *at)["pairs"] == []
        assert len(server.requests) == 1
        (merge,) = [each["merge"] for each in found["pairs"] if each["finding"] == "merged"]
        line.run("undo-merge", merge)
        server.answers.append(judging({"Kestrel": 0}))
        assert "unsure" in line.run(*command, *at).stdout


def test_communities_are_summarised_by_a_model_and_the_next_time_from_where_it_stopped(team):
    assert len(team.json("detect-communities")["communities"]) > 0
    command = ("summarise-communities", "--min-size", 2, "--llm", "openai:model-1")
    with serving() as server:
        at = ("--llm-url", server.openai_url)
        stopped = team.json(*command, *at, "--llm-calls", 0)
        assert (stopped["written"], stopped["left"] > 0, stopped["usage"]["answers"]) == ([], True, 0)
        assert stopped["why"].startswith("BudgetExhaustedError: ")
        summary = {"sentences": [{"text": "People who work together.", "cites": [1]}]}
        server.answers += [reply(data=summary)] * stopped["left"]
        assert "People who work together." in team.run(*command, *at, "--limit", 1).stdout
        done = team.json(*command, *at)
        assert (done["unchanged"], done["left"], len(server.requests)) == (1, 0, stopped["left"])
        assert done["usage"]["input_tokens"] == 100 * done["usage"]["answers"]
    (first, *_) = team.json("communities")["communities"]
    assert (first["summary"]["text"], first["summary"]["model"]) == ("People who work together.", "model-1")
    assert first["summary"]["sentences"][0]["cites"][0]["kind"] == "relation"
    assert "People who work together." in team.run("communities").stdout
    recalled = team.json("recall-entity", first["top"][0])
    assert recalled["community"]["summary"]["text"] == "People who work together."
    assert "People who work together." in team.run("recall-entity", first["top"][0]).stdout
    assert "summarise-communities needs --llm" in team.run("summarise-communities", code=2).stderr


def test_a_judge_of_duplicates_has_to_be_named(line):
    assert "judge-duplicates needs --llm" in line.run("judge-duplicates", code=2).stderr


def test_a_receipt_of_forgetting_is_written_and_checked(line, tmp_path):
    line.json("remember", "--text", "Ada Lovelace works at Acme.", "--id", "m1")
    file = tmp_path / "receipt.json"
    assert line.json("forget", "m1", "--receipt", file)["memories"] == 1
    assert line.json("verify-receipt", file)["holds"] is True
    file.write_text(file.read_text(encoding="utf-8").replace("m1", "m2"), encoding="utf-8")
    found = line.json("verify-receipt", file)
    assert (found["holds"], found["intact"], found["left"]) == (False, False, {})


def test_what_has_a_label_is_forgotten_or_expires(line):
    for number, (label, at) in enumerate((("note", "2025-01-06"), ("note", "2999-01-01"), ("minutes", "2025-01-06"))):
        options = ("--at", f"{at}T09:00:00Z", "--label", label)
        line.run("remember", "--text", f"Ada Lovelace met room {number}.", "--id", f"m{number}", *options)
    assert line.json("expire", 30, "--label", "note")["memories"] == 1
    assert "give a label" in line.run("expire", 30, code=1).stderr
    assert line.json("forget", "--label", "note")["memories"] == 1
    assert line.json("forget", "--owner", "nobody")["memories"] == 0
    assert line.json("stats")["memories"] == 1


def test_a_project_is_removed_after_a_question_with_a_receipt(team, tmp_path):
    file = tmp_path / "receipt.json"
    assert "removed" not in team.run("remove-scope", code=1).stdout  # nobody answered
    assert team.json("stats")["memories"] == 4
    removed = team.json("remove-scope", "--yes", "--receipt", file)
    assert (removed["memories"], json.loads(file.read_text(encoding="utf-8"))["left"]) == (4, {})
    assert "nothing was ever written" in team.json("stats")["reason"]
    assert team.json("remove-scope", "--yes")["removed"] == {}  # there is none


def test_a_dry_run_forgets_nothing_and_has_no_receipt(team, tmp_path):
    assert team.json("forget", "team:1", "--dry-run")["memories"] == 1
    refused = team.run("forget", "team:1", "--dry-run", "--receipt", tmp_path / "receipt", code=2)
    assert "without --dry-run" in refused.stderr
    assert team.json("stats")["memories"] == 4
