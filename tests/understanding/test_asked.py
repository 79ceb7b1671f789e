"""What the words of a question ask for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.text.analyser import ENGLISH, VERBATIM
from graphsearch.understanding.asked import (
    SOURCE,
    TARGET,
    affinities,
    asked_kind,
    by_facts,
    by_words,
    directions,
    standardised,
    worded,
)
from graphsearch.understanding.type_profile import Example, type_profile, verb_of


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
    words = affinities(THREE, ["rows"], None, None, None)
    assert words == pytest.approx([-0.70710678, 1.41421356, -0.70710678])
    assert affinities(THREE, [], None, None, None).tolist() == [0.0, 0.0, 0.0]


def test_meaning_of_names_ends_and_facts_count_alike():
    """Words say rows, meaning says lights three times: z-scores of (0, 1, 0) and of (1, 0, 0.6) · 3."""
    question = np.array([1.0, 0.0], np.float32)
    names = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], np.float32)
    found = affinities(THREE, ["rows"], question, names, names)
    meaning = np.array([1.135550, -1.297771, 0.162221])  # (x − 0.53333) / 0.41096
    total = np.array([-0.70710678, 1.41421356, -0.70710678]) + 3 * meaning
    assert found == pytest.approx(total / total.std(), rel=1e-4)
    assert found.argmax() == THREE.row_of("lights")


def test_facts_of_another_length_do_not_count():
    question = np.array([1.0, 0.0, 0.0], np.float32)
    names = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    found = affinities(THREE, [], question, names, names)
    assert found == pytest.approx([1.41421356, -0.70710678, -0.70710678])


unit = st.floats(-1, 1, width=32)
rows = st.lists(st.lists(unit, min_size=2, max_size=2), min_size=3, max_size=3).map(
    lambda each: np.array(each, np.float32)
)
vectors = st.lists(unit, min_size=2, max_size=2).map(lambda each: np.array(each, np.float32))
terms = st.lists(st.sampled_from(["wick", "rows", "song", "trims", "person"]), max_size=5)


@given(terms, vectors, rows, rows)
def test_affinities_are_standard_deviations_over_the_types(asked, vector, phrases, typed):
    found = affinities(THREE, asked, vector, phrases, typed)
    assert found.mean() == pytest.approx(0.0, abs=1e-9)
    assert found.std() == pytest.approx(1.0) or not found.any()
    assert affinities(THREE, asked[::-1], vector, phrases, typed) == pytest.approx(found, abs=1e-6)


@given(terms, st.integers(0, 2))
def test_a_share_of_words_is_a_share(asked, row):
    assert 0.0 <= worded(THREE, asked, row) <= 1.0 + 1e-12


TYPES = {0: "leads", 1: "owned by", 2: "works with", 3: "of", 4: "feeds"}


def asked(question, *names, types=TYPES, longest=8):
    words = question.split()
    verbs = [verb_of(types[row], ENGLISH.terms) if row in types else None for row in range(5)]
    return directions(words, [word in names for word in words], verbs, ENGLISH.terms, longest)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who does ines lead", {0: SOURCE}),
        ("what crew did ines lead", {0: SOURCE}),
        ("who leads ines", {0: TARGET}),
        ("who is leading ines", {0: TARGET}),
        ("who is ines led by", {}),  # "led" is another term than "leads"
        ("who is ines leading by", {0: TARGET}),
        ("what is feeding by ines", {4: SOURCE}),
        ("what does ines own", {}),
        ("what is ines", {}),
    ],
)
def test_the_order_of_a_names_words_and_a_verb(question, expected):
    assert asked(question, "ines", types={0: "leads", 4: "feeds"}) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what is owned by ines", {1: TARGET}),
        ("who is the pier owned by", {1: SOURCE}),
        ("who owned the pier", {1: SOURCE}),
        ("what has ines owned", {}),
        ("what does ines owned", {1: TARGET}),
    ],
)
def test_a_type_in_the_passive_has_its_ends_the_other_way_round(question, expected):
    assert asked(question, "ines", "pier") == expected


def test_a_verb_after_a_name_without_a_word_that_helps_says_nothing():
    assert asked("the crew ines leads", "ines") == {}


def test_a_helping_word_before_the_name_and_a_verb_before_both_say_nothing():
    assert asked("leads does ines", "ines") == {}


def test_a_helping_word_far_before_the_name_helps_nothing():
    assert asked("does the old tall ines lead", "ines") == {}
    assert asked("does the tall ines lead", "ines") == {0: SOURCE}


def test_names_of_several_words_and_none_at_all():
    assert asked("who does ines vale lead", "ines", "vale") == {0: SOURCE}
    assert asked("who leads") == {}


def test_of_two_names_far_apart_nothing_is_read():
    assert asked("who leads ines and not the orla", "ines", "orla", longest=8) == {0: TARGET}
    assert asked("who leads ines and not the orla", "ines", "orla", longest=3) == {}


@pytest.mark.parametrize(
    ("type", "question", "expected"),
    [
        ("stars", "who stars in ines", {}),
        ("stars", "who stars ines", {0: TARGET}),
        ("stars", "what does ines star in", {}),
        ("stars", "who is the star of ines", {}),
        ("managed for", "what does ines manage", {0: SOURCE}),
    ],
)
def test_a_preposition_makes_another_verb(type, question, expected):
    assert asked(question, "ines", types={0: type}) == expected


def test_behind_a_possessive_comes_a_noun():
    assert asked("who is ines s lead", "ines") == {}
    assert asked("ines s lead", "ines") == {}


def test_types_without_a_verb_and_mutual_ones_have_no_direction():
    assert asked("who works with ines", "ines") == {}
    assert asked("who is of ines", "ines") == {}


def test_the_first_word_of_a_type_that_says_something_is_its_verb():
    assert asked("what is part of ines", "ines", types={0: "is part of"}) == {0: TARGET}
    assert asked("what is ines", "ines", types={0: "is part of"}) == {}


def test_a_verb_inside_of_a_name_is_none():
    assert asked("who does lead ines row", "lead", "ines") == {}
    assert asked("who saw lead ines", "lead", "ines") == {}
    assert asked("who leads lead ines", "lead", "ines") == {0: TARGET}


def test_a_type_with_a_preposition_tells_its_ends_apart_by_that_alone():
    types = {0: "served at", 1: "complained about", 2: "poured by glass at"}
    assert asked("who served ines", "ines", types=types) == {}
    assert asked("what is served at ines", "ines", types=types) == {0: TARGET}
    assert asked("who complained about ines", "ines", types=types) == {1: TARGET}
    assert asked("who did ines complained about", "ines", types=types) == {1: SOURCE}
    assert asked("where is ines poured by the glass", "ines", types=types) == {2: SOURCE}


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
