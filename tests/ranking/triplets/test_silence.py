"""Whether anything that was found answers at all."""

from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.ranking.retrieval import COVERED, DESCRIBED, Standing, foreign
from graphsearch.ranking.triplet_relevance import Edges

LAMP, CREW, PERSON = 0, 1, 2
"""Kinds. Lamps are kept by crews (type 0) and lit in a year (1); persons lead crews (2)."""
MEETS = np.array([[True, True, False], [True, False, True], [False, False, True]])
KEPT = np.array([1.4, -0.7, -0.7])
"""Affinities that ask for who keeps something."""


def standing(
    *rows, affinity: Any = KEPT, named=(0,), wrong=(), kinds=(LAMP,), between=(), worded=1.0, covered=0.0, **more
):
    """A lamp (0), its crew (1), a person (2) and a year (3); relations as (source, type, target)."""
    source, type_, target = (np.array(column, np.intp) for column in zip(*rows, strict=True)) if rows else [[]] * 3
    return Standing(
        affinity=np.array(affinity, np.float64),
        meets=more.pop("meets", MEETS),
        edges=Edges(source=np.array(source, np.intp), target=np.array(target, np.intp), type=np.array(type_, np.intp)),
        wrong=np.isin(np.arange(len(rows)), wrong),
        named=np.isin(np.arange(4), named),
        kinds=kinds,
        between=between,
        kind=np.array([LAMP, CREW, PERSON, -1]),
        worded=worded,
        covered=covered,
        **more,
    )


KEPT_BY, LIT_IN, LED_BY = (0, 0, 1), (0, 1, 3), (1, 2, 2)


def test_the_relation_that_is_asked_for_answers():
    assert not foreign(standing(KEPT_BY, LIT_IN))


def test_a_relation_that_the_entity_does_not_have_is_not_answered_by_another():
    assert foreign(standing(LIT_IN))  # 2.1 below, of at most 1 where the words are sure


def test_the_less_the_words_say_so_the_more_the_best_may_lie_behind():
    assert foreign(standing(LIT_IN, worded=0.3))  # 2.05
    assert not foreign(standing(LIT_IN, worded=0.2))  # 2.2


def test_what_such_entities_never_have_is_not_held_against_them():
    year_only = np.array([[False, True, False], [True, False, True], [False, False, True]])
    assert not foreign(standing(LIT_IN, meets=year_only, worded=0.3))
    assert foreign(standing(LIT_IN, meets=year_only))  # 2.1 below, of at most 1.5 where it is said in so many words


def test_but_what_lies_far_below_all_types_is_foreign_all_the_same():
    """Thirty types, of which one stands out by √29 and all others lie 0.19 below the average."""
    affinity = np.full(30, -1 / np.sqrt(29))
    affinity[0] = np.sqrt(29)
    meets = np.zeros((3, 30), np.bool_)
    meets[LAMP, 1] = True
    assert foreign(standing(LIT_IN, affinity=affinity, meets=meets, worded=0.2))
    affinity[1] = 1.0  # 4.4 below
    assert not foreign(standing(LIT_IN, affinity=affinity, meets=meets, worded=0.2))
    assert foreign(standing(LIT_IN, affinity=affinity, meets=meets))


def test_the_wrong_direction_is_no_answer():
    assert foreign(standing(KEPT_BY, wrong=[0]))
    assert foreign(standing(KEPT_BY, wrong=[0], worded=0.0))
    assert not foreign(standing(KEPT_BY, (0, 0, 2), wrong=[0]))


def test_relations_that_are_not_next_to_a_name_do_not_answer_for_it():
    assert foreign(standing(LIT_IN, (3, 0, 1)))
    assert foreign(standing())


def test_one_hop_on_answers_where_the_question_names_what_lies_between():
    asked = np.array([-0.7, -0.7, 1.4])  # "who leads the crew that keeps the lamp"
    sure = {"affinity": asked, "worded": 1.0}
    both = {**sure, "meets": MEETS | np.array([[True], [False], [False]])}
    assert foreign(standing(KEPT_BY, LED_BY, **both))
    assert not foreign(standing(KEPT_BY, LED_BY, **both, between=[CREW]))
    assert foreign(standing(KEPT_BY, LED_BY, **both, between=[PERSON]))
    assert foreign(standing(KEPT_BY, **both, between=[CREW]))


def test_what_lies_between_may_be_asked_for_more_than_what_is_named():
    asked = np.array([0.0, -1.2, 1.2])
    # The lamp's own best is "kept by", and has it; the crew's best is "led by", and is not there.
    assert not foreign(standing(KEPT_BY, (1, 0, 3), affinity=asked, between=[CREW]))


def test_of_what_lies_between_the_best_of_its_own_kind_counts_too():
    asked = np.array([0.0, -1.2, 1.2])
    # The crew has no leader, and what else it has is as good as the lamp's best.
    assert foreign(standing((0, 1, 1), (1, 0, 3), affinity=asked, between=[CREW]))


def test_one_hop_on_answers_where_the_types_of_the_entity_itself_lie_far_below():
    """As of thirty types: the lamp's own lies 5.6 below the one that is asked for, which its crew has."""
    affinity = np.full(30, -1 / np.sqrt(29))
    affinity[0] = np.sqrt(29)
    meets = np.zeros((3, 30), np.bool_)
    meets[LAMP, 1] = meets[CREW, 0] = True
    rows = ((0, 1, 1), (1, 0, 3))
    assert foreign(standing(*rows, affinity=affinity, meets=meets))
    assert not foreign(standing(*rows, affinity=affinity, meets=meets, between=[CREW]))


def test_a_relation_of_a_named_entity_in_the_wrong_direction_is_not_one_hop_on():
    assert foreign(standing(KEPT_BY, wrong=[0], between=[CREW]))
    assert foreign(standing((1, 0, 0), wrong=[0], between=[CREW]))
    asked = np.array([-0.7, -0.7, 1.4])
    both: dict[str, Any] = {"affinity": asked, "named": (0, 1), "kinds": (LAMP, CREW), "between": [CREW]}
    assert foreign(standing(KEPT_BY, LED_BY, wrong=[1], **both))
    assert not foreign(standing(KEPT_BY, LED_BY, **both))


def test_being_asked_for_more_than_is_usual_does_not_make_up_for_the_direction():
    year_only = np.array([[False, True, False], [True, False, True], [False, False, True]])
    assert foreign(standing(KEPT_BY, wrong=[0], meets=year_only))


def test_the_direction_counts_against_all_types_as_well():
    affinity = np.full(30, -1 / np.sqrt(29))
    affinity[[0, 2]] = np.sqrt(29), 3.0
    meets = np.zeros((3, 30), np.bool_)
    meets[LAMP, 1] = True
    rows = (LIT_IN, (0, 2, 2))
    assert foreign(standing(*rows, wrong=[1], affinity=affinity, meets=meets))
    assert not foreign(standing(*rows, affinity=affinity, meets=meets))


def test_a_type_that_is_not_in_the_profile_is_asked_for_least():
    assert foreign(standing((0, -1, 1)))


def test_without_kinds_the_best_of_all_types_counts():
    assert foreign(standing(LIT_IN, kinds=()))
    assert not foreign(standing(KEPT_BY, kinds=()))


@pytest.mark.parametrize("named", [(), (0,)])
def test_where_nothing_is_named_or_there_are_no_types_words_and_meaning_decide(named):
    none = standing(named=named, affinity=[] if named else KEPT, meets=np.zeros((3, 0), np.bool_))
    assert foreign(none)
    assert foreign(attrs.evolve(none, covered=COVERED - 0.01, described=DESCRIBED - 0.01))
    assert not foreign(attrs.evolve(none, covered=COVERED))
    assert not foreign(attrs.evolve(none, described=DESCRIBED))


def test_where_meaning_alone_speaks_a_type_must_stand_out():
    """Of three types by 0.55 · √(2 ln 3) = 0.815."""
    flat = [0.70710678, 0.70710678, -1.41421356]
    assert foreign(standing(KEPT_BY, affinity=flat, worded=0.0))
    assert not foreign(standing(KEPT_BY, affinity=flat, worded=0.1))
    assert not foreign(standing(KEPT_BY, affinity=KEPT, worded=0.0))


def test_where_neither_words_nor_meaning_ask_for_a_type_nothing_is_silenced():
    assert not foreign(standing(LIT_IN, affinity=[0.0, 0.0, 0.0], worded=0.0))
    one_type = np.ones((3, 1), np.bool_)
    assert not foreign(standing((0, 0, 1), affinity=[0.0], meets=one_type, worded=0.0))


rows = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 2), st.integers(0, 3)), max_size=6)
affinities = st.lists(st.floats(-2, 2), min_size=3, max_size=3)


@given(rows, affinities, st.sets(st.integers(0, 2)), st.floats(0, 1), st.randoms())
def test_more_relations_never_silence_and_their_order_does_not_matter(found, affinity, between, worded, random):
    some = standing(*found, affinity=affinity, between=sorted(between), worded=worded)
    shuffled = list(found)
    random.shuffle(shuffled)
    assert foreign(standing(*shuffled, affinity=affinity, between=sorted(between), worded=worded)) == foreign(some)
    asked_for = (0, int(np.argmax(affinity)), 3)
    with_it = standing(*found, asked_for, affinity=affinity, worded=1.0)
    assert not foreign(with_it)
