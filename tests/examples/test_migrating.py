"""Exports of other memory layers become JSON lines; what cannot be converted is reported by line."""

from __future__ import annotations

import json
import runpy
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from examples.migrate import cognee, graphiti
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor
from graphsearch.modes.options import SearchMode
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder

EXPORTS = Path(__file__).parent / "exports"
GRAPHITI = [EXPORTS / "graphiti.jsonl"]
COGNEE = [EXPORTS / "cognee_nodes.jsonl", EXPORTS / "cognee_edges.jsonl"]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "team.jsonl"


async def engine_with(file: Path) -> GraphSearchEngine:
    """An engine that took a file in, without any fault."""
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    engine = GraphSearchEngine(store=store, embedder=HashEmbedder())
    report = await Ingestor(engine).add(file)
    assert report.faults == ()
    return engine


def by_line(faults) -> dict[int, str]:
    return {fault.line: fault.message for fault in faults}


async def around(engine: GraphSearchEngine, name: str, **options) -> set[str]:
    found = await engine.search(name, mode=SearchMode.NEIGHBORHOOD, max_hops=1, limit=50, **options)
    return {f"{each.source.name} {each.relation.type} {each.target.name}" for each in found.triplets}


def export(tmp_path: Path, *lines: object, name: str = "export.jsonl") -> list[Path]:
    file = tmp_path / name
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return [file]


# -- Graphiti -----------------------------------------------------------------------------------------------------


async def test_facts_of_graphiti_hold_when_they_held_and_rest_on_their_episodes(out):
    report = graphiti.convert(GRAPHITI, out)
    assert (report.entities, report.memories, report.claims, report.relations) == (4, 2, 2, 1)
    engine = await engine_with(out)
    spring, autumn = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 10, 1, tzinfo=UTC)
    assert await around(engine, "Priya Sharma", as_of=spring) == {
        "Priya Sharma reports_to Sarah Chen",
        "Priya Sharma works_on Atlas",
    }
    assert await around(engine, "Priya Sharma", as_of=autumn) == {
        "Priya Sharma reports_to Dana Levy",
        "Priya Sharma works_on Atlas",
    }
    found = await engine.search("Dana Levy", mode=SearchMode.NEIGHBORHOOD, as_of=autumn, max_hops=1)
    (triplet,) = found.triplets
    assert triplet.relation.evidence == ("e-2",)
    assert triplet.relation.fact == "Priya Sharma reports to Dana Levy."


async def test_episodes_of_graphiti_are_recalled_with_their_dates(out):
    graphiti.convert(GRAPHITI, out)
    engine = await engine_with(out)
    (best, *_) = (await engine.recall("who starts on Atlas?")).memories
    assert best.memory.id == "e-1"
    assert best.memory.occurred_at == datetime(2025, 1, 6, 9, tzinfo=UTC)
    assert (best.memory.subject, best.memory.source) == ("Monday meeting", "chat")


async def test_entities_of_graphiti_keep_their_summary_attributes_and_id(out):
    graphiti.convert(GRAPHITI, out)
    engine = await engine_with(out)
    found = await engine.search("Priya Sharma", mode=SearchMode.NEIGHBORHOOD)
    (priya,) = {each.source.id: each.source for each in found.triplets if each.source.name == "Priya Sharma"}.values()
    assert (priya.type, priya.description) == ("person", "Engineer on the Search Team.")
    assert (priya.attributes["city"], priya.attributes["graphiti_uuid"]) == ("Leeds", "n-priya")


def test_what_of_graphiti_cannot_be_carried_is_reported_by_line(out):
    report = graphiti.convert(GRAPHITI, out)
    faults, losses = by_line(report.faults), by_line(report.losses)
    assert {fault.path for fault in (*report.faults, *report.losses)} == {str(GRAPHITI[0])}
    assert sorted(faults) == [6, 9, 13, 14, 15, 17]
    assert "graphsearch finds its own" in faults[6]
    assert "timezone-aware" in faults[9]
    assert "taken back at expired_at" in faults[13]
    assert "not carried: n-unknown" in faults[14]
    assert "valid_from must not be after valid_to" in faults[15]
    assert "not carried: e-3" in faults[17]
    assert sorted(losses) == [2, 4, 10, 11]
    assert losses[2] == "not carried: further labels"
    assert f"is one entity with {GRAPHITI[0]}:1" in losses[4]
    assert losses[10] == "not carried: episodes that are not there"
    assert losses[11] == "not carried: attributes"


def test_a_group_of_graphiti_is_a_project_of_its_own(tmp_path, out):
    nodes = [{"uuid": str(number), "name": f"N{number}", "group_id": group} for number, group in enumerate("aab")]
    files = export(tmp_path, *nodes)
    with pytest.raises(InvalidInputError, match="has the groups 'a', 'b': choose one"):
        graphiti.convert(files, out)
    assert not out.exists()
    assert graphiti.convert(files, out, group="a").entities == 2


# -- cognee -------------------------------------------------------------------------------------------------------


async def test_a_graph_of_cognee_is_found_with_its_types_and_chunks(out):
    report = cognee.convert(COGNEE, out)
    assert (report.entities, report.memories, report.claims, report.relations) == (4, 2, 0, 3)
    engine = await engine_with(out)
    assert await around(engine, "lexer") == {"Bob wrote lexer", "parser depends_on lexer"}
    found = await engine.search("Ada", mode=SearchMode.NEIGHBORHOOD, max_hops=1)
    (triplet,) = found.triplets
    assert (triplet.source.type, triplet.target.type) == ("person", "tool")
    assert triplet.target.importance_weight == pytest.approx(0.8)
    assert triplet.relation.fact == "Ada wrote the parser."
    assert triplet.relation.confidence == pytest.approx(0.85)
    recalled = [each.memory for each in (await engine.recall("what did Ada and Bob write?")).memories]
    assert {(each.id, each.source, each.position) for each in recalled if each.text} == {
        ("c-1", "handbook.txt", 0),
        ("c-2", "notes.txt", 1),
    }


def test_what_of_cognee_cannot_be_carried_is_reported_by_line(out):
    report = cognee.convert(COGNEE, out)
    nodes, edges = map(str, COGNEE)
    assert [(fault.path, fault.line) for fault in report.faults] == [(edges, 10), (edges, 11), (nodes, 5), (nodes, 10)]
    assert "not carried: c-1" in report.faults[0].message
    assert "needs the field 'type'" in report.faults[1].message
    assert "a TextSummary" in report.faults[2].message
    assert "name must not be empty" in report.faults[3].message
    assert [(loss.path, loss.line, loss.message) for loss in report.losses] == [
        (edges, 7, "not carried: weight"),
        (nodes, 6, "not carried: belongs_to_set"),
        (nodes, 8, "not carried: feedback_weight"),
    ]


def test_an_edge_of_cognee_needs_both_of_its_ends(tmp_path, out):
    edges = [{"source_node_id": "z", "target_node_id": "a"}, {"source_node_id": "a", "target_node_id": None}]
    report = cognee.convert(export(tmp_path, {"id": "a", "name": "A"}, *edges), out)
    assert by_line(report.faults) == {
        2: "what it joins was not carried: z",
        3: "what it joins was not carried: an end without an id",
    }


def test_a_chunk_of_cognee_whose_id_was_given_before_is_left_out(tmp_path, out):
    chunk = {"id": "c", "type": "DocumentChunk", "text": "Once."}
    report = cognee.convert(export(tmp_path, chunk, {**chunk, "lost": "too"}), out)
    assert by_line(report.faults) == {2: "the id c was given before"}
    assert report.losses == ()


# -- both ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("convert", [graphiti.convert, cognee.convert])
def test_lines_that_are_not_what_they_should_be_are_left_out(tmp_path, out, convert):
    good = {"uuid": "1", "id": "1", "name": "Ada", "labels": ["Person"], "type": "person"}
    deep = '{"name": ' + "[" * 100_000
    bad: tuple[object, ...] = (
        {"name": ["Ada"]},
        {"labels": "Person", "properties": []},
        [good],
        {},
        "{",
        deep,
        {"name": "Ada\0", **good},
    )
    surrogate = {**good, "uuid": "2", "id": "2", "name": "Ada \ud800"}
    report = convert(export(tmp_path, good, *bad, "", surrogate, {"name": "no id"}), out)
    assert report.entities == 1
    assert sorted(by_line(report.faults)) == [2, 3, 4, 5, 6, 7, 8, 10, 11]
    assert by_line(report.faults)[8] == "the id 1 was given before"
    assert by_line(report.faults)[11] == "has no id"
    assert len(out.read_text().splitlines()) == 1


@pytest.mark.parametrize("convert", [graphiti.convert, cognee.convert])
def test_nothing_is_half_written(tmp_path, out, convert):
    out.write_text("what was there")
    for files, why in (
        (export(tmp_path, "{"), "export.jsonl:1: not valid JSON"),
        (export(tmp_path, "", name="empty.jsonl"), "has nothing in it"),
        ([tmp_path / "nowhere.jsonl"], "cannot read"),
    ):
        with pytest.raises(InvalidInputError, match=why):
            convert(files, out)
    assert out.read_text() == "what was there"
    good = export(tmp_path, {"uuid": "1", "id": "1", "name": "Ada"})
    with pytest.raises(InvalidInputError, match="cannot write"):
        convert(good, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.jsonl", "export.jsonl", "team.jsonl"]


def test_the_command_prints_what_became_of_an_export(out, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["graphiti", *map(str, GRAPHITI), "--out", str(out), "--group", "team"])
    runpy.run_path(graphiti.__file__, run_name="__main__")
    printed = capsys.readouterr().out
    assert f"left out     {GRAPHITI[0]}:6: a community" in printed
    assert f"in part      {GRAPHITI[0]}:2: not carried: further labels" in printed
    assert "4 entities, 2 memories with 2 claims, 1 relations of no memory; 6 lines left out, 4 in part" in printed
    monkeypatch.setattr(sys, "argv", ["cognee", "nowhere.jsonl", "--out", str(out)])
    with pytest.raises(SystemExit, match="error: export: cannot read"):
        runpy.run_path(cognee.__file__, run_name="__main__")
