"""Chats as text: which texts are chats, who said what, and when."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.ingest.sources.chats import chat_turns
from graphsearch.ingest.sources.memory_files import memories_in, read_memories

PHONE = """\
[12/10/2026, 09:15:22] \u200eMessages are end-to-end encrypted.
[12/10/2026, 09:15:40] Jo Berg: Morning: who has the key?
[12/10/2026, 09:16:02] Cy: I do.
Until Friday.

[13/10/2026, 18:02:00] Jo Berg: Thanks
[13/10/2026, 18:03:00] \u200eCy: \u200eimage omitted
"""


def times(text: str) -> list[str]:
    return [f"{turn['time']:%m-%d %H:%M}" if turn["time"] else "" for turn in chat_turns(text)]


def test_an_export_of_a_phone_is_read_as_turns() -> None:
    found = memories_in("close.txt", PHONE.encode())
    assert [(each.speaker, each.text) for each in found] == [
        ("Jo Berg", "Morning: who has the key?"),
        ("Cy", "I do.\nUntil Friday."),
        ("Jo Berg", "Thanks"),
        ("Cy", "\u200eimage omitted"),
    ]
    assert found[1].occurred_at == datetime(2026, 10, 12, 9, 16, 2, tzinfo=UTC)
    assert [(each.id, each.session_id, each.position) for each in found[:2]] == [
        ("close:0", "close", 0),
        ("close:1", "close", 1),
    ]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("2026-10-12 09:15 Jo: a|2026-10-12 09:16 Jo: b|2026-10-13T07:00 Jo: c", "10-12 09:15|10-12 09:16|10-13 07:00"),
        ("10/12/26, 9:15\u202fPM - Jo: a|10/12/26, 12:16 am - Jo: b|10/13/26, 9:00 a.m. - Jo: c", ""),
        (
            "10/12/26, 9:15\u202fAM - Jo: a|10/12/26, 12:16 pm - Jo: b|10/13/26, 9:00 a.m. - Jo: c",
            "10-12 09:15|10-12 12:16|10-13 09:00",
        ),
        ("4/5/2026, 10:00 - Jo: a|4/5/2026, 11:00 - Jo: b|5/5/2026, 9:00 - Jo: c", "||"),
        (
            "4/5/2026, 10:00 - Jo: a|6/5/2026, 11:00 - Jo: b|1/6/2026, 9:00 - Jo: c",
            "05-04 10:00|05-06 11:00|06-01 09:00",
        ),
        (
            "5/5/2026, 10:00 - Jo: a|5/5/2026, 11:00 - Jo: b|6/6/2026, 9:00 - Jo: c",
            "05-05 10:00|05-05 11:00|06-06 09:00",
        ),
        ("31/2/2026, 10:00 - Jo: a|31/2/2026, 11:00 - Jo: b|31/2/2026, 9:00 - Jo: c", "||"),
        ("Jo: a|Cy: b|Jo: c|Cy: d", "|||"),
    ],
)
def test_times_are_read_where_one_order_of_day_and_month_fits(lines: str, expected: str) -> None:
    assert times(lines.replace("|", "\n")) == (expected.split("|") if expected else ["", "", ""])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Jo: a\nCy: b",
        "Owner: Jo\nStatus: on track\nBudget: 4k\nDue: May",
        "# Talk\n\nJo: a\nCy: b\nJo: c\nCy: d",
        "Jo: a\nand\nso\non\nJo: b\nfor\na\nwhile\nJo: c",
        "2026-10-12 09:15 started\n2026-10-12 09:16 stopped\n2026-10-12 09:17 started",
        "Jo said: no.\nhttps://a.b/c\nhttps://a.b/d",
    ],
)
def test_other_texts_are_documents(text: str) -> None:
    assert chat_turns(text) == []


def test_a_chat_without_times_is_of_the_time_given(tmp_path: Path) -> None:
    (tmp_path / "talk.md").write_text("Jo: a\nCy: b\nJo: c\nCy: d\n")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    found = read_memories(tmp_path / "talk.md", session_id="s", occurred_at=at)
    assert [(each.id, each.speaker, each.occurred_at) for each in found[:2]] == [("s:0", "Jo", at), ("s:1", "Cy", at)]


@given(st.text(alphabet="Jo: a\n[]0123456789/-,\u200e\u202fPM.", max_size=200))
def test_any_text_can_be_asked(text: str) -> None:
    for turn in chat_turns(text):
        assert turn["speaker"].strip()
        assert turn["content"].strip()
