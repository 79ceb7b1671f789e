"""Plain BM25 and its blocks, by hand, and answers in blocks."""

from __future__ import annotations

from datetime import UTC, datetime
from math import log

import pytest

from graphsearch.evaluation.ranks import Block, PlainBM25, holds_answer, plain
from graphsearch.model import Memory
from graphsearch.text.analyser import VERBATIM

TEXTS = ["kestrel kafka", "kafka", "leeds leeds leeds"]


def test_rows_are_ranked_by_hand_computed_scores() -> None:
    plain = PlainBM25(TEXTS, analyser=VERBATIM)
    # N = 3, "kafka" in 2: idf = ln(1 + 1.5 / 2.5). The average length is 2: a shorter text is worth more.
    rarity = log(1 + 1.5 / 2.5)
    longer, shorter = (rarity / (1 + 1.2 * (0.25 + 0.75 * length / 2)) for length in (2, 1))
    assert shorter > longer
    assert plain.rank("Kafka?", limit=5) == [1, 0]
    # "kestrel" is in 1 of 3: ln(1 + 2.5 / 1.5) is more than the two differ by.
    assert log(1 + 2.5 / 1.5) / (1 + 1.2) + longer > shorter
    assert plain.rank("kestrel kafka kafka", limit=5) == [0, 1]
    assert plain.rank("kestrel kafka", limit=1) == [0]


def test_only_what_shares_a_term_and_may_be_ranked_is() -> None:
    plain = PlainBM25(TEXTS)
    assert plain.rank("tulips", limit=5) == []
    assert plain.rank("kafka", limit=5, among=[True, False, True]) == [0]
    assert PlainBM25([]).rank("kafka", limit=5) == []


def test_equal_scores_are_in_the_order_of_the_texts() -> None:
    assert PlainBM25(["leeds", "leeds", "oslo"]).rank("leeds", limit=2) == [0, 1]


@pytest.mark.parametrize("texts", [["", ""], ["the of"]])
def test_texts_without_terms_are_never_found(texts: list[str]) -> None:
    assert PlainBM25(texts).rank("the leeds", limit=5) == []


MEMORIES = [
    Memory(id="m1", speaker="Ada", text="Kestrel streams to Kafka.", occurred_at=datetime(2024, 5, 1, tzinfo=UTC)),
    Memory(id="m2", text="Kafka " + "runs in Leeds and " * 20),
    Memory(id="m3", subject="Kafka"),
]


async def test_what_ranks_first_and_fits_is_shown() -> None:
    method = plain(MEMORIES, 5, 60)
    assert method.show is not None
    assert {*await method.find("Kafka")} == {"m1", "m2", "m3"}
    found = await method.show("Kafka")
    assert found.ids == {"m1"}, "m2 is too long, and m3 has no text to show"
    assert found.text == "## Relevant Past Observations\n- 2024-05-01 Ada: Kestrel streams to Kafka."
    assert await method.show("tulips") == Block()


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
