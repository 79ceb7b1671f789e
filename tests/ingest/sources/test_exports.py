"""Exports of Slack and ChatGPT, as a file, an archive or a folder; tables and transcripts of a folder."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.sources import memory_files
from graphsearch.ingest.sources.memory_files import memories_in, read_memories
from tests.ingest.folders import Parts
from tests.ingest.sources.made import CHATGPT, SLACK, slack_zip, zipped

SAID = [
    ("slack:general:1714554000.000100", "Ada Lovelace", "bob reports to me & #general.", "general/2024-05-01"),
    ("slack:general:1714554002.000200", "bob", "See the page.", "general/2024-05-01"),
    ("slack:general:1714640400.0", "deploys", "Done.", "general/2024-05-02"),
]


def unpack(folder: Path) -> Path:
    for name, content in SLACK.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    return folder


def test_an_export_of_slack_is_the_same_as_a_folder_and_as_an_archive(tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(slack_zip("acme/"))
    for path in (tmp_path / "export.zip", unpack(tmp_path / "folder")):
        memories = read_memories(path)
        assert [(each.id, each.speaker, each.text, each.session_id) for each in memories] == SAID
    assert memories[0].occurred_at == datetime(2024, 5, 1, 9, 0, 0, 100, tzinfo=UTC)


def test_of_a_conversation_the_last_branch_is_read_without_images_and_tools() -> None:
    memories = memories_in("conversations.json", json.dumps(CHATGPT).encode())
    assert [(each.id, each.speaker, each.text, each.session_id) for each in memories] == [
        ("chatgpt:n2", "user", "Ada Lovelace works at Acme.", "c1"),
        ("chatgpt:n4", "assistant", "Noted.", "c1"),
    ]
    assert memories_in("export.zip", zipped({"conversations.json": json.dumps(CHATGPT)}))[0].id == "chatgpt:n2"


def test_a_tree_that_is_a_loop_ends() -> None:
    nodes = {name: {"parent": other, "message": None} for name, other in (("a", "b"), ("b", "a"))}
    assert memories_in("c.json", json.dumps([{"mapping": nodes, "current_node": "a"}, {"mapping": 3}]).encode()) == ()


async def test_a_folder_with_an_export_a_table_and_a_transcript_is_read(tmp_path: Path) -> None:
    unpack(tmp_path / "slack")
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "chat.json").write_text('[{"role": "user", "content": "Hello."}]')
    (tmp_path / "facts.csv").write_text("subject,relation,object\nAda Lovelace,works at,Acme\n")
    parts = Parts()
    report = await parts.add(tmp_path)
    assert report.faults == ()
    assert [each.path for each in report.skipped] == ["*.json"]  # users and channels, which are part of the export
    memories = {each.id: each for each in await parts.store.list_memories(limit=99)}
    assert {"one/chat:0", "two/chat:0", *(id_ for id_, *_ in SAID)} <= {*memories}
    assert memories[SAID[0][0]].speaker == "Ada Lovelace"
    assert [each.type for each in await parts.store.list_relations(limit=9)].count("works_at") == 1
    (tmp_path / "facts.csv").unlink()
    assert (await parts.add(tmp_path)).forgotten == 2


async def test_an_export_given_twice_is_a_fault(tmp_path: Path) -> None:
    unpack(tmp_path / "slack")
    (tmp_path / "z.zip").write_bytes(slack_zip())
    (fault,) = (await Parts().add(tmp_path)).faults
    assert (fault.path, fault.message) == (
        "z.zip",
        "gives memories that are given already in slack/general/2024-05-01.json",
    )


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.zip", b"PK", "no archive that can be read"),
        ("a.zip", zipped({"readme.txt": "x"}), "neither channels of Slack nor"),
        ("a.zip", zipped({"general/2024-05-01.json": "[" * 10_000}), "nested too deeply"),
        ("a.zip", zipped({"users.json": "[3]", "general/2024-05-01.json": "{}"}), "a transcript is a list of turns"),
        ("a.json", b'[{"ts": "soon", "text": "x"}]', "turn 0: time must be"),
        ("a.json", b'[{"ts": 1, "text": "x", "subtype": []}]', None),
        ("a.json", b'[{"mapping": {"a": {"message": {"author": 3, "content": {"parts": 4}}}}}]', None),
    ],
)
def test_a_broken_export_is_refused(tmp_path: Path, name: str, content: bytes, fault: str | None) -> None:
    (tmp_path / name).write_bytes(content)
    if fault is None:
        assert read_memories(tmp_path / name) == ()
        return
    with pytest.raises(InvalidInputError, match=fault):
        read_memories(tmp_path / name)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_files, "MAX_FILE", 1_000)
    (tmp_path / "bomb.zip").write_bytes(zipped({"conversations.json": " " * 1_001}))
    with pytest.raises(InvalidInputError, match="unpacks to more than 1,000 bytes"):
        read_memories(tmp_path / "bomb.zip")


async def test_a_file_of_more_than_is_read_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_files, "MAX_FILE", 10)
    (tmp_path / "huge.md").write_text("x" * 11)
    (fault,) = (await Parts().add(tmp_path)).faults
    assert fault.message == "larger than 10 bytes; split it, or keep it out of the folder"
    with pytest.raises(InvalidInputError, match="larger than 10 bytes"):
        read_memories(tmp_path / "huge.md")
