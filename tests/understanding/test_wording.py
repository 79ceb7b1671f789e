"""Which words of a scope are names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.understanding.type_profile import Wording

LIGHTS = Wording(
    naming={"harbour": 1, "ines": 4, "crew": 3}, telling={"harbour": 3, "lamp": 2}, type_terms=frozenset({"crew"})
)


def test_the_share_of_facts_in_which_a_word_is_part_of_a_name():
    assert LIGHTS.nameness("harbour", ["harbour"]) == pytest.approx(0.25)
    assert LIGHTS.nameness("ines", ["ines"]) == 1.0
    assert LIGHTS.nameness("lamp", ["lamp"]) == 0.0


def test_a_word_of_no_fact_may_be_a_name():
    assert LIGHTS.nameness("tamsin", ["tamsin"]) == 1.0


def test_a_word_of_a_type_names_nothing_by_itself_however_it_is_used():
    assert LIGHTS.nameness("crews", ["crew"]) == 0.0
    assert LIGHTS.usage("crew") == 1.0


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 5)),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 5)),
)
def test_a_share_is_a_share(naming, telling):
    wording = Wording(naming=naming, telling=telling, type_terms=frozenset())
    for word in "abc":
        assert 0.0 <= wording.nameness(word, [word]) <= 1.0
