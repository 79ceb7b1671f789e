"""How near triplets are to what a question names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.relevance import anchored
from graphsearch.relevance.anchored import Edges, direct


def edges(*rows):
    """Relations written as (source, type, target), by number."""
    source, type_, target = zip(*rows, strict=True) if rows else ((), (), ())
    return Edges(source=np.array(source, np.intp), type=np.array(type_, np.intp), target=np.array(target, np.intp))


def lent(anchor, edges, asked, between=()):
    return anchored.lent(anchor, edges, asked, np.isin(np.arange(len(anchor)), between))


def counts(anchor, edges, asked):
    return anchored.counts(anchor, edges, asked, np.zeros(len(anchor), np.bool_))


# A lamp (0) that a crew (1) keeps, as it does another lamp (3); a keeper (2) leads the crew, and lives in a town (4).
KEPT_BY, LEADS, LIVES_IN = 0, 1, 2
CREW = edges((0, KEPT_BY, 1), (2, LEADS, 1), (3, KEPT_BY, 1), (2, LIVES_IN, 4))


def test_the_surer_end_counts_in_full_and_the_other_a_quarter():
    anchor = np.array([1.0, 0.6, 0.0, 0.0, 0.0])
    source, target = direct(anchor, CREW)
    assert source == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert target == pytest.approx([0.15, 0.6, 0.6, 0.0])


def test_of_equally_sure_ends_the_source_counts_in_full():
    source, target = direct(np.array([0.8, 0.8]), edges((0, 0, 1)))
    assert (source.tolist(), target.tolist()) == ([0.8], [0.2])


def test_what_a_named_entity_leads_to_lends_its_other_relations_what_it_counts():
    anchor = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    asked = np.array([1.5, 1.5, 1.5, 1.5])
    # The crew's leader is one hop on. Its other lamp says of another what the first relation says of ours.
    assert lent(anchor, CREW, asked) == pytest.approx([0.0, 0.85, 0.0, 0.0])


def test_a_thing_of_the_kind_that_the_question_names_between_lends_all_of_it():
    """Who leads the crew that keeps the lamp?"""
    anchor = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    assert lent(anchor, CREW, np.full(4, 1.5), between=[1]) == pytest.approx([0.0, 1.0, 0.0, 0.0])


def test_the_less_a_hop_is_asked_for_the_less_it_lends():
    anchor = np.array([0.8, 0.0, 0.0, 0.0, 0.0])
    asked = np.array([-0.5, 1.5, -0.5, 0.0])
    assert lent(anchor, CREW, asked) == pytest.approx([0.0, 0.41244, 0.0, 0.0], rel=1e-4)  # 0.85 · 0.8 · exp(−0.5)


def test_the_best_of_several_lends_and_of_equals_the_first():
    # Two crews lend to one lamp (2), by other types; its own other relation gets the better one.
    both = edges((0, 0, 2), (1, 1, 2), (2, 2, 3))
    anchor = np.array([1.0, 0.5, 0.0, 0.0])
    even = np.zeros(3)
    assert lent(anchor, both, even)[2] == pytest.approx(0.85)
    assert lent(anchor[[1, 0, 2, 3]], both, even)[2] == pytest.approx(0.85)
    same = np.array([1.0, 1.0, 0.0, 0.0])
    beside = edges((0, 0, 2), (1, 1, 2), (3, 1, 2))
    # The first lends, so the second's sibling gets what the first lends.
    assert lent(same, beside, even) == pytest.approx([0.0, 0.85, 0.85])


def test_the_same_type_in_the_other_direction_is_no_sibling():
    chain = edges((0, 0, 1), (1, 0, 2))
    assert lent(np.array([1.0, 0.0, 0.0]), chain, np.zeros(2)) == pytest.approx([0.0, 0.85])
    fan = edges((1, 0, 0), (1, 0, 2))
    assert lent(np.array([1.0, 0.0, 0.0]), fan, np.zeros(2)) == pytest.approx([0.0, 0.0])


def test_unsure_anchors_lend_nothing_and_sure_ones_need_nothing():
    chain = edges((0, 0, 1), (1, 1, 2))
    assert lent(np.array([0.3, 0.0, 0.0]), chain, np.zeros(2)).tolist() == [0.0, 0.0]
    beside_a_sure_one = np.array([0.3, 0.0, 0.0, 1.0])
    assert lent(beside_a_sure_one, chain, np.zeros(2)).tolist() == [0.0, 0.0]
    assert lent(np.array([1.0, 0.4, 1.0]), chain, np.zeros(2)).tolist() == [0.0, 0.0]
    assert lent(np.array([1.0, 0.3, 0.0]), chain, np.zeros(2)) == pytest.approx([0.0, 0.85])
    assert lent(np.array([1.0]), edges(), np.empty(0)).tolist() == []


def test_what_is_lent_adds_only_what_the_ends_do_not_count():
    chain = edges((0, 0, 1), (1, 1, 2))
    anchor = np.array([1.0, 0.2, 0.0])
    source, target, added = counts(anchor, chain, np.zeros(2))
    assert source == pytest.approx([1.0, 0.2])
    assert target == pytest.approx([0.05, 0.0])
    assert added == pytest.approx([0.0, 0.65])


ends = st.integers(0, 5)
anchors = st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=6, max_size=6).map(np.array)


@given(st.lists(st.tuples(ends, st.integers(0, 2), ends), max_size=8), anchors, st.randoms())
def test_counts_are_bounded_and_do_not_depend_on_the_order_of_relations(rows, anchor, random):
    asked = np.arange(len(rows)) / 7.0  # of two ways that lend alike the first is taken: here no two do
    source, target, added = counts(anchor, edges(*rows), asked)
    assert (np.minimum(source, np.minimum(target, added)) >= 0.0).all()
    assert (np.maximum(source, target) <= anchor.max()).all()
    assert (source + target + added <= 1.25 * anchor.max() + 1e-9).all()
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = counts(anchor, edges(*[rows[at] for at in order]), asked[order])
    for one, other in zip((source, target, added), shuffled, strict=True):
        assert other == pytest.approx(one[order])
