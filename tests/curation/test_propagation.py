"""Propagation over arrays: from any labels it terminates, with a higher modularity and no node that gains by moving."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.curation.label_propagation import STEPS, Links, connected_parts, lowest_members, propagated


@st.composite
def labelled(draw, max_size=12):
    """Links, and labels in which any two nodes may share one."""
    size = draw(st.integers(1, max_size))
    node = st.integers(0, size - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=40))
    ends = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    weights = draw(st.lists(st.floats(0, 1), min_size=len(pairs), max_size=len(pairs)))
    links = Links.of(size, ends[:, 0], ends[:, 1], np.array(weights, dtype=np.float64))
    return links, np.array(draw(st.lists(node, min_size=size, max_size=size)), dtype=np.intp)


def modularity(links, labels):
    total = links.strength.sum()
    if not total:
        return 0.0
    inside = links.weight[labels[links.near] == labels[links.far]].sum() / total
    return inside - np.sum((np.bincount(labels, links.strength) / total) ** 2)


def gain_by_moving(links, labels, node, label):
    moved = labels.copy()
    moved[node] = label
    return modularity(links, moved) - modularity(links, labels)


@given(labelled(), st.integers(0, 3))
def test_from_any_labels_it_ends_with_no_less_modularity(given_labels, seed):
    links, labels = given_labels
    after = propagated(links, labels, seed=seed)
    assert modularity(links, after) >= modularity(links, labels) - 1e-9
    assert np.array_equal(after, lowest_members(after))
    assert np.array_equal(after, connected_parts(links, after))


@given(labelled(), st.integers(0, 3))
def test_nobody_would_gain_by_a_neighbours_label(given_labels, seed):
    links, labels = given_labels
    labels = propagated(links, labels, seed=seed)
    for near, far in zip(links.near.tolist(), links.far.tolist(), strict=True):
        assert gain_by_moving(links, labels, near, labels[far]) <= 1e-6


@given(labelled(), st.integers(0, 3))
def test_what_it_ends_in_stays_whatever_the_seed(given_labels, seed):
    links, labels = given_labels
    ended = propagated(links, labels)
    assert np.array_equal(propagated(links, ended, seed=seed), ended)


@pytest.mark.parametrize("seed", range(8))
def test_two_neighbours_do_not_swap_labels_for_ever(seed):
    pair = Links.of(2, np.array([0]), np.array([1]), np.array([1.0]))
    for labels in ([0, 1], [1, 0]):
        assert propagated(pair, np.array(labels), seed=seed).tolist() == [0, 0]


@pytest.mark.parametrize("sources", [np.arange(999), np.zeros(999, np.intp)])
def test_long_paths_and_large_stars_end_too(sources):
    links = Links.of(1000, sources, np.arange(1, 1000), np.ones(999))
    labels = propagated(links, np.arange(1000))
    assert np.array_equal(labels, connected_parts(links, labels))
    assert len(np.unique(labels)) < 500


def test_links_add_up_whatever_their_direction_and_order():
    links = Links.of(3, np.array([2, 0, 1, 1]), np.array([0, 2, 1, 0]), np.array([0.25, 0.5, 1.0, 1e-9]))
    assert links.near.tolist() == [0, 2]
    assert links.far.tolist() == [2, 0]
    assert (links.strength / STEPS).tolist() == [0.75, 0.0, 0.75]


def test_groups_are_linked_only_where_they_are_nearly_as_dense_as_inside():
    cliques = [(one, other) for start in (0, 4, 8) for one in range(start, start + 4) for other in range(start, one)]
    bridges = [(0, 4), (4, 8), (5, 9), (6, 10)]
    ends = np.array(cliques + bridges)
    links = Links.of(12, ends[:, 0], ends[:, 1], np.ones(len(ends)))
    grouped = links.grouped(np.repeat(np.arange(3), 4), 0.15)
    assert list(zip(grouped.near.tolist(), grouped.far.tolist(), strict=True)) == [(1, 2), (2, 1)]
    assert (grouped.weight / STEPS).tolist() == [3.0, 3.0]
    assert (grouped.strength / STEPS).tolist() == [13.0, 16.0, 15.0]
