"""Causes before effects, with and without cycles."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.modes.hydration import prompt_order, topological_ranks


def ranks(entities, *links):
    causes, effects, confidence = (np.array(column) for column in zip(*links, strict=True)) if links else [[]] * 3
    return topological_ranks(
        entities, np.array(causes, np.intp), np.array(effects, np.intp), np.array(confidence, float)
    )


def test_an_effect_comes_after_its_longest_chain_of_causes():
    assert ranks(4, (2, 0, 0.9), (0, 1, 0.9), (2, 1, 0.9)) == [1, 2, 0, 0]
    assert ranks(2) == [0, 0]


def test_a_cycle_is_broken_at_its_least_sure_relation():
    cycle = [(0, 1, 0.9), (1, 2, 0.6), (2, 0, 0.8)]
    assert ranks(3, *cycle) == [1, 2, 0]  # 2 → 0 → 1, without 1 → 2
    assert ranks(3, *cycle[::-1]) == [1, 2, 0]
    assert ranks(1, (0, 0, 1.0)) == [0]


def test_two_cycles_that_share_a_relation_lose_what_each_is_least_sure_of():
    # 0 → 1 is in both; 1 → 0 and 2 → 0 are the least sure of theirs
    assert ranks(3, (0, 1, 0.9), (1, 0, 0.5), (1, 2, 0.8), (2, 0, 0.7)) == [0, 1, 2]


def test_of_equally_sure_relations_the_one_from_a_later_row_goes():
    assert ranks(2, (1, 0, 0.9), (0, 1, 0.9)) == [0, 1]


def test_a_relation_told_twice_counts_once():
    assert ranks(2, (0, 1, 0.9), (0, 1, 0.6), (1, 0, 0.7)) == [0, 1]


def test_a_long_chain_is_no_deep_recursion():
    size = 1500
    assert ranks(size, *[(row + 1, row, 0.9) for row in range(size - 1)])[0] == size - 1


def test_links_are_printed_causes_first_then_by_pagerank():
    # rows are by descending PageRank; 2 causes 0, which causes 1; 3 causes nothing
    order = prompt_order([(0, 1), (3, 1), (2, 0), (3, 2), (3, 2)], ranks(4, (2, 0, 0.9), (0, 1, 0.9)))
    assert order == (2, 3, 4, 1, 0)
    assert prompt_order([], []) == ()


rows = st.integers(0, 5)
relations = st.lists(st.tuples(rows, rows, st.sampled_from([0.5, 0.7, 0.9])), max_size=15)


@given(relations, st.randoms(use_true_random=False))
def test_every_cycle_is_broken_and_what_breaks_none_is_kept(links, random):
    found = ranks(6, *links)
    assert all(0 <= rank < 6 for rank in found)
    shuffled = links[:]
    random.shuffle(shuffled)
    assert ranks(6, *shuffled) == found
    best = max((sure for *_, sure in links), default=0)
    for cause, effect, sure in links:  # the surest of all is only lost to its equals, or to itself
        if sure == best and not any(other == best for c, e, other in links if (c, e) != (cause, effect)):
            assert found[cause] < found[effect] or cause == effect
