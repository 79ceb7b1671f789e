"""Excerpts of long memories: the sentences that hold most of a question, in order, with omissions marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphsearch.context.material import CUT, excerpt, size

WEIGHTS = {"river": 3.0, "falls": 2.0, "city": 1.0}


def terms(text: str) -> list[str]:
    return text.lower().replace(".", "").replace(CUT, "").split()


def test_a_short_text_is_shown_whole():
    assert excerpt("The river rose.\n\nAnd fell.", WEIGHTS, terms, 5) == "The river rose.\n\nAnd fell."


def test_the_sentences_that_hold_most_of_the_question_are_shown_and_the_cuts_marked():
    text = "It is old. The river is long. Nobody goes there now. The falls are high. It is cold."
    assert excerpt(text, WEIGHTS, terms, 8) == f"{CUT} The river is long. {CUT} The falls are high. {CUT}"
    assert excerpt(text, WEIGHTS, terms, 4) == f"{CUT} The river is long. {CUT}"


def test_a_term_that_was_shown_counts_less_than_a_new_one():
    text = "The river is long. The river is wide. The city is old and has many bridges."
    assert (
        excerpt(text, {"river": 3.0, "city": 1.0}, terms, 13)
        == f"The river is long. {CUT} The city is old and has many bridges."
    )


def test_what_stands_apart_from_the_question_is_left_out_though_there_is_room():
    text = "It is old. So it goes. The river is long. Nobody goes there now. It rains. It is cold. It is late."
    assert (
        excerpt(text, WEIGHTS, terms, 21) == f"It is old. So it goes. The river is long. Nobody goes there now. {CUT}"
    )


def test_without_any_term_the_first_sentences_are_shown():
    assert (
        excerpt("One two three. Four five six. Seven eight nine.", {}, terms, 6)
        == f"One two three. Four five six. {CUT}"
    )


def test_a_sentence_that_is_too_long_is_taken_in_pieces():
    text = "a b c d e f river h i j"
    assert excerpt(text, WEIGHTS, terms, 4) == f"{CUT} e f river h {CUT}"


def test_a_script_without_spaces_has_a_size():
    text = "薔薇が咲く" * 40
    assert size(text) == 25
    assert excerpt(text, {}, list, 10) == text[:80] + f" {CUT}"


@given(st.text(alphabet="ab. \n薔", max_size=200), st.integers(1, 20))
def test_an_excerpt_is_of_the_text_and_no_longer_than_asked(text, words):
    shown = excerpt(text, {"a": 1.0}, terms, words)
    if size(text) <= words:
        assert shown == text
        return
    parts = [part.strip() for part in shown.split(CUT)]
    whole = " ".join(text.split())
    assert all(" ".join(part.split()) in whole for part in parts)
    assert sum(size(part) for part in parts) <= 2 * words
