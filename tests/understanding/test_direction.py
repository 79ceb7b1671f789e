"""Which end of a relation the one name in a question is."""

import pytest

from graphsearch.text.analyser import ENGLISH
from graphsearch.understanding.direction import SOURCE, TARGET, directions, verb_of

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
