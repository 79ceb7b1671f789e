"""Trigrams and their similarity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.text.trigrams import (
    MAX_NAME_WORDS,
    MAX_WORD_LENGTH,
    fold,
    index_trigrams,
    initials,
    name_words,
    similarity,
    spoken_words,
    trigrams,
)


def test_vowels_written_as_marks_are_part_of_words() -> None:
    assert len(trigrams("हिन्दी")) == len("हिन्दी") + 1
    assert trigrams("Jose\u0301") == trigrams("Jose")
    assert trigrams("❤\ufe0f") == frozenset()


def test_trigrams_are_of_folded_words_with_two_spaces_before_and_one_behind() -> None:
    assert trigrams("Ada B_2") == {"  a", " ad", "ada", "da ", "  b", " b ", "  2", " 2 "}
    assert trigrams("JOSÉ") == trigrams("jose")


@given(st.text(), st.text())
def test_similarity_is_symmetrical_and_a_share(a: str, b: str) -> None:
    assert similarity(a, b) == similarity(b, a)
    assert 0 <= similarity(a, b) <= 1
    assert similarity(a, a) == (1 if trigrams(a) else 0)


@given(st.text(alphabet="abc é", max_size=12), st.text(alphabet="abc é", max_size=12), st.floats(0.01, 1))
def test_names_that_are_alike_share_a_trigram_of_the_index(a: str, b: str, threshold: float) -> None:
    if similarity(a, b) >= threshold:
        assert set(index_trigrams(a, threshold)) & set(index_trigrams(b, threshold))


@given(st.text(), st.sampled_from([0.6, 0.85, 1.0]))
def test_the_index_has_only_as_many_trigrams_as_needed(name: str, threshold: float) -> None:
    every, kept = trigrams(name), index_trigrams(name, threshold)
    assert set(kept) <= every
    assert len(kept) == len(set(kept))
    assert bool(kept) == bool(every)
    assert len(kept) <= (1 - threshold) * len(every) + 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("International Business Machines", ("international", "business", "machines", "ibm")),
        ("scikit-learn", ("scikit", "learn", "scikitlearn", "sl")),
        ("JavaScript", ("javascript", "js")),
        ("José O’Brien", ("jose", "obrien", "joseobrien", "jo")),
        ("C++", ("c++",)),
        ("src/auth/login.py", ("src", "auth", "login", "py", "srcauthloginpy", "salp")),
        ("Ørsted Łódź", ("orsted", "lodz", "orstedlodz", "ol")),
        ("日本語", ("日本語",)),
        (" _ %", ()),
    ],
)
def test_the_words_that_a_name_is_found_by(name: str, words: tuple[str, ...]) -> None:
    found = name_words(name)
    assert [word for word in found if word in words] == list(words)
    assert set(found) <= {*words, "".join(spoken_words(name))}


@given(st.text())
def test_any_name_has_few_words_that_every_store_can_hold(name: str) -> None:
    words = name_words(name)
    assert len(words) <= MAX_NAME_WORDS + 3
    assert len(words) == len(set(words))
    for word in words:
        assert 0 < len(word) <= MAX_WORD_LENGTH
        assert not any(character.isspace() or character == "\0" for character in word)
        assert word.encode()


def test_what_is_no_name_is_found_by_its_first_words() -> None:
    assert len(name_words("word " * 500 + "and more " * 500)) <= MAX_NAME_WORDS + 3
    assert initials("word " * 500) == ("w" * MAX_NAME_WORDS, "w" * MAX_NAME_WORDS)
    assert initials("Word") == ("", "")
    assert initials("Massachusetts Institute of Technology") == ("miot", "mit")


@given(st.text())
def test_folding_is_done_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_folding_keeps_the_vowels_of_scripts_that_write_them_as_marks() -> None:
    assert fold("हिन्दी") == "हिन्दी"
    assert fold("ＪＯＳÉ") == fold("jose\u0301") == "jose"
