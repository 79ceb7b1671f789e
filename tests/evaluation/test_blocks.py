"""Blocks of plain BM25, and answers in them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphsearch.evaluation.blocks import PlainBlocks, holds_answer
from graphsearch.model import Memory

MEMORIES = [
    Memory(id="m1", speaker="Ada", text="Kestrel streams to Kafka.", occurred_at=datetime(2024, 5, 1, tzinfo=UTC)),
    Memory(id="m2", text="Kafka " + "runs in Leeds and " * 20),
    Memory(id="m3", subject="Kafka"),
]


async def test_what_ranks_first_and_fits_is_shown() -> None:
    blocks = PlainBlocks(MEMORIES, 60)
    assert set(blocks.rank("Kafka", 5)) == {"m1", "m2", "m3"}
    found = await blocks.build("Kafka")
    assert found.ids == ("m1",), "m2 is too long, and m3 has no text to show"
    assert found.text == "## Relevant Past Observations\n- 2024-05-01 Ada: Kestrel streams to Kafka."
    nothing = await blocks.build("tulips")
    assert (nothing.ids, nothing.text) == ((), "")


@pytest.mark.parametrize(
    ("answer", "stands"),
    [
        ("the engines", True),
        ("Ada Quist", True),
        ("Quist, Ada", True),
        ("Ada Lorne", False),
        ("who", True),
        ("where", False),
        ("yes", None),
        ("No.", None),
        ("", None),
        ("…", None),
    ],
)
def test_an_answer_stands_where_all_of_its_words_do(answer: str, stands: bool | None) -> None:
    assert holds_answer("- 2024-05-01: who built an engine? Ada Quist did.", answer) is stands
