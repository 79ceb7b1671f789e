"""A graph from two files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.evaluation.evaluator import write_graph
from graphsearch.evaluation.question_set import GivenGraph, question_of, read_graph
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder
from tests.evaluation.depot import ENTITIES, RELATIONS, depot_graph, written


def test_a_graph_is_read_from_its_files(tmp_path: Path) -> None:
    found = depot_graph(tmp_path)
    assert [(each.name, each.type) for each in found.entities] == [
        *(("billing", "service"), ("Leeds", "region"), ("Oslo", "region"), ("Ada Quist", "person"))
    ]
    assert found.entities[0].description == "sends invoices"
    assert found.entities[3].aliases == ("Addy", "Ada")
    first, second, third = found.relations
    assert (first.valid_from, first.valid_to) == (datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC))
    assert (first.confidence, second.confidence, second.valid_to) == (0.9, 1.0, None)
    assert third.fact == "Billing pages Ada at night."
    assert found.triples == {
        *(("billing", "runs_in", "Oslo"), ("billing", "runs_in", "Leeds"), ("billing", "alerts_to", "Ada Quist"))
    }


def test_entities_of_one_name_are_told_apart_by_their_types(tmp_path: Path) -> None:
    entities = [{"name": "Leeds", "type": "region"}, {"name": "Leeds", "type": "team"}]
    twice = {"source": "Leeds", "type": "works_in", "target": "Leeds"}
    found = _read(tmp_path, entities, [{**twice, "source_type": "team", "target_type": "region"}])
    region, team = found.entities
    assert (found.relations[0].source_id, found.relations[0].target_id) == (team.id, region.id)
    with pytest.raises(InvalidInputError, match="line 1: relation: source_type must state which 'Leeds'"):
        _read(tmp_path, entities, [twice])


def test_types_are_one_however_they_are_spelt(tmp_path: Path) -> None:
    entities = [{"name": "Rowan Park", "type": "open space"}, {"name": "Ada Quist", "type": "person"}]
    kept = {"source": "Rowan Park", "source_type": "Open Space", "type": "looked after by", "target": "Ada Quist"}
    found = _read(tmp_path, entities, [kept])
    assert found.triples == {("Rowan Park", "looked_after_by", "Ada Quist")}
    asked = {"id": "q", "question": "who keeps it?", "gold": [["Rowan Park", "looked after by", "Ada Quist"]]}
    question = question_of(asked, "triplets")
    assert question is not None
    assert question.gold == found.triples


@pytest.mark.parametrize(
    ("entity", "relation", "fault"),
    [
        ({"aliases": "Bill"}, {}, "entities.jsonl: line 1: entity: aliases: must be a list"),
        ({"aliases": [{}]}, {}, "aliases: 0: must be text"),
        ({}, {"target": "Paris"}, "relations.jsonl: line 1: relation: target: there is no entity 'Paris'"),
        ({}, {"target_type": "planet"}, "there is no entity 'Leeds' of type 'planet'"),
        ({}, {"source": None}, "source: must be text"),
        ({}, {"valid_from": "05/06/2023"}, "valid_from must be one such as"),
        ({}, {"confidence": 2}, "confidence must be in"),
    ],
)
def test_lines_at_fault_are_named(tmp_path: Path, entity: Any, relation: Any, fault: str) -> None:
    entities = [{**ENTITIES[0], **entity}, *ENTITIES[1:]]
    with pytest.raises(InvalidInputError, match=fault):
        _read(tmp_path, entities, [{**RELATIONS[1], **relation}])


async def test_what_is_written_is_embedded_where_something_embeds(tmp_path: Path) -> None:
    given = depot_graph(tmp_path)
    for embedder in (None, HashEmbedder()):
        store = InMemoryGraphStore().with_scope(org_id="acme", project_id=str(embedder))
        await write_graph(given, store, embedder)
        assert {each.name for each in await store.list_entities()} == {line["name"] for line in ENTITIES}
        assert {each.fact for each in await store.list_relations()} == {line["fact"] for line in RELATIONS}
        assert bool(await store.unembedded_facts()) == (embedder is None)


def _read(folder: Path, entities: list[dict[str, Any]], relations: list[dict[str, Any]]) -> GivenGraph:
    return read_graph(written(folder / "entities.jsonl", entities), written(folder / "relations.jsonl", relations))
