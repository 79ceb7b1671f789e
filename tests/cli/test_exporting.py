"""What search found, and what is around an entity, as pictures and graph files on standard output."""

import xml.etree.ElementTree as ET

import networkx as nx  # type: ignore[import-untyped]
import pytest


@pytest.fixture
def team(line, tmp_path):
    (tmp_path / "team.jsonl").write_text(
        '{"id": "m1", "speaker": "Sarah Chen", "text": "Priya Sharma reports to me. Zoë Müller reports to me."}\n'
    )
    line.run("remember", tmp_path / "team.jsonl")
    return line


def test_an_entity_and_what_is_around_it_is_a_picture(team):
    picture = team.run("entity-graph", "Sarah Chen").stdout
    assert picture.startswith("flowchart LR\n")
    assert picture.count("reports#95;to") + picture.count("reports_to") == 2
    assert all(name in picture for name in ("Sarah Chen", "Priya Sharma", "Zoë Müller"))
    assert team.json("entity-graph", "Sarah Chen", "--format", "mermaid")["text"] + "\n" == picture
    assert len(team.json("entity-graph", "Sarah Chen")["nodes"]) == 3


def test_for_graphviz(team):
    picture = team.run("entity-graph", "Sarah Chen", "--format", "dot").stdout
    assert picture.startswith("digraph graphsearch {")
    assert picture.count(" -> ") == len(team.json("neighbors", "Sarah Chen")["triplets"])


def test_as_a_graph_file_with_nothing_cut_in_characters_that_steer_no_terminal(team):
    printed = team.run("entity-graph", "Sarah Chen", "--format", "graphml").stdout
    assert printed.isascii()
    names = {data.text for data in ET.fromstring(printed).iter() if data.tag.endswith("}data")}  # noqa: S314
    assert {"Sarah Chen", "Zoë Müller"} <= names
    assert len(nx.parse_graphml(printed)) == 3


def test_no_more_entities_than_asked_for_and_none_that_is_not_there(team):
    few = team.run("entity-graph", "Sarah Chen", "--format", "graphml", "--limit", 2).stdout
    assert len(nx.parse_graphml(few)) == 2
    assert "no entity called 'Nobody'" in team.run("entity-graph", "Nobody", code=1).stderr
    assert "png" in team.run("entity-graph", "Sarah Chen", "--format", "png", code=2).stderr


def test_what_search_found_with_its_scores(team):
    found = team.json("search", "Priya Sharma", "--mode", "neighborhood")["triplets"]
    command = ("search", "Priya Sharma", "--mode", "neighborhood", "--format")
    file = nx.parse_graphml(team.run(*command, "graphml").stdout, force_multigraph=True)
    scores = sorted(data["score"] for *_, data in file.edges(data=True))
    assert scores == pytest.approx(sorted(each["score"] for each in found), abs=1e-6)  # a moment later
    for format_, start in (("mermaid", "flowchart LR"), ("dot", "digraph")):
        assert team.run(*command, format_).stdout.startswith(start)
        assert team.json(*command, format_)["format"] == format_
