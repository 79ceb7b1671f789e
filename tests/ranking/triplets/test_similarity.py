"""Cosine similarities, and diverse picks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.columns.formulas import cosines
from graphsearch.ranking.scores import alike_in_terms, diverse_rows


def test_the_cosine_of_each_row():
    rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]], np.float32)
    assert cosines(rows, np.array([0.0, 1.0], np.float32)) == pytest.approx([0.0, 0.8, -1.0])
    assert cosines(rows[:0], rows[0]).shape == (0,)


def test_a_row_has_the_same_to_the_last_digit_wherever_it_stands():
    random = np.random.default_rng(7)
    rows = random.standard_normal((97, 50)).astype(np.float32)
    asked = random.standard_normal(50).astype(np.float32)
    every, order = cosines(rows, asked), random.permutation(97)
    assert cosines(rows[order], asked).tolist() == every[order].tolist()
    assert [float(cosines(rows[row : row + 1], asked)[0]) for row in range(97)] == every.tolist()


def picked(diversity, limit=5):
    """Three lines about oil, one of them also about a wick; one about a boat, which is least relevant."""
    return diverse_rows(RELEVANCE, TEXTS, diversity=diversity, limit=limit)


RELEVANCE = [0.9, 0.85, 0.8, 0.5, 0.6]
TEXTS = ["lamp oil", "lamp oil", "lamp oil wick", "boat", "oil boat"]


def test_picks_by_hand():
    # λ = 0.5. First 0: 0.45. Then 1: 0.425 − 0.5, 2: 0.4 − 0.408, 3: 0.25 − 0, 4: 0.3 − 0.25: so 3.
    # Then 1: −0.075, 2: −0.008, 4: 0.3 − 0.354 (it is more like 3 than like 0): so 2, then 4, and 1 last.
    assert picked(0.5) == [0, 3, 2, 4, 1]


def test_without_diversity_the_order_is_that_of_relevance_and_with_nothing_else_the_least_alike_come():
    assert picked(0.0) == [0, 1, 2, 4, 3]
    assert picked(1.0, limit=2) == [0, 3]


def test_of_equal_values_the_first_is_picked():
    assert diverse_rows([0.5, 0.5, 0.5], ["oil", "wick", "boat"], diversity=0.3, limit=3) == [0, 1, 2]


def test_nothing_to_pick_from_or_nothing_wanted():
    assert diverse_rows([], [], diversity=0.5, limit=3) == []
    assert picked(0.5, limit=0) == []


def test_texts_are_alike_by_their_terms():
    alike = alike_in_terms(["oil oil oil", "wick", "oil wick", "..."])
    assert alike[0].tolist() == pytest.approx([1.0, 0.0, np.sqrt(0.5), 0.0])
    assert alike[3].tolist() == [0.0, 0.0, 0.0, 0.0]


words = st.lists(st.sampled_from(["oil", "wick", "boat", "lamp"]), max_size=4).map(" ".join)
given_lines = st.lists(st.tuples(st.floats(0, 1), words), max_size=8)


@given(given_lines, st.floats(0, 1), st.integers(0, 9))
def test_every_pick_is_the_best_that_was_left(lines, diversity, limit):
    relevance, texts = [each for each, _ in lines], [text for _, text in lines]
    similar = alike_in_terms(texts)
    picks = diverse_rows(relevance, texts, diversity=diversity, limit=limit)
    assert len(picks) == min(limit, len(relevance)) == len(set(picks))
    for at, pick in enumerate(picks):
        before = picks[:at]
        values = {}
        for row in sorted(set(range(len(relevance))) - set(before)):
            likeness = max((float(similar[other][row]) for other in before), default=0.0)
            values[row] = (1 - diversity) * relevance[row] - diversity * likeness
        assert pick == max(values, key=values.__getitem__)
    assert diverse_rows(relevance, texts, diversity=diversity, limit=9)[:limit] == picks
