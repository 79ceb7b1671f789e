"""Scores on one scale, by hand and by property."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.ranking.scores import standard_scores, with_feedback


def test_standard_scores_by_hand():
    # 3, 1, and 1 for the third, so σ = √(8/9): the first is 2/σ = 3/√2 above the least.
    assert standard_scores(np.array([3.0, 1.0]), 3).tolist() == pytest.approx([2.121320344, 0.0])
    # 10, and 0 for both others, so σ = √(200/9): it is 10/σ = 3/√2 above the least.
    assert standard_scores(np.array([10.0]), 3, 0.0).tolist() == pytest.approx([2.121320344])


def test_scores_that_are_all_equal_tell_nothing():
    assert standard_scores(np.array([0.3, 0.3]), 2).tolist() == [0.0, 0.0]
    assert standard_scores(np.empty(0), 2).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(0, 4), st.sampled_from([None, 0.0]))
def test_standard_scores_keep_the_order_and_are_not_negative(scores, more, floor):
    found = standard_scores(np.array(scores), len(scores) + more, floor)
    assert (found >= 0.0).all()
    assert (np.diff(found[np.argsort(scores, kind="stable")]) >= 0.0).all()


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1)), min_size=1), st.floats(0, 1))
def test_feedback_mixes_into_the_unit_interval(pairs, influence):
    relevance, feedback = (np.array(column) for column in zip(*pairs, strict=True))
    first, second = with_feedback(relevance, feedback, influence)
    assert ((first + second >= 0) & (first + second <= 1 + 1e-12)).all()
    if relevance.max() > 0:
        assert first[relevance.argmax()] == pytest.approx(1 - influence)
