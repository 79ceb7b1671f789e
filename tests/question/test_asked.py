"""What the words of a question ask for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.question.type_profile import (
    Example,
    affinities,
    asked_kind,
    by_facts,
    by_words,
    standardised,
    type_profile,
    worded,
)
from graphsearch.text.analyser import VERBATIM


def profiled(vectors, *facts):
    """The profile of examples written as "type: fact"."""
    rows = [line.split(": ") for line in facts]
    examples = [
        Example(type=name, source_kind="person", target_kind="lamp", names=(), line="", fact=fact)
        for name, fact in rows
    ]
    return type_profile(examples, np.array(vectors, np.float32).reshape(len(rows), -1), VERBATIM)


THREE = profiled(
    [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], "lights: sets fire to the wick", "rows: pulls oars", "tends: trims the wick"
)


def test_values_in_standard_deviations_from_their_mean():
    assert standardised(np.array([1.0, 2.0, 3.0])) == pytest.approx([-1.22474487, 0.0, 1.22474487])
    assert standardised(np.array([0.0, 0.0, 0.0, 2.0])) == pytest.approx([-0.57735027] * 3 + [1.73205081])
    assert standardised(np.array([0.3, 0.3])).tolist() == [0.0, 0.0]
    assert standardised(np.array([0.3])).tolist() == [0.0]
    assert standardised(np.empty(0)).tolist() == []


def test_a_type_is_asked_for_by_the_words_of_its_facts_and_by_its_name():
    lights, rows, tends = by_words(THREE, ["wick"])
    assert rows == 0.0 < lights < tends  # in the longer document the word counts less
    lights, rows, tends = by_words(THREE, ["rows"])
    assert lights == tends == 0.0 < rows
    assert by_words(THREE, ["song"]).tolist() == [0.0, 0.0, 0.0]


def test_each_word_counts_once_in_any_order():
    once = by_words(THREE, ["wick", "rows"])
    assert by_words(THREE, ["rows", "wick", "wick"]) == pytest.approx(once)
    assert once == pytest.approx(by_words(THREE, ["wick"]) + by_words(THREE, ["rows"]))


def test_the_share_of_a_question_that_belongs_to_a_type():
    row = THREE.row_of("rows")
    assert worded(THREE, ["rows"], row) == 1.0
    assert worded(THREE, ["wick"], row) == 0.0
    assert worded(THREE, ["rows", "oars"], row) == 1.0
    # "song", of no type, weighs ln 8, and "rows", of one type of three, ln (8 / 3)
    assert worded(THREE, ["rows", "song"], row) == pytest.approx(0.98082925 / (0.98082925 + 2.07944154))
    assert worded(THREE, [], row) == 0.0
    best = worded(THREE, ["wick"], THREE.row_of("tends"))
    assert 0.0 < worded(THREE, ["wick"], THREE.row_of("lights")) < best == 1.0


def test_a_type_is_as_near_as_its_three_best_facts_on_average():
    one_type = profiled([[0.9, 0], [0.1, 0], [0.6, 0], [0.3, 0], [0.5, 1]], *["lights: x"] * 4, "rows: y")
    question = np.array([1.0, 0.0], np.float32)
    assert by_facts(one_type, question) == pytest.approx([0.6, 0.5])  # (0.9 + 0.6 + 0.3) / 3


def test_without_an_embedder_words_alone_count():
    words = affinities(THREE, ["rows"])
    assert words == pytest.approx([-0.70710678, 1.41421356, -0.70710678])
    assert affinities(THREE, []).tolist() == [0.0, 0.0, 0.0]


def test_meaning_of_names_ends_and_facts_count_alike():
    """Words say rows, meaning says lights three times: z-scores of (0, 1, 0) and of (1, 0, 0.6) · 3."""
    question = np.array([1.0, 0.0], np.float32)
    names = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], np.float32)
    found = affinities(THREE, ["rows"], (question, names, names))
    meaning = np.array([1.135550, -1.297771, 0.162221])  # (x − 0.53333) / 0.41096
    total = np.array([-0.70710678, 1.41421356, -0.70710678]) + 3 * meaning
    assert found == pytest.approx(total / total.std(), rel=1e-4)
    assert found.argmax() == THREE.row_of("lights")


def test_facts_of_another_length_do_not_count():
    question = np.array([1.0, 0.0, 0.0], np.float32)
    names = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    found = affinities(THREE, [], (question, names, names))
    assert found == pytest.approx([1.41421356, -0.70710678, -0.70710678])


unit = st.floats(-1, 1, width=32)
rows = st.lists(st.lists(unit, min_size=2, max_size=2), min_size=3, max_size=3).map(
    lambda each: np.array(each, np.float32)
)
vectors = st.lists(unit, min_size=2, max_size=2).map(lambda each: np.array(each, np.float32))
terms = st.lists(st.sampled_from(["wick", "rows", "song", "trims", "person"]), max_size=5)


@given(terms, vectors, rows, rows)
def test_affinities_are_standard_deviations_over_the_types(asked, vector, phrases, typed):
    found = affinities(THREE, asked, (vector, phrases, typed))
    assert found.mean() == pytest.approx(0.0, abs=1e-9)
    assert found.std() == pytest.approx(1.0) or not found.any()
    assert affinities(THREE, asked[::-1], (vector, phrases, typed)) == pytest.approx(found, abs=1e-6)


@given(terms, st.integers(0, 2))
def test_a_share_of_words_is_a_share(asked, row):
    assert 0.0 <= worded(THREE, asked, row) <= 1.0 + 1e-12


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
