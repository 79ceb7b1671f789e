"""Plain BM25, by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from graphsearch.evaluation.baseline import PlainBM25
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
    assert plain.rank("kafka", limit=5, among=np.array([True, False, True])) == [0]
    assert PlainBM25([]).rank("kafka", limit=5) == []


def test_equal_scores_are_in_the_order_of_the_texts() -> None:
    assert PlainBM25(["leeds", "leeds", "oslo"]).rank("leeds", limit=2) == [0, 1]


@pytest.mark.parametrize("texts", [["", ""], ["the of"]])
def test_texts_without_terms_are_never_found(texts: list[str]) -> None:
    assert PlainBM25(texts).rank("the leeds", limit=5) == []
