"""Which relation introduces an entity that a question describes, by hand."""

import numpy as np
import pytest

from graphsearch.columns import NONE
from graphsearch.relevance.anchored import Edges
from graphsearch.relevance.triplet_relevance import counted, introductions


def edges(*pairs):
    source, target = zip(*pairs, strict=True) if pairs else ((), ())
    rows = [np.array(column, np.intp) for column in (source, target)]
    return Edges(source=rows[0], target=rows[1], type=np.zeros(len(pairs), np.intp))


def introduced(described, graph, own=None, sure=1.0):
    return introductions(
        np.array(described), graph, np.zeros(len(graph)) if own is None else np.array(own), sure
    ).tolist()


def test_a_line_from_the_first_comes_before_one_to_it():
    assert introduced([1], edges((0, 1), (1, 2))) == [1]
    assert introduced([1], edges((0, 1))) == [0]


def test_a_line_between_two_that_are_described_shows_both():
    assert introduced([1, 3], edges((1, 2), (1, 3), (0, 3))) == [1, NONE]


def test_a_later_one_is_shown_beside_what_is_shown_already():
    assert introduced([1, 3], edges((1, 2), (3, 4), (2, 3))) == [0, 2]
    assert introduced([1, 3, 5], edges((1, 2), (3, 4), (5, 3), (3, 6))) == [0, 2, NONE]


def test_where_nothing_is_sure_the_line_that_is_asked_for_introduces():
    graph = edges((0, 1), (1, 2))
    assert introduced([1], graph, own=[3.0, 0.0], sure=0.2) == [0]
    assert introduced([1], graph, own=[3.0, 0.0], sure=1.0) == [1]


def test_what_has_no_relation_is_not_introduced():
    assert introduced([7], edges((0, 1))) == [NONE]


def test_the_line_that_introduces_counts_as_the_best_and_the_others_the_less():
    graph = edges((0, 1), (1, 2), (3, 4))
    found = counted(np.array([1]), np.array([6.0]), graph, np.array([2.0, 0.5, 1.0]), 1.0)
    assert found == pytest.approx([3.0, 7.5, 0.0])  # half of 6; 6 + 2, of which it has 0.5 itself


def test_the_surer_a_thing_is_asked_for_the_less_it_matters_what_its_line_says():
    graph, own = edges((1, 0), (2, 0)), np.array([0.0, 3.0])
    for sure, expected in ((1.0, [9.0, 8.0]), (0.5, [7.5, 8.0]), (0.0, [6.0, 8.0])):
        found = counted(np.array([1, 2]), np.array([6.0, 5.0]), graph, own, sure)
        assert found + own == pytest.approx(expected)


@pytest.mark.parametrize(("described", "graph"), [([], edges((0, 1))), ([1], edges()), ([7], edges((0, 1)))])
def test_nothing_counts_where_nothing_is_described_or_related(described, graph):
    own = np.zeros(len(graph))
    assert counted(np.array(described, np.intp), np.ones(len(described)), graph, own, 1.0).tolist() == own.tolist()
