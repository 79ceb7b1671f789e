"""The relevance of triplets: its parts, and how they add up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.columns import NONE
from graphsearch.ranking import triplet_relevance
from graphsearch.ranking.triplet_relevance import (
    PARTS,
    Edges,
    Evidence,
    counted,
    direct,
    introductions,
    relevance,
)


def known(rows, anchor, *, affinity=None, kind=None, wrong=None, words=None, meaning=None, past=()):
    """What is known of relations written as (source, target), and of entities by their ``anchor``."""
    count = len(rows)
    source, target = (np.array(column, np.intp) for column in zip(*rows, strict=True)) if rows else ([], [])
    edges = Edges(source=np.array(source, np.intp), target=np.array(target, np.intp), type=np.zeros(count, np.intp))
    types = np.zeros(count) if affinity is None else np.array(affinity, np.float64)
    return Evidence(
        edges=edges,
        anchor=np.array(anchor, np.float64),
        weights=counts(np.array(anchor, np.float64), edges, types),
        kind=np.zeros(len(anchor)) if kind is None else np.array(kind, np.float64),
        affinity=types,
        wrong=np.zeros(count, np.bool_) if wrong is None else np.array(wrong, np.bool_),
        past=np.isin(np.arange(count), past),
        words=np.zeros(count) if words is None else np.array(words, np.float64),
        meaning=np.zeros(count) if meaning is None else np.array(meaning, np.float64),
    )


def test_all_parts_of_one_relation():
    found = relevance(
        known([(0, 1)], [1.0, 0.0], affinity=[2.0], kind=[0.0, 1.5], words=[0.5], meaning=[0.4], wrong=[True])
    )
    assert {name: part[0] for name, part in found.parts.items()} == pytest.approx(
        {
            "source": 10.0,
            "target": 0.0,
            "hops": 0.0,
            "described": 0.0,
            "relation_type": 2.5,
            "answer_kind": 0.6,
            "fact_words": 2.25,
            "fact_meaning": 1.0,
            "direction": -2.0,
            "past": 0.0,
        }
    )
    assert found.evidence[0] == pytest.approx(14.35)
    assert found.value[0] == pytest.approx(0.413402, rel=1e-4)  # exp((14.35 − 17) / 3)


def test_as_much_evidence_as_an_ideal_answer_is_all_relevant():
    ideal = relevance(known([(0, 1)], [1.0, 0.0], affinity=[3.8], words=[0.5]))  # 10 + 4.75 + 2.25
    assert ideal.value[0] == pytest.approx(1.0)


def test_where_the_best_has_more_that_is_the_ideal():
    found = relevance(known([(0, 1), (0, 2)], [1.0, 0.0, 0.0], affinity=[8.0, 5.6]))
    assert found.value == pytest.approx([1.0, 0.36787944])  # 3 less by 2.4 · 1.25


def test_what_has_ended_comes_after_what_holds():
    found = relevance(known([(0, 1), (0, 2)], [1.0, 0.0, 0.0], affinity=[3.8, 3.8], words=[0.5, 0.5], past=[0]))
    assert found.parts["past"].tolist() == [-0.5, 0.0]
    assert found.value == pytest.approx([0.84648172, 1.0])  # exp(−0.5 / 3)


def test_what_is_only_likely_to_be_named_makes_the_ideal_less():
    sure, likely = (relevance(known([(0, 1)], [anchor, 0.0])).value[0] for anchor in (1.0, 0.5))
    assert sure == pytest.approx(likely)
    both = relevance(known([(0, 1), (2, 3)], [1.0, 0.0, 0.5, 0.0]))
    assert both.value == pytest.approx([0.096972, 0.018316], rel=1e-3)  # exp(−7 / 3), exp(−12 / 3)


def test_the_answer_is_the_end_that_is_named_less_surely():
    kinds = [1.0, -1.0, 0.5]
    found = relevance(known([(0, 1), (1, 0), (2, 1)], [1.0, 0.0, 0.0], kind=kinds))
    # Of the last neither end is named: the target is taken.
    assert found.parts["answer_kind"] == pytest.approx([-0.4, -0.4, -0.4])
    named_target = relevance(known([(0, 2)], [0.0, 0.0, 1.0], kind=kinds))
    assert named_target.parts["answer_kind"] == pytest.approx([0.4])


def test_evidence_of_nothing_is_shared_out_evenly():
    nothing = relevance(known([(0, 1)], [0.0, 0.0]))
    (shares,) = nothing.shares(np.array([0]))
    assert shares.keys() == set(PARTS)
    assert list(shares.values()) == pytest.approx([nothing.value[0] / len(PARTS)] * len(PARTS))


def test_no_relations():
    empty = relevance(known([], [1.0]))
    assert empty.value.shape == empty.evidence.shape == (0,)


numbers = st.floats(-5, 5)
shares = st.floats(0, 1)


@st.composite
def evidence(draw):
    rows = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=6))

    def column(values, count=0):
        size = count or len(rows)
        return draw(st.lists(values, min_size=size, max_size=size))

    return known(
        rows,
        column(shares, 5),
        affinity=column(numbers),
        kind=column(numbers, 5),
        wrong=column(st.booleans()),
        words=column(shares),
        meaning=column(st.floats(-1, 1)),
    )


@given(evidence())
def test_relevance_is_in_range_orders_as_evidence_and_its_parts_add_up(given_evidence):
    found = relevance(given_evidence)
    assert ((found.value > 0.0) & (found.value <= 1.0)).all()
    assert np.sum(list(found.parts.values()), axis=0) == pytest.approx(found.evidence)
    order = np.argsort(found.evidence, kind="stable")
    assert (np.diff(found.value[order]) >= 0.0).all()
    for value, each in zip(found.value, found.shares(np.arange(len(found.value))), strict=True):
        assert sum(each.values()) == pytest.approx(value, rel=1e-6, abs=1e-9)
    again = relevance(given_evidence)
    assert again.value.tolist() == found.value.tolist()


@given(evidence(), st.integers(0, 5), shares)
def test_more_shared_words_never_make_less_relevant(given_evidence, row, more):
    row %= len(given_evidence.words)
    before = relevance(given_evidence)
    given_evidence.words[row] = max(given_evidence.words[row], more)
    after = relevance(given_evidence)
    assert after.value[row] >= before.value[row] - 1e-12
    others = np.arange(len(before.value)) != row
    assert (after.value[others] <= before.value[others] + 1e-12).all()


def edges(*rows):
    """Relations written as (source, type, target), by number."""
    source, type_, target = zip(*rows, strict=True) if rows else ((), (), ())
    return Edges(source=np.array(source, np.intp), type=np.array(type_, np.intp), target=np.array(target, np.intp))


def lent(anchor, edges, affinity, between=()):
    return triplet_relevance.lent(anchor, edges, affinity, np.isin(np.arange(len(anchor)), between))


def counts(anchor, edges, affinity):
    return triplet_relevance.anchor_weights(anchor, edges, affinity, np.zeros(len(anchor), np.bool_))


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
    affinity = np.array([1.5, 1.5, 1.5, 1.5])
    # The crew's leader is one hop on. Its other lamp says of another what the first relation says of ours.
    assert lent(anchor, CREW, affinity) == pytest.approx([0.0, 0.85, 0.0, 0.0])


def test_a_thing_of_the_kind_that_the_question_names_between_lends_all_of_it():
    """Who leads the crew that keeps the lamp?"""
    anchor = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    assert lent(anchor, CREW, np.full(4, 1.5), between=[1]) == pytest.approx([0.0, 1.0, 0.0, 0.0])


def test_the_less_a_hop_is_asked_for_the_less_it_lends():
    anchor = np.array([0.8, 0.0, 0.0, 0.0, 0.0])
    affinity = np.array([-0.5, 1.5, -0.5, 0.0])
    assert lent(anchor, CREW, affinity) == pytest.approx([0.0, 0.41244, 0.0, 0.0], rel=1e-4)  # 0.85 · 0.8 · exp(−0.5)


def test_the_best_of_several_lends_and_of_equals_the_first():
    # Two crews lend to one lamp (2), by other types; its own other relation gets the better one.
    both = edges((0, 0, 2), (1, 1, 2), (2, 2, 3))
    anchor = np.array([1.0, 0.5, 0.0, 0.0])
    even = np.zeros(3)
    assert lent(anchor, both, even)[2] == pytest.approx(0.85)
    assert lent(anchor[[1, 0, 2, 3]], both, even)[2] == pytest.approx(0.85)
    same = np.array([1.0, 1.0, 0.0, 0.0])
    adjacent = edges((0, 0, 2), (1, 1, 2), (3, 1, 2))
    # The first lends, so the second's sibling gets what the first lends.
    assert lent(same, adjacent, even) == pytest.approx([0.0, 0.85, 0.85])


def test_of_equals_the_first_type_lends_in_any_order_of_relations():
    anchor, even = np.array([1.0, 0.0, 0.0]), np.zeros(3)
    assert lent(anchor, edges((0, 0, 1), (0, 1, 1), (2, 0, 1)), even)[2] == 0.0
    assert lent(anchor, edges((0, 1, 1), (0, 0, 1), (2, 0, 1)), even)[2] == 0.0


def test_the_same_type_in_the_other_direction_is_no_sibling():
    chain = edges((0, 0, 1), (1, 0, 2))
    assert lent(np.array([1.0, 0.0, 0.0]), chain, np.zeros(2)) == pytest.approx([0.0, 0.85])
    fan = edges((1, 0, 0), (1, 0, 2))
    assert lent(np.array([1.0, 0.0, 0.0]), fan, np.zeros(2)) == pytest.approx([0.0, 0.0])


def test_unsure_anchors_lend_nothing_and_sure_ones_need_nothing():
    chain = edges((0, 0, 1), (1, 1, 2))
    assert lent(np.array([0.3, 0.0, 0.0]), chain, np.zeros(2)).tolist() == [0.0, 0.0]
    next_to_a_sure_one = np.array([0.3, 0.0, 0.0, 1.0])
    assert lent(next_to_a_sure_one, chain, np.zeros(2)).tolist() == [0.0, 0.0]
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


@given(st.lists(st.tuples(ends, st.integers(0, 2), ends), max_size=8), anchors, st.booleans(), st.randoms())
def test_counts_are_bounded_and_do_not_depend_on_the_order_of_relations(rows, anchor, alike, random):
    affinity = np.array([0.0 if alike else type_ / 7.0 for _, type_, _ in rows])
    source, target, added = counts(anchor, edges(*rows), affinity)
    assert (np.minimum(source, np.minimum(target, added)) >= 0.0).all()
    assert (np.maximum(source, target) <= anchor.max()).all()
    assert (source + target + added <= 1.25 * anchor.max() + 1e-9).all()
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = counts(anchor, edges(*[rows[at] for at in order]), affinity[order])
    for one, other in zip((source, target, added), shuffled, strict=True):
        assert other == pytest.approx(one[order])


def of_pairs(*pairs):
    source, target = zip(*pairs, strict=True) if pairs else ((), ())
    rows = [np.array(column, np.intp) for column in (source, target)]
    return Edges(source=rows[0], target=rows[1], type=np.zeros(len(pairs), np.intp))


def introduced(described, graph, own=None, sure=1.0):
    return introductions(
        np.array(described), graph, np.zeros(len(graph)) if own is None else np.array(own), sure
    ).tolist()


def test_a_line_from_the_first_comes_before_one_to_it():
    assert introduced([1], of_pairs((0, 1), (1, 2))) == [1]
    assert introduced([1], of_pairs((0, 1))) == [0]


def test_a_line_between_two_that_are_described_shows_both():
    assert introduced([1, 3], of_pairs((1, 2), (1, 3), (0, 3))) == [1, NONE]


def test_a_later_one_is_shown_in_addition_to_what_is_shown_already():
    assert introduced([1, 3], of_pairs((1, 2), (3, 4), (2, 3))) == [0, 2]
    assert introduced([1, 3, 5], of_pairs((1, 2), (3, 4), (5, 3), (3, 6))) == [0, 2, NONE]


def test_where_nothing_is_sure_the_line_that_is_asked_for_introduces():
    graph = of_pairs((0, 1), (1, 2))
    assert introduced([1], graph, own=[3.0, 0.0], sure=0.2) == [0]
    assert introduced([1], graph, own=[3.0, 0.0], sure=1.0) == [1]


def test_what_lies_behind_described_entities_is_less_near_with_each_hop():
    line = of_pairs((1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (8, 9))
    found = counted(np.array([1]), np.array([8.0]), line, np.zeros(6), 1.0)
    assert found.tolist() == pytest.approx([8.0, 4.5, 3.375, 2.53125, 0.0, 0.0])  # three hops, a quarter less with each


def test_what_has_no_relation_is_not_introduced():
    assert introduced([7], of_pairs((0, 1))) == [NONE]


def test_the_line_that_introduces_counts_as_the_best_and_the_others_the_less():
    graph = of_pairs((0, 1), (1, 2), (3, 4))
    found = counted(np.array([1]), np.array([6.0]), graph, np.array([2.0, 0.5, 1.0]), 1.0)
    assert found == pytest.approx([4.5, 7.5, 0.0])  # three quarters of 6; 6 + 2, of which it has 0.5 itself


def test_the_surer_a_thing_is_asked_for_the_less_it_matters_what_its_line_says():
    graph, own = of_pairs((1, 0), (2, 0)), np.array([0.0, 3.0])
    for sure, expected in ((1.0, [9.0, 8.0]), (0.5, [7.5, 8.0]), (0.0, [6.0, 8.0])):
        found = counted(np.array([1, 2]), np.array([6.0, 5.0]), graph, own, sure)
        assert found + own == pytest.approx(expected)


@pytest.mark.parametrize(("described", "graph"), [([], of_pairs((0, 1))), ([1], of_pairs()), ([7], of_pairs((0, 1)))])
def test_nothing_counts_where_nothing_is_described_or_related(described, graph):
    own = np.zeros(len(graph))
    assert counted(np.array(described, np.intp), np.ones(len(described)), graph, own, 1.0).tolist() == own.tolist()
