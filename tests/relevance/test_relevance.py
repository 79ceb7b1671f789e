"""The relevance of triplets: parts that add up, on one scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.relevance.anchored import Edges
from graphsearch.relevance.triplet_relevance import PARTS, Evidence, relevance


def known(rows, anchor, *, affinity=None, kind=None, wrong=None, words=None, meaning=None, past=()):
    """What is known of relations written as (source, target), and of entities by their ``anchor``."""
    count = len(rows)
    source, target = (np.array(column, np.intp) for column in zip(*rows, strict=True)) if rows else ([], [])
    return Evidence(
        edges=Edges(source=np.array(source, np.intp), target=np.array(target, np.intp), type=np.zeros(count, np.intp)),
        anchor=np.array(anchor, np.float64),
        kind=np.zeros(len(anchor)) if kind is None else np.array(kind, np.float64),
        affinity=np.zeros(count) if affinity is None else np.array(affinity, np.float64),
        wrong=np.zeros(count, np.bool_) if wrong is None else np.array(wrong, np.bool_),
        past=np.isin(np.arange(count), past),
        between=np.zeros(len(anchor), np.bool_),
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
    shares = nothing.shares(0)
    assert shares.keys() == set(PARTS)
    assert set(shares.values()) == {nothing.value[0] / len(PARTS)}


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
    for row in range(len(found.value)):
        assert sum(found.shares(row).values()) == pytest.approx(found.value[row], rel=1e-6, abs=1e-9)
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
