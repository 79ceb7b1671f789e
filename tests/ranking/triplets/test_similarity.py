"""Cosine similarities, and maximal marginal relevance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.columns.formulas import cosines
from graphsearch.errors import InvalidInputError
from graphsearch.ranking.diversity import cosine, maximal_marginal_relevance


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


# Three about one thing, one about another, one in between.
SIMILARITY = np.array(
    [
        [1.0, 0.9, 0.8, 0.0, 0.5],
        [0.9, 1.0, 0.7, 0.1, 0.4],
        [0.8, 0.7, 1.0, 0.2, 0.6],
        [0.0, 0.1, 0.2, 1.0, 0.3],
        [0.5, 0.4, 0.6, 0.3, 1.0],
    ]
)
RELEVANCE = [0.9, 0.85, 0.8, 0.5, 0.6]


def rows(similarity):
    return lambda row: similarity[row]


def picked(balance, limit=5):
    return maximal_marginal_relevance(RELEVANCE, rows(SIMILARITY), balance=balance, limit=limit)


def test_picks_by_hand():
    # λ = 0.5. First 0: 0.45. Then 1: 0.425 − 0.45, 2: 0.4 − 0.4, 3: 0.25 − 0, 4: 0.3 − 0.25: so 3.
    # Then 1: −0.025, 2: 0.4 − 0.4, 4: 0.3 − 0.25 (its likeness to 0 is greater than that to 3): so 4.
    # Then 1: −0.025, 2: 0: so 2, and 1 last.
    picks = picked(0.5)
    assert picks == [0, 3, 4, 2, 1]


def test_all_relevance_is_the_order_of_relevance_and_none_the_least_alike():
    assert picked(1.0) == [0, 1, 2, 4, 3]
    assert picked(0.0, limit=2) == [0, 3]


def test_of_equal_values_the_first_is_picked():
    same = maximal_marginal_relevance([0.5, 0.5, 0.5], rows(np.eye(3)), balance=0.7, limit=3)
    assert same == [0, 1, 2]


def test_what_is_unlike_a_pick_is_no_worse_for_it():
    opposite = cosine([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    # λ = 0.5. First 0: 0.5. Then 1: 0.25 + 0.5, 2: 0.3 − 0: so 1.
    assert maximal_marginal_relevance([1.0, 0.5, 0.6], opposite, balance=0.5, limit=2) == [0, 1]


def test_nothing_to_pick_from_or_nothing_wanted():
    assert maximal_marginal_relevance([], rows(np.empty((0, 0))), balance=0.5, limit=3) == []
    assert picked(0.5, limit=0) == []


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError) as error:
        maximal_marginal_relevance([float("nan")], rows(np.eye(1)), balance=1.5, limit=-1)
    assert len(error.value.faults) == 3


def test_cosine_of_rows():
    similar = cosine([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]])
    assert similar(0).tolist() == pytest.approx([1.0, 0.0, np.sqrt(0.5), 0.0])
    assert similar(3).tolist() == [0.0, 0.0, 0.0, 0.0]


vectors = st.integers(1, 8).flatmap(
    lambda count: st.tuples(
        st.lists(st.floats(0, 1), min_size=count, max_size=count),
        st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=count, max_size=count),
    )
)


@given(vectors, st.floats(0, 1), st.integers(0, 9))
def test_every_pick_is_the_best_that_was_left(given_, balance, limit):
    relevance, coordinates = given_
    similar = cosine(coordinates)
    picks = maximal_marginal_relevance(relevance, similar, balance=balance, limit=limit)
    assert picks == maximal_marginal_relevance(relevance, similar, balance=balance, limit=limit)
    assert len(picks) == min(limit, len(relevance)) == len(set(picks))
    for at, pick in enumerate(picks):
        before = picks[:at]
        values = {}
        for row in sorted(set(range(len(relevance))) - set(before)):
            likeness = max((float(similar(other)[row]) for other in before), default=0.0)
            values[row] = balance * relevance[row] - (1 - balance) * likeness
        assert pick == max(values, key=values.__getitem__)


@given(st.lists(st.floats(0, 1), max_size=8), st.integers(0, 8))
def test_more_picks_begin_with_the_fewer(relevance, limit):
    similar = cosine(np.vander(np.arange(1, len(relevance) + 1), 3)) if relevance else rows(np.empty((0, 0)))
    every = maximal_marginal_relevance(relevance, similar, balance=0.6, limit=len(relevance))
    assert maximal_marginal_relevance(relevance, similar, balance=0.6, limit=limit) == every[:limit]
