"""What "who", "where" and "which crew" want."""

import pytest

from graphsearch.understanding.interpreting import asked_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("who tends the lamp", "person human individual"),
        ("by whom is it kept", "person human individual"),
        ("whose crew is it", "person human individual"),
        ("where is the lamp", "place location site"),
        ("when did it open", "date time"),
        ("which crew rows", "crew rows"),
        ("on which pier", "pier"),
        ("which life boat is it", "life boat"),
        ("which life boat crew rows", "life boat"),
        ("what boat is it", "boat"),
        ("what is it", ""),
        ("which of them rows", ""),
        ("what", ""),
        ("", ""),
        ("tell me of Ines", ""),
        ("what is the crew that rows where", "place location site"),
    ],
)
def test_the_first_question_word_that_tells(question, kind):
    assert asked_kind(question.split(), lambda word: False) == kind


def test_what_follows_a_kind_of_the_scope_is_none():
    words = ["which", "inspector", "looks", "after", "the", "pier"]
    assert asked_kind(words, {"inspector", "looks"}.__contains__) == "inspector"
    assert asked_kind(words, {"pier"}.__contains__) == "inspector looks"
