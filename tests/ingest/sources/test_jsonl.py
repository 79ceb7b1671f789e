"""Lines of JSON to records."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from graphsearch.ingest.extract.extraction import UnreadableError
from graphsearch.ingest.sources.json_lines import Record, read_line
from graphsearch.model import EdgeKind, Span
from graphsearch.model.identity import entity_id

ADA = {"type": "person", "name": "Ada"}
ACME = {"type": "organisation", "name": "Acme"}
WORKS = {"source": ADA, "type": "worksAt", "target": ACME}


def read(content: Any) -> Record:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    record = read_line(raw, path="people.jsonl", line=7, memory_id="file:people.jsonl")
    assert record is not None
    return record


def test_an_entity_line_describes_an_entity() -> None:
    record = read(
        {
            "entity": {
                **ADA,
                "description": "Wrote the first program.",
                "aliases": ["Countess"],
                "labels": ["famous"],
                "attributes": {"born": 1815},
                "importance_weight": 0.9,
                "valid_from": "1815-12-10T00:00:00Z",
                "valid_to": None,
            }
        }
    )
    (ada,) = record.described
    assert ada.id == entity_id("person", "Ada")
    assert dict(ada.attributes) == {"source": "people.jsonl", "born": 1815}
    assert (ada.aliases, ada.labels, ada.importance_weight) == (("Countess",), ("famous",), 0.9)
    assert (ada.valid_from, ada.valid_to) == (datetime(1815, 12, 10, tzinfo=UTC), None)
    assert [(mention.memory_id, mention.surface) for mention in record.mentions] == [("file:people.jsonl", "Ada")]


def test_an_entity_may_bring_its_own_id_and_source() -> None:
    id_ = str(UUID(int=5))
    (ada,) = read({"entity": {**ADA, "id": id_, "attributes": {"source": "wiki"}}}).described
    assert str(ada.id) == id_
    assert ada.attributes["source"] == "wiki"


def test_a_relation_line_is_a_structural_claim_of_the_file() -> None:
    record = read({"relation": {**WORKS, "fact": "Ada works at Acme.", "valid_from": "2024-01-01T00:00:00+01:00"}})
    (claim,) = record.claims
    assert (claim.memory_id, claim.type, claim.kind, claim.confidence) == (
        "file:people.jsonl",
        "works_at",
        EdgeKind.STRUCTURAL,
        0.95,
    )
    assert {entity.name for entity in record.named} == {"Ada", "Acme"}
    assert {mention.entity_id for mention in record.mentions} == {claim.source_id, claim.target_id}


def test_a_relation_line_may_refer_by_id_and_state_its_kind() -> None:
    known = UUID(int=9)
    record = read({"relation": {**WORKS, "source": str(known), "kind": "lifecycle", "confidence": 0.5}})
    assert record.known == {known}
    assert record.claims[0].source_id == known
    assert (record.claims[0].kind, record.claims[0].confidence) == (EdgeKind.LIFECYCLE, 0.5)


def test_a_memory_line_brings_its_mentions_and_claims() -> None:
    record = read(
        {
            "memory": {
                "id": "m1",
                "text": "Ada joined Acme.",
                "speaker": "Bob",
                "occurred_at": "2024-05-01T09:00:00Z",
                "labels": ["personal"],
                "mentions": [{"entity": ADA, "surface": "Ada", "start": 0, "end": 3, "confidence": 0.8}],
                "claims": [{**WORKS, "start": 0, "end": 16, "extractor": "hand"}],
            }
        }
    )
    (memory,) = record.notes
    assert (memory.id, memory.source, memory.labels) == ("m1", "people.jsonl", ("personal",))
    assert memory.occurred_at == datetime(2024, 5, 1, 9, tzinfo=UTC)
    ada, acme = record.mentions
    assert (ada.span, ada.confidence, ada.memory_id) == (Span(start=0, end=3), 0.8, "m1")
    assert acme.surface == "Acme", "what a claim names is mentioned"
    (claim,) = record.claims
    assert (claim.kind, claim.span, claim.extractor) == (EdgeKind.SEMANTIC, Span(start=0, end=16), "hand")


def test_a_blank_line_says_nothing() -> None:
    assert read_line(b"  \n", path="p", line=1, memory_id="file:p") is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not valid JSON"),
        (b"\xff\xfe\xfa", "not valid JSON in UTF-8"),
        (b'{"entity": {"type": "a", "name": "b", "importance_weight": NaN}}', "NaN is not a JSON number"),
        (b"[" * 100_000, "nested too deeply"),
        ([], "an object with one key of entity, relation, memory"),
        ({"entity": ADA, "memory": {}}, "one key"),
        ({"person": ADA}, "one key"),
        ({"entity": []}, "must be an object, not a list"),
        ({"entity": "Ada"}, "must be an object, not text"),
        ({"entity": None}, "must be an object, not null"),
        ({"entity": 1}, "must be an object, not a number"),
        ({"entity": {"type": "person"}}, "needs the field 'name'"),
        ({"entity": {**ADA, "nmae": "x"}}, "has no field 'nmae'; its fields are type, name"),
        ({"entity": {**ADA, "type": 3}}, "type must be text"),
        ({"entity": {**ADA, "name": 3}}, "name must be text"),
        ({"entity": {**ADA, "name": "a\0b"}}, "must not contain NUL"),
        ({"entity": {**ADA, "name": "\ud800"}}, "lone surrogate"),
        ({"entity": {**ADA, "aliases": "Countess"}}, "aliases must be a list of texts"),
        ({"entity": {**ADA, "labels": [1]}}, "labels must be a list of texts"),
        ({"entity": {**ADA, "attributes": [1]}}, "attributes must be an object"),
        ({"entity": {**ADA, "importance_weight": 2}}, r"importance_weight must be in \[0, 1\]"),
        ({"entity": {**ADA, "id": 7}}, "id: must be the id of an entity"),
        ({"entity": {**ADA, "valid_from": "yesterday"}}, "valid_from must be a time such as"),
        ({"entity": {**ADA, "valid_from": "2024-01-01"}}, "timezone-aware"),
        ({"entity": {**ADA, "valid_from": 2024}}, "valid_from must be a time such as"),
        ({"relation": {**WORKS, "source": "nobody"}}, "must be the id of an entity, or {type, name}"),
        ({"relation": {**WORKS, "source": 3, "target": {}}}, "must be an object.*needs the field 'type'"),
        ({"relation": {**WORKS, "target": WORKS["source"]}}, "relates an entity to itself"),
        ({"memory": {"id": "m", "text": "", "claims": [{**WORKS, "target": WORKS["source"]}]}}, "in it.* to itself"),
        ({"relation": {**WORKS, "kind": "guess"}}, "kind must be one of structural, semantic, lifecycle"),
        ({"relation": {**WORKS, "labels": ["x"]}}, "has no field 'labels'"),
        ({"memory": {"text": "x"}}, "needs the field 'id'"),
        ({"memory": {"id": 3}}, "id must be text"),
        ({"memory": {"id": "file:x"}}, "choose another one"),
        ({"memory": {"id": "m", "claims": {}}}, "claims must be a list"),
        ({"memory": {"id": "m", "claims": [{**WORKS, "start": 1}]}}, "start and end must be given together"),
        ({"memory": {"id": "m", "claims": [{**WORKS, "start": 4, "end": 1}]}}, "0 <= start <= end"),
        ({"memory": {"id": "m", "claims": [{**WORKS, "start": "0", "end": True}]}}, "start must be a whole.*end must"),
    ],
)
def test_a_bad_line_is_refused_by_file_and_line(content: Any, message: str) -> None:
    with pytest.raises(UnreadableError, match=message) as caught:
        read(content)
    assert (caught.value.fault.path, caught.value.fault.line) == ("people.jsonl", 7)


def test_all_faults_of_a_line_are_named() -> None:
    bad = {"id": "m", "mentions": [{"entity": ADA}, {"surface": "x"}, {"entity": ADA, "surface": "Ada"}]}
    with pytest.raises(UnreadableError) as caught:
        read({"memory": bad})
    assert "needs the field 'surface'" in str(caught.value)
    assert "needs the field 'entity'" in str(caught.value)
