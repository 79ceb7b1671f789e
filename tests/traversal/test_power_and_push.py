"""Both solvers against what can be worked out by hand, and against each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.traversal.pagerank import LIGHTEST, Links, Mass, power_iteration

EPSILON = 1e-7


def by_power(size, links, seeds, **options):
    near, far, weight = (np.array(column) for column in zip(*links, strict=True)) if links else [np.empty(0)] * 3
    given_ = {"restart": 0.15, "tolerance": 1e-13, "max_iterations": 1000, **options}
    start = np.concatenate((np.array(seeds, float), np.zeros(size - len(seeds))))
    return power_iteration(near.astype(np.intp), far.astype(np.intp), weight.astype(float), start, **given_)


def by_push(size, links, seeds, *, restart=0.15, epsilon=EPSILON):
    """Rounds of push over links that are all at hand."""
    near = np.array([link[0] for link in links], np.intp)
    far = np.array([link[1] for link in links], np.intp)
    weight = np.array([link[2] for link in links], float)
    total, start = np.bincount(near, weight, size).astype(float), np.array(seeds, float)
    mass = Mass.at(start).among(size)
    while len(rows := np.flatnonzero(mass.excessive(total, epsilon))):
        owner = np.full(size, -1)
        owner[rows] = np.arange(len(rows))
        leaving = owner[near] >= 0
        mass = mass.pushed(rows, Links(owner[near[leaving]], far[leaving], weight[leaving]), start, restart)
    return mass, total


def both_ways(relations):
    return [link for near, far, weight in relations for link in ((near, far, weight), (far, near, weight))]


def test_three_entities_in_a_row_have_the_closed_form():
    # a – b – c from a: b gets all that leaves a and c.
    # a = 0.15 + 0.85 · b/2, b = 0.85 · (a + c), c = 0.85 · b/2, so b = 0.1275 / 0.2775 = 17/37
    restart = 0.15
    expected = [0.345270270270, 0.459459459459, 0.195270270270]
    relations = both_ways([(0, 1, 0.9), (1, 2, 0.9)])
    assert by_power(3, relations, [1.0]).tolist() == pytest.approx(expected, abs=1e-11)
    mass, total = by_push(3, relations, [1.0])
    assert mass.rank(restart).tolist() == pytest.approx(expected, abs=EPSILON * total.max() * LIGHTEST)
    assert sum(expected) == pytest.approx(1.0)


def test_the_surer_relation_is_followed_in_proportion():
    rank = by_power(3, both_ways([(0, 1, 0.9), (0, 2, 0.3)]), [1.0])
    assert rank[1] == pytest.approx(3 * rank[2])


def test_mass_without_a_way_on_starts_again():
    # a → b alone: d·a arrives at b, all of which goes back to a but for what is left there
    rank = by_power(2, [(0, 1, 1.0)], [1.0])
    # a + b = 1 and b = 0.85 · a, so a = 1 / 1.85
    assert rank.tolist() == pytest.approx([0.540540540541, 0.459459459459], abs=1e-11)
    mass, _ = by_push(2, [(0, 1, 1.0)], [1.0])
    assert mass.rank(0.15).tolist() == pytest.approx([0.540541, 0.459459], abs=1e-4)


def test_alone_a_seed_has_everything():
    assert by_power(2, [], [0.25, 0.75]).tolist() == pytest.approx([0.25, 0.75])
    mass, _ = by_push(2, [], [0.25, 0.75])
    assert mass.rank(0.15).tolist() == pytest.approx([0.25, 0.75], abs=1e-4)


def test_iterations_and_tolerance_end_it():
    relations = both_ways([(0, 1, 1.0), (1, 2, 1.0)])
    exact = by_power(3, relations, [1.0])
    once = by_power(3, relations, [1.0], max_iterations=1)
    assert once.tolist() == pytest.approx([0.15, 0.85, 0.0])
    rough = by_power(3, relations, [1.0], tolerance=1e-2)
    assert 0 < np.abs(rough - exact).sum() < 1e-2 * 0.85 / 0.15


sizes = st.integers(2, 8)


@st.composite
def cases(draw):
    size = draw(sizes)
    row = st.integers(0, size - 1)
    confidence = st.floats(0.5, 1.0)
    relations = draw(st.lists(st.tuples(row, row, confidence), max_size=20))
    weights = draw(st.lists(st.floats(0.1, 1.0), min_size=1, max_size=size))
    return size, relations, [weight / sum(weights) for weight in weights]


@given(cases())
def test_rank_is_shared_out_whole(case):
    size, relations, seeds = case
    rank = by_power(size, both_ways(relations), seeds)
    assert (rank >= 0).all()
    assert rank.sum() == pytest.approx(1.0, abs=1e-9)
    mass, _ = by_push(size, both_ways(relations), seeds)
    assert (mass.settled.sum() + mass.waiting.sum()) == pytest.approx(1.0, abs=1e-9)
    assert mass.rank(0.15).sum() <= 1 + 1e-9


@given(cases())
def test_push_never_says_too_much_and_falls_short_by_no_more_than_it_promises(case):
    size, relations, seeds = case
    exact = by_power(size, both_ways(relations), seeds)
    mass, total = by_push(size, both_ways(relations), seeds, epsilon=1e-5)
    short = exact - mass.rank(0.15)
    assert (short >= -1e-9).all()
    linked = total > 0
    heavy = max(1.0, LIGHTEST / total[linked].min()) if linked.any() else 1.0
    if linked[: len(seeds)].all():  # else mass starts again, which no link walks back
        assert (short[linked] <= 1e-5 * total[linked] * heavy + 1e-9).all()


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_relations_changes_nothing(case, random):
    size, relations, seeds = case
    shuffled = relations[:]
    random.shuffle(shuffled)
    expected = by_power(size, both_ways(relations), seeds)
    assert by_power(size, both_ways(shuffled), seeds).tolist() == pytest.approx(expected.tolist(), abs=1e-12)
    again = by_power(size, both_ways(relations), seeds)
    assert again.tolist() == expected.tolist()
