"""Chat transcripts to memories."""

from datetime import UTC, datetime
from typing import Any

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.sources.memory_files import transcript_memories


def test_turns_become_memories():
    found = transcript_memories(
        [
            {"role": "user", "content": "Hello."},
            {"speaker": "Ada", "role": "assistant", "content": "Hi!", "time": "2024-05-01T09:00:00+02:00"},
            {"speaker": "Bob", "content": "Hey", "time": 0, "id": "x"},
            {"speaker": "Bob", "content": "Bye", "time": datetime(2024, 1, 1, tzinfo=UTC)},
        ],
        session_id="s",
        source="chat.json",
    )
    assert [(each.id, each.speaker, each.position, each.text) for each in found] == [
        ("s:0", "user", 0, "Hello."),
        ("s:1", "Ada", 1, "Hi!"),
        ("x", "Bob", 2, "Hey"),
        ("s:3", "Bob", 3, "Bye"),
    ]
    times = [each.occurred_at and each.occurred_at.astimezone(UTC).isoformat()[:13] for each in found]
    assert times == [None, "2024-05-01T07", "1970-01-01T00", "2024-01-01T00"]
    assert {(each.session_id, each.source) for each in found} == {("s", "chat.json")}
    assert [dict(each.attributes) for each in found[:3]] == [{"role": "user"}, {"role": "assistant"}, {}]
    assert transcript_memories([], session_id="s") == ()


def test_a_chat_of_another_program_is_read_and_a_fault_of_all_its_turns_is_said_once():
    said: list[dict[str, Any]] = [
        {"role": "user", "name": "Noor", "text": "Hello.", "timestamp": 0},
        {"author": "Bo", "message": "Hi."},
    ]
    one, other = transcript_memories(said, session_id="s")
    assert (one.speaker, one.text, dict(one.attributes)) == ("Noor", "Hello.", {"role": "user"})
    assert one.occurred_at == datetime.fromtimestamp(0, UTC)
    assert (other.speaker, other.text) == ("Bo", "Hi.")
    with pytest.raises(InvalidInputError) as caught:
        transcript_memories([{**each, "tone": "loud"} for each in said * 3], session_id="s", source="chat.json")
    assert len(caught.value.faults) == 1
    assert str(caught.value).startswith("chat.json: turn 0 and 5 more: has no field 'tone'")


def test_every_fault_of_every_turn_is_named():
    bad = [
        "hello",
        {"content": "who?"},
        {"role": "user"},
        {"role": "user", "content": 3},
        {"role": "user", "content": "x", "time": "yesterday"},
        {"role": "user", "content": "x", "time": "2024-05-01T09:00:00"},
        {"role": "user", "content": "x", "time": 1e300},
        {"role": "user", "content": "x", "time": []},
        {"role": "user", "content": "x", "tone": "loud"},
        {"role": "user", "content": "a\0b"},
        {"role": "user", "content": "fine", "id": "a"},
        {"role": "user", "content": "fine", "id": "a"},
    ]
    with pytest.raises(InvalidInputError) as caught:
        transcript_memories(bad, session_id="")  # type: ignore[arg-type]
    faults = caught.value.faults
    expected = (
        *("session_id must not be empty", "turn 0: must be an object", "turn 1: needs a role or a speaker"),
        *("turn 2: content must not be empty", "turn 3: content must be text", "turn 4: time must be ISO 8601"),
        *("turn 5: time must be timezone-aware", "turn 6: time must be", "turn 7: time must be ISO 8601"),
        *("turn 8: has no field 'tone'", "turn 9: content must not contain NUL", "turn 11: turn 10 has the id 'a'"),
    )
    assert len(faults) == len(expected)
    assert all(fault.startswith(start) for fault, start in zip(faults, expected, strict=True))
