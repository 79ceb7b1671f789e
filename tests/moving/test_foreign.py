"""Exports of other memory layers become JSON lines; what cannot be converted is reported by line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor
from graphsearch.modes.result import SearchMode
from graphsearch.moving import ExportFormat, convert_export, detect_format, import_export
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
    report = convert_export(GRAPHITI, out, ExportFormat.GRAPHITI)
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
    convert_export(GRAPHITI, out, ExportFormat.GRAPHITI)
    engine = await engine_with(out)
    (best, *_) = (await engine.recall("who starts on Atlas?")).memories
    assert best.memory.id == "e-1"
    assert best.memory.occurred_at == datetime(2025, 1, 6, 9, tzinfo=UTC)
    assert (best.memory.subject, best.memory.source) == ("Monday meeting", "chat")


async def test_entities_of_graphiti_keep_their_summary_attributes_and_id(out):
    convert_export(GRAPHITI, out, ExportFormat.GRAPHITI)
    engine = await engine_with(out)
    found = await engine.search("Priya Sharma", mode=SearchMode.NEIGHBORHOOD)
    (priya,) = {each.source.id: each.source for each in found.triplets if each.source.name == "Priya Sharma"}.values()
    assert (priya.type, priya.description) == ("person", "Engineer on the Search Team.")
    assert (priya.attributes["city"], priya.attributes["graphiti_uuid"]) == ("Leeds", "n-priya")


def test_what_of_graphiti_cannot_be_carried_is_reported_by_line(out):
    report = convert_export(GRAPHITI, out, ExportFormat.GRAPHITI)
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
        convert_export(files, out, ExportFormat.GRAPHITI)
    assert not out.exists()
    assert convert_export(files, out, ExportFormat.GRAPHITI, group="a").entities == 2


# -- cognee -------------------------------------------------------------------------------------------------------


async def test_a_graph_of_cognee_is_found_with_its_types_and_chunks(out):
    report = convert_export(COGNEE, out, ExportFormat.COGNEE)
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
    report = convert_export(COGNEE, out, ExportFormat.COGNEE)
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
    report = convert_export(export(tmp_path, {"id": "a", "name": "A"}, *edges), out, ExportFormat.COGNEE)
    assert by_line(report.faults) == {
        2: "what it joins was not carried: z",
        3: "what it joins was not carried: an end without an id",
    }


def test_a_chunk_of_cognee_whose_id_was_given_before_is_left_out(tmp_path, out):
    chunk = {"id": "c", "type": "DocumentChunk", "text": "Once."}
    report = convert_export(export(tmp_path, chunk, {**chunk, "lost": "too"}), out, ExportFormat.COGNEE)
    assert by_line(report.faults) == {2: "the id c was given before"}
    assert report.losses == ()


# -- both ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", [ExportFormat.GRAPHITI, ExportFormat.COGNEE])
def test_lines_that_are_not_what_they_should_be_are_left_out(tmp_path, out, format):
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
    report = convert_export(export(tmp_path, good, *bad, "", surrogate, {"name": "no id"}), out, format)
    assert report.entities == 1
    assert sorted(by_line(report.faults)) == [2, 3, 4, 5, 6, 7, 8, 10, 11]
    assert by_line(report.faults)[8] == "the id 1 was given before"
    assert by_line(report.faults)[11] == "has no id"
    assert len(out.read_text().splitlines()) == 1


@pytest.mark.parametrize("format", [ExportFormat.GRAPHITI, ExportFormat.COGNEE])
def test_nothing_is_half_written(tmp_path, out, format):
    out.write_text("what was there")
    for files, why in (
        (export(tmp_path, "{"), "export.jsonl:1: not valid JSON"),
        (export(tmp_path, "", name="empty.jsonl"), "has nothing in it"),
        ([tmp_path / "nowhere.jsonl"], "cannot read"),
    ):
        with pytest.raises(InvalidInputError, match=why):
            convert_export(files, out, format)
    assert out.read_text() == "what was there"
    good = export(tmp_path, {"uuid": "1", "id": "1", "name": "Ada"})
    with pytest.raises(InvalidInputError, match="cannot write"):
        convert_export(good, tmp_path, format)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.jsonl", "export.jsonl", "team.jsonl"]


# -- mem0 -----------------------------------------------------------------------------------------------------------

MEMORIES: list[dict[str, Any]] = [
    {
        "id": "892db2ae",
        "memory": "Priya Sharma works at Globex.",
        "hash": "bae2",
        "user_id": "priya",
        "run_id": "s1",
        "metadata": {"team": "search"},
        "categories": ["work"],
        "created_at": "2024-07-26T10:29:36.630547-07:00",
        "updated_at": None,
        "score": 0.4,
    },
    {"id": "2", "memory": "Likes tea.", "agent_id": "bot", "expiration_date": "2030-01-01"},
]
RELATIONS = [
    {"source": "priya_sharma", "relationship": "works_on", "target": "atlas", "user_id": "priya"},
    {"source": "priya_sharma", "relationship": "knows", "target": ""},
]


def documents(tmp_path) -> list[list[Path]]:
    """What ``get_all`` returns, as a document and as lines."""
    whole = tmp_path / "all.json"
    whole.write_text(json.dumps({"results": MEMORIES, "relations": RELATIONS}, indent=2))
    return [[whole], export(tmp_path, *MEMORIES, *RELATIONS)]


async def test_memories_of_mem0_are_read_and_its_relations_hold(tmp_path, out):
    for files in documents(tmp_path):
        report = convert_export(files, out, ExportFormat.MEM0)
        assert (report.memories, report.claims, report.relations) == (2, 0, 1)
        assert list(by_line(report.faults)) == [4]
        assert "name must not be empty" in by_line(report.faults)[4]
        assert by_line(report.losses) == {2: "not carried: expiration_date"}
        engine = await engine_with(out)
        (first, second) = await engine.store.get_memories(["892db2ae", "2"])
        assert (first.session_id, first.labels) == ("s1", ("work",))
        assert (first.attributes["team"], first.attributes["user_id"]) == ("search", "priya")
        assert first.occurred_at == datetime(2024, 7, 26, 17, 29, 36, 630547, tzinfo=UTC)
        assert second.attributes["agent_id"] == "bot"
        assert "Priya Sharma works_at Globex" in await around(engine, "Globex")
        assert "priya sharma works_on atlas" in {each.casefold() for each in await around(engine, "atlas")}


# -- Zep ------------------------------------------------------------------------------------------------------------

SESSION = {
    "session_id": "s1",
    "metadata": {},
    "messages": [
        {
            "uuid": "m1",
            "role": "user",
            "name": "Priya",
            "content": "I report to Sarah Chen.",
            "created_at": "2025-01-06T09:00:00Z",
            "metadata": {"channel": "web"},
            "token_count": 7,
        },
        {"role": "assistant", "content": "Noted.", "created_at": "2025-01-06T09:00:05Z"},
        {"role": 5, "content": "?"},
    ],
}
GRAPH = {
    "nodes": [
        {"uuid": "n1", "name": "Priya Sharma", "labels": ["Entity", "Person"], "summary": "Works on search."},
        {"uuid": "n2", "name": "Sarah Chen", "labels": ["Person"], "attributes": {"city": "Leeds"}},
    ],
    "episodes": [
        {"uuid": "e1", "content": "Priya reports to Sarah.", "source": "text", "created_at": "2025-01-06T09:00:00Z"}
    ],
    "edges": [
        {
            "uuid": "f1",
            "name": "REPORTS_TO",
            "fact": "Priya Sharma reports to Sarah Chen.",
            "source_node_uuid": "n1",
            "target_node_uuid": "n2",
            "episode_uuids": ["e1"],
            "valid_at": "2025-01-06T00:00:00Z",
            "invalid_at": "2025-07-01T00:00:00Z",
            "rating": 3,
        },
        {"uuid": "f2", "name": "X", "fact": "Gone.", "source_node_uuid": "n1", "target_node_uuid": "n9"},
    ],
}


async def test_sessions_of_zep_become_memories_in_order(tmp_path, out):
    report = convert_export(export(tmp_path, SESSION), out, ExportFormat.ZEP)
    assert (report.memories, report.entities) == (2, 0)
    assert by_line(report.faults) == {3: "role: must be text, not 5"}
    several = convert_export(
        export(tmp_path, SESSION, {"session_id": "s2", "ended_at": "x"}, {"thread_id": "t", "messages": []}),
        out,
        ExportFormat.ZEP,
    )
    assert by_line(several.faults) == {
        1: "a message of session 's1': role: must be text, not 5",
        2: "a session without messages",
    }
    assert several.memories == 2
    engine = await engine_with(out)
    first, second = await engine.store.list_memories(session_id="s1")
    assert (first.id, first.speaker, first.position, first.attributes["channel"]) == ("m1", "Priya", 0, "web")
    assert (second.id, second.speaker, second.position) == ("s1:1", "assistant", 1)
    assert "Priya reports_to Sarah Chen" in await around(engine, "Sarah Chen")


async def test_a_graph_of_zep_holds_as_it_did(tmp_path, out):
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(GRAPH))
    report = convert_export([file], out, ExportFormat.ZEP)
    assert (report.entities, report.memories, report.claims) == (2, 1, 1)
    assert list(by_line(report.losses).values()) == ["not carried: rating"]
    assert list(by_line(report.faults).values()) == ["what it joins was not carried: n9"]
    engine = await engine_with(out)
    spring, autumn = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 10, 1, tzinfo=UTC)
    assert await around(engine, "Priya Sharma", as_of=spring) == {"Priya Sharma reports_to Sarah Chen"}
    assert await around(engine, "Priya Sharma", as_of=autumn) == set()


# -- importing ------------------------------------------------------------------------------------------------------


def test_formats_are_recognised_where_they_are_certain(tmp_path):
    mem0_document, mem0_lines = documents(tmp_path)
    zep_graph = tmp_path / "zep.json"
    zep_graph.write_text(json.dumps(GRAPH))
    unknown = export(tmp_path, {"uuid": "1", "name": "Ada"}, name="unknown.jsonl")
    known: tuple[tuple[Path, ExportFormat], ...] = (
        (mem0_document[0], ExportFormat.MEM0),
        (mem0_lines[0], ExportFormat.MEM0),
        (zep_graph, ExportFormat.ZEP),
        (export(tmp_path, SESSION, name="session.jsonl")[0], ExportFormat.ZEP),
        (GRAPHITI[0], ExportFormat.GRAPHITI),
        (COGNEE[1], ExportFormat.COGNEE),
        (export(tmp_path, {"graphsearch": {}}, name="own.jsonl")[0], ExportFormat.GRAPHSEARCH),
    )
    for file, expected in known:
        assert detect_format(file) is expected
    with pytest.raises(InvalidInputError, match="name the format"):
        detect_format(unknown[0])


async def test_an_export_is_imported_and_a_newer_one_of_that_name_replaces_it(tmp_path):
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    ingestor = Ingestor(GraphSearchEngine(store=store, embedder=HashEmbedder()))
    (file,) = export(tmp_path, *MEMORIES)
    report = await import_export(ingestor, [file])
    assert (report.format, report.converted.memories, report.ingested.faults) == (ExportFormat.MEM0, 2, ())
    assert (await import_export(ingestor, [file])).ingested.changed == 0
    export(tmp_path, MEMORIES[0])
    await import_export(ingestor, [file])
    assert [each.id for each in await store.list_memories() if each.text] == ["892db2ae"]
    graph = await import_export(ingestor, COGNEE, format=ExportFormat.COGNEE)
    assert graph.converted.entities == 4
    for files, known, group, why in (
        ([], None, None, "must be a file"),
        (COGNEE, ExportFormat.COGNEE, "a", "cognee has no groups"),
        (GRAPHITI, ExportFormat.GRAPHSEARCH, None, "import_scope reads it"),
    ):
        with pytest.raises(InvalidInputError, match=why):
            await import_export(ingestor, files, format=known, group=group)
