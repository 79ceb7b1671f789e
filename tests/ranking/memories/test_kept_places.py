"""The i-th best by text stands no lower than ⌈i / share⌉, and what is not raised keeps its order."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.ranking.recaller import raised
from graphsearch.ranking.scores import best_first


def order(scores, first, share):
    scores, keys = np.array(scores, np.float64), np.arange(len(scores))
    return best_first(scores + raised(scores, keys, np.array(first, np.intp), share), keys, len(scores)).tolist()


def test_two_of_five_are_the_best_by_text():
    scores = [0.9, 0.8, 0.7, 0.6, 0.5, 0.2, 0.1]
    assert order(scores, [6, 5], 0.4) == [0, 1, 6, 2, 5, 3, 4]
    assert order(scores, [0, 1], 0.4) == [0, 1, 2, 3, 4, 5, 6]
    assert order(scores, [], 0.4) == [0, 1, 2, 3, 4, 5, 6]


def test_what_is_raised_stands_between_two_scores():
    scores = np.array([0.9, 0.7, 0.6, 0.1])
    added = raised(scores, np.arange(4), np.array([3]), 0.4)
    assert added.tolist() == [0.0, 0.0, 0.0, (0.7 + 0.6) / 2 - 0.1]


def test_the_whole_of_the_first_place_is_the_best_score():
    assert order([0.9, 0.5], [1], 1.0)[0] in (0, 1)
    assert raised(np.array([0.9, 0.5]), np.arange(2), np.array([1]), 1.0)[1] > 0.3


@given(
    st.lists(st.integers(0, 10_000), min_size=1, max_size=40, unique=True),
    st.integers(1, 20),
    st.sampled_from([0.2, 0.4, 0.5]),
    st.randoms(use_true_random=False),
)
def test_every_one_of_the_best_by_text_has_its_place(scores, count, share, random):
    rows = list(range(len(scores)))
    random.shuffle(rows)
    first = rows[:count]
    places = order(scores, first, share)
    for number, row in enumerate(first, start=1):
        assert places.index(row) < max(math.ceil(number / share), 1) or places.index(row) < len(first)
    others = [row for row in places if row not in first]
    assert others == sorted(others, key=lambda row: -scores[row])
