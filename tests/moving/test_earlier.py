"""Exports of earlier versions: what the graphsearch of 27 November 2026 exported is imported, record by record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphsearch.errors import InvalidInputError, ScopeFileError
from graphsearch.moving import export_scope, import_scope
from graphsearch.moving.earlier import record_now
from graphsearch.moving.scope_file import json_of, line_of, record_of
from graphsearch.stores.memory import InMemoryGraphStore

FILE = Path(__file__).parent / "exports" / "scope_of_version_1.jsonl"


async def test_an_export_of_version_1_is_imported_as_a_whole(tmp_path: Path) -> None:
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="moved")
    lines = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    report = await import_scope(store, FILE)
    assert report.counts == lines[-1]["end"]["counts"]
    assert report.vectors == 28
    assert len(await store.merges()) == 1
    assert (await store.statistics()).relations == 11
    await export_scope(store, tmp_path / "now.jsonl")
    now = [json.loads(line) for line in (tmp_path / "now.jsonl").read_text(encoding="utf-8").splitlines()]
    assert now[0]["graphsearch"]["version"] == 3
    assert now[-1]["end"]["counts"] == lines[-1]["end"]["counts"]
    before = [json_of(record_of(record_now(each))) for each in lines[1:-1]]
    assert sorted(map(line_of, now[1:-1])) == sorted(map(line_of, before))


def test_codes_outcomes_and_citations_are_written_otherwise_now() -> None:
    relation: dict[str, Any] = {"source_id": "a", "signature": {"evidence": ["00ff"], "shared": True}}
    assert record_now({"relation": {**relation, "outcomes": [["s", 1.0]], "folded": True}}) == {
        "relation": {
            "relation": {"source_id": "a"},
            "folded": True,
            "attestation": {"evidence": [255], "influences": [], "shared": True},
            "outcomes": [{"session_id": "s", "seq": 1, "outcome": 1.0}],
        }
    }
    cited = {"sentences": [{"text": "x", "cites": [["memory", "m"]]}], "model": ""}
    assert record_now({"community": {"id": "c", "summary": cited}})["community"] == {
        "label": "",
        "id": "c",
        "summary": {"sentences": [{"text": "x", "cites": [{"kind": "memory", "id": "m"}]}], "model": ""},
    }


@pytest.mark.parametrize(
    "fields", [{"signature": {"evidence": ["x"]}}, {"outcomes": [1]}, {"signature": 7}, {"mentions": 7, "id": "m"}, 7]
)
def test_fields_of_the_wrong_kind_are_a_typed_error(fields: Any) -> None:
    with pytest.raises(InvalidInputError, match="wrong kind"):
        record_now({"memory": fields})


async def test_a_header_of_the_wrong_kind_is_a_fault_of_the_file(tmp_path: Path) -> None:
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="moved")
    header = json.loads(FILE.read_text(encoding="utf-8").splitlines()[0])["graphsearch"]
    for changed in ({"settings": 7}, {"counts": 7}, {"vectors": {"entity": "x"}}, {"version": 0}):
        (tmp_path / "wrong.jsonl").write_text(json.dumps({"graphsearch": {**header, **changed}}) + "\n")
        with pytest.raises(ScopeFileError):
            await import_scope(store, tmp_path / "wrong.jsonl")
