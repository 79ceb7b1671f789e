"""Every command that reads answers people in words: no traceback, and nothing of how Python writes its objects."""

import re

import attrs
import pytest

from graphsearch.cli.app import NAMES
from graphsearch.operations.operation import Profile
from graphsearch.operations.table import operations

NOTES = """{"id": "n1", "text": "Ada Lovelace leads Atlas.", "occurred_at": "2024-05-01T09:00:00Z"}
{"id": "n2", "text": "Bob Miller leads Atlas since 2024-06-01.", "occurred_at": "2024-06-02T09:00:00Z"}
"""
READING = [
    each.name
    for each in operations().values()
    if each.reads and each.profile < Profile.CONSOLE and each.name not in ("preview_proposal", "verify_receipt")
]
"""Those that need what no project has to begin with are shown by their own tests."""
GIVEN = {"entity": "Atlas", "source": "Atlas", "target": "Bob Miller", "query": "who leads Atlas?", "memory": "n1"}
ARGUMENTS = {
    "explain": ["1"],
    "why": ["1"],
    "evidence": ["relation", "1", "who leads Atlas?"],
    "backlinks": ["Atlas"],
    "changes": ["who leads Atlas?"],
}


@pytest.mark.parametrize("name", READING)
def test_a_command_answers_in_words(name, line, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHSEARCH_PRINCIPAL", "ada")
    notes = tmp_path / "notes.jsonl"
    notes.write_text(NOTES)
    line.run("remember", notes)
    line.run("search", "who leads Atlas?")
    needed = (each.name for each in attrs.fields(operations()[name].request) if each.default is attrs.NOTHING)
    arguments = ARGUMENTS[name] if name in ARGUMENTS else map(GIVEN.get, needed)
    found = line.run(NAMES.get(name, name).replace("_", "-"), *arguments)
    said = found.stdout + found.stderr
    assert not re.search(r"\w+\(\w+=|UUID\(|datetime\.", said), said
