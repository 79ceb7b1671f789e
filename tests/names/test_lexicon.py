"""What is known of single words."""

import pytest

from graphsearch.names.lexicon import (
    CALENDAR,
    CAPITALISED,
    DEMONYM,
    FUNCTION,
    GIVEN,
    LETTERS,
    ORDINARY,
    PLACE,
    SURNAME,
    flags,
)


@pytest.mark.parametrize(
    ("word", "has", "has_not"),
    [
        ("table", ORDINARY, CAPITALISED | GIVEN | PLACE | CALENDAR | DEMONYM | SURNAME),
        ("gonna", ORDINARY, GIVEN | SURNAME),
        ("SOOOOO", ORDINARY, GIVEN | SURNAME),
        ("Valentina", GIVEN, ORDINARY),
        ("Agnieszka", GIVEN, ORDINARY),
        ("ADRIAN", GIVEN, DEMONYM),
        ("mark", GIVEN | ORDINARY, PLACE),
        ("Nguyen", SURNAME, ORDINARY),
        ("oslo", PLACE, ORDINARY),
        ("Costa Rica", PLACE, ORDINARY),
        ("with", ORDINARY | FUNCTION, GIVEN),
        ("may", CALENDAR | ORDINARY, PLACE),
        ("thursday", CALENDAR, DEMONYM),
        ("danish", DEMONYM, ORDINARY),
        ("libyan", DEMONYM, GIVEN),
    ],
)
def test_flags(word: str, has: int, has_not: int) -> None:
    assert flags(word) & has == has
    assert not flags(word) & has_not


@pytest.mark.parametrize("word", ["", "zorvexil", "東京に", "·", "o", "a b c"])
def test_what_is_unknown_has_no_flag_of_a_name(word: str) -> None:
    assert not flags(word) & (GIVEN | PLACE | CALENDAR | DEMONYM | SURNAME)


def test_ordinary_words() -> None:
    assert flags("Tables") & ORDINARY
    assert not flags("Halvorsen") & ORDINARY


def test_each_flag_is_a_bit_of_its_own() -> None:
    assert sum(LETTERS.values()) == 2 ** len(LETTERS) - 1
