"""The terms of lines, and the share of a question's words that they cover."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.ranking import entity_relevance as room
from graphsearch.ranking.entity_relevance import LineTerms
from graphsearch.text.analyser import VERBATIM, Analyser


def counted(texts, analyser=VERBATIM, kept=None):
    """Lines of which only the facts say something: relations need have no ends to be counted."""
    return (kept or LineTerms()).count([("", "", "", text) for text in texts], analyser)


def covered(lines, rarity):
    return counted(lines).coverage(rarity).tolist()


def test_a_line_of_usual_length_with_every_term_holds_all():
    assert covered(["ines trims wick"], {"trims": 2.0, "wick": 1.0}) == [1.0]


def test_a_line_holds_the_idf_of_its_terms():
    found = covered(["ines trims oars", "orla mends wick", "moss sings songs"], {"trims": 3.0, "wick": 1.0})
    assert found == pytest.approx([0.75, 0.25, 0.0])


def test_long_lines_hold_less_and_short_ones_no_more_than_all():
    """Of 1 and 3 terms, 2 on average: 2.2 / (1 + 1.2 · (0.25 + 0.75 · 1.5)) = 0.830."""
    assert covered(["wick", "wick oil rope"], {"wick": 1.0}) == pytest.approx([1.0, 0.8301887])


def test_a_term_twice_counts_more_but_not_twice():
    """2.2 · 2 / (2 + 1.2 · (0.25 + 0.75 · 1)), as much as 1.375 terms; and one that is not there."""
    assert covered(["wick wick"], {"wick": 1.0, "oil": 1.0}) == pytest.approx([0.6875])


def test_a_question_without_words_is_held_by_no_line():
    assert covered(["wick"], {}) == [0.0]
    assert covered([], {"wick": 1.0}) == []
    assert covered(["", "…"], {"wick": 1.0}) == [0.0, 0.0]


def test_lines_that_were_read_before_are_not_read_again(monkeypatch):
    monkeypatch.setattr(room, "KEPT_LINES", 2)
    kept, read = LineTerms(), []

    class Remembering(Analyser):
        def terms(self, text):
            read.extend([text] if text else [])
            return super().terms(text)

    analyser = Remembering(name="remembering")

    def again(*written):
        return counted(written, analyser, kept).coverage({"wick": 1.0, "oil": 2.0}).tolist()

    first = again("wick oil", "oil rope")
    assert again("wick oil", "oil rope") == first
    assert read == ["wick oil", "oil rope"]
    read.clear()
    again("wick")  # there is room for no more: the others are forgotten
    assert again("wick oil", "oil rope") == first
    assert read == ["wick", "wick oil", "oil rope"]


words = st.sampled_from(["wick", "oil", "rope", "lamp", "sail"])
lines = st.lists(st.lists(words, max_size=6).map(" ".join), max_size=5)
rarities = st.dictionaries(words, st.floats(0.1, 5.0), max_size=4)


@given(lines, rarities, st.randoms())
def test_a_share_is_a_share_whatever_the_order(written, rarity, random):
    found = covered(written, rarity)
    kept = LineTerms()
    for _ in range(2):
        assert counted(written, kept=kept).coverage(rarity).tolist() == found
    assert all(0.0 <= each <= 1.0 for each in found)
    order = list(range(len(written)))
    random.shuffle(order)
    assert covered([written[at] for at in order], rarity) == pytest.approx([found[at] for at in order])


def test_what_lines_hold_at_all_does_not_depend_on_their_length():
    names = {"abbey": 3.0, "bridge": 1.0}
    lines = ["who built abbey bridge long ago", "bridge bridge", "ferry"]
    assert counted(lines).shares(names).tolist() == [1.0, 0.25, 0.0]
    assert counted(lines[:1]).shares({}).tolist() == [0.0]
    assert counted([]).shares(names).tolist() == []


def test_a_line_has_the_words_of_its_names_and_of_its_type_too():
    lines = [("Ines Moss", "looks_after", "the lamp", "since May"), ("Orla", "mends", "Ines Moss", "")]
    found = LineTerms().count(lines, VERBATIM)
    assert found.shares({"ines": 1.0, "looks": 2.0, "lamp": 1.0}).tolist() == [1.0, 0.25]
    assert found.lengths.tolist() == [len(["Ines", "Moss", "looks", "after", "the", "lamp", "since", "May"]), 4]
