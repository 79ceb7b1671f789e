"""BM25 of a few texts by themselves: by hand, and what no other text may move."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.query.analyser import ENGLISH, VERBATIM
from graphsearch.scoring.among import scores_among

texts = st.lists(st.text(alphabet="abc ", max_size=12), max_size=6)


def test_by_hand():
    """Two texts of two terms each, so that the average is 2 (1.953 on the grid); "ada" is in both, "acme" in one."""
    average = 1.25**3
    saturated = 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / average))
    common, rare = math.log1p(0.5 / 2.5), math.log1p(1.5 / 1.5)
    assert scores_among(["Ada Bob", "Ada Acme"], "Ada at Acme", ENGLISH) == pytest.approx(
        [common * saturated, (common + rare) * saturated]
    )


def test_nothing_in_common_scores_nothing():
    assert scores_among([], "Ada", ENGLISH) == []
    assert scores_among(["Bob", ""], "Ada", ENGLISH) == [0.0, 0.0]
    assert scores_among(["Ada"], "the of", ENGLISH) == [0.0]


def test_the_analyser_decides_what_is_in_common():
    assert scores_among(["walked"], "walks", ENGLISH)[0] > 0.0
    assert scores_among(["walked"], "walks", VERBATIM) == [0.0]


@given(texts, texts)
def test_texts_without_a_term_of_the_question_move_nothing(some, others):
    without = [text for text in others if "a" not in text.split()]
    assert scores_among([*some, *without], "a", VERBATIM)[: len(some)] == scores_among(some, "a", VERBATIM)


@given(texts)
def test_scores_are_positive_where_a_term_is_shared_and_equal_for_equal_texts(some):
    scores = scores_among(some, "a b", VERBATIM)
    assert [score > 0 for score in scores] == [not {"a", "b"}.isdisjoint(text.split()) for text in some]
    by_text = dict(zip(some, scores, strict=True))
    assert [by_text[text] for text in some] == scores
