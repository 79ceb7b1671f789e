"""The walk: what arrives where, in closed form on small graphs; and sums of scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.recall.graph_channel import Ways, carried_on, walk
from graphsearch.recall.mention_graph import MentionGraph
from graphsearch.recall.scoreboard import Board, best_first, compared


def graph(pairs, *, about=(), memories=2, entities=1, times=None):
    memory, entity = np.array(pairs, np.intp).reshape(-1, 2).T
    return MentionGraph(
        memories=np.arange(memories),
        entities=np.arange(entities),
        memory=memory,
        entity=entity,
        times=np.array(times or [1.0] * len(memory)),
        about=np.array([pair in about for pair in pairs], np.bool_),
    )


def walked(told, start, *, subject_weight=20.0, restart=0.3):
    ways = Ways.of(told, 100, subject_weight)
    memories, entities = (np.array(part, np.float64) for part in start)
    return ways, *walk(told, ways, memories, entities, restart)


def test_an_entity_between_two_memories():
    """p(e) = ρ / (1 − (1 − ρ)²), and each of the two memories has half of (1 − ρ) p(e)."""
    told = graph([(0, 0), (1, 0)])
    _, memories, entities = walked(told, ([0, 0], [1]))
    assert entities == pytest.approx([0.588235], abs=1e-5)  # 0.3 / 0.51
    assert memories == pytest.approx([0.205882, 0.205882], abs=1e-5)  # 0.35 of it
    assert memories.sum() + entities.sum() == pytest.approx(1.0, abs=1e-5)


def test_a_start_at_one_memory():
    """p(a) = ρ + (1 − ρ) p(e) / 2, p(b) = (1 − ρ) p(e) / 2 and p(e) = (1 − ρ)(p(a) + p(b))."""
    told = graph([(0, 0), (1, 0)])
    _, memories, entities = walked(told, ([1, 0], [0]))
    assert entities == pytest.approx([0.411765], abs=1e-5)  # 0.21 / 0.51
    assert memories == pytest.approx([0.444118, 0.144118], abs=1e-5)  # 0.3 + 0.35 of it, and 0.35 of it


def test_what_a_memory_is_about_counts_twenty_times():
    told = graph([(0, 0), (1, 0)], about=[(0, 0)])
    ways, memories, _ = walked(told, ([0, 0], [1]))
    assert ways.to_memory == pytest.approx([0.952380952, 0.047619048])  # 20 : 1
    assert ways.to_entity.tolist() == [1.0, 1.0]
    assert memories[0] / memories[1] == pytest.approx(20.0)


def test_rare_and_often_mentioned_entities_take_more():
    """Weights are (1 + ln tf) · ln(1 + (N − n + 0.5) / (n + 0.5)), N = 100."""
    told = graph([(0, 0), (1, 0), (0, 1)], entities=2, times=[1.0, 1.0, 3.0])
    ways = Ways.of(told, 100, 20.0)
    # The common one: ln(1 + 98.5 / 2.5) = ln 40.4. The rare one: (1 + ln 3) · ln(1 + 99.5 / 1.5) = 2.0986 · ln 67.33.
    assert ways.to_entity == pytest.approx([0.295121022, 1.0, 0.704878978])


def test_an_entity_in_more_memories_than_are_counted_weighs_nothing_rather_than_less():
    """The statistics of a scope may lag behind the graph's own count."""
    told = graph([(row, 0) for row in range(3)], memories=3)
    ways = Ways.of(told, 1, 1.0)
    assert (ways.to_entity >= 0).all()
    assert np.isfinite(ways.to_memory).all()


def test_nothing_but_restarts():
    told = graph([(0, 0), (1, 0)])
    _, memories, entities = walked(told, ([0.5, 0], [0.5]), restart=1.0)
    assert memories.tolist() == [0.5, 0.0]
    assert entities.tolist() == [0.5]


def test_no_step_goes_back():
    """One memory and its only entity: what comes back to it by that leads from nowhere."""
    told = graph([(0, 0)], memories=1)
    ways, memories, entities = walked(told, ([1], [0]))
    onward, back = carried_on(told, ways, memories, entities, 0.3)
    assert onward.tolist() == [0.0]
    assert back == pytest.approx([0.3], abs=1e-4)  # what started there


pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=15, unique=True)


@given(pairs, st.floats(0.15, 1.0), st.floats(1.0, 50.0))
def test_mass_is_neither_made_nor_negative(mentions, restart, subject_weight):
    told = graph(mentions, about=mentions[::2], memories=6, entities=5)
    start = (np.full(6, 1 / 11), np.full(5, 1 / 11))
    ways, memories, entities = walked(told, start, subject_weight=subject_weight, restart=restart)
    assert (memories >= 0).all()
    assert (entities >= 0).all()
    assert memories.sum() + entities.sum() <= 1.0 + 1e-9
    again = restart * start[0] + (1 - restart) * np.bincount(told.memory, ways.to_memory * entities[told.entity], 6)
    assert again == pytest.approx(memories, abs=1e-4)


# -- adding up ----------------------------------------------------------------------------------------------------


def test_parts_add_up():
    board = Board(np.array([], np.int64))
    board.add("lexical", np.array([3, 1]), np.array([2.0, 1.0]))
    board.add("graph", np.array([5, 3]), np.array([4.0, 1.0]))
    assert dict(zip(board.keys.tolist(), board.total.tolist(), strict=True)) == {1: 1.0, 3: 3.0, 5: 4.0}
    assert board.of(np.array([5, 7])).tolist() == [4.0, 0.0]
    board.best_is_one()
    assert board.total.max() == 1.0
    assert sum(part for part in board.parts.values()) == pytest.approx(board.total)
    assert board.first(2).tolist() == [5, 3]


def test_nothing_is_scaled_where_nothing_scores():
    board = Board(np.array([], np.int64))
    board.add("lexical", np.array([1]), np.array([0.0]))
    board.best_is_one()
    assert board.total.tolist() == [0.0]


def test_the_best_come_first_and_equal_ones_by_key():
    keys = np.array(["b", "a", "d", "c"])
    assert keys[best_first(np.array([0.5, 0.5, 0.7, 0.5 + 1e-9]), keys, 3)].tolist() == ["d", "a", "b"]
    assert best_first(np.empty(0), keys[:0], 3).tolist() == []


@given(st.lists(st.floats(0, 1), max_size=20), st.integers(1, 25))
def test_the_best_of_many_are_those_of_all(values, count):
    scores, keys = np.array(values), np.arange(len(values))[::-1]
    every = best_first(scores, keys, len(values) + 1)
    assert best_first(scores, keys, count).tolist() == every[:count].tolist()
    assert (np.diff(compared(scores)[every]) <= 0).all()


@given(st.floats(1e-9, 1))
def test_five_digits_are_compared(score):
    assert compared(np.array([score])) == pytest.approx([score], rel=4e-6)
