"""The light stemmer: forms of a word that share a stem, and words that must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.text.analyser import stem


@pytest.mark.parametrize(
    "forms",
    [
        "city cities",
        "hope hopes hoped hoping",
        "class classes",
        "box boxes boxed boxing",
        "bus buses",
        "hero heroes",
        "stop stops stopped stopping",
        "call calls called calling",
        "pass passes passed passing",
        "study studies studied studying",
        "try tries tried trying",
        "agree agrees agreed agreeing",
        "need needs needed needing",
        "meet meets meeting meetings",
        "see sees seeing",
        "play plays played playing",
        "connect connects connected connecting",
        "movie movies",
    ],
)
def test_forms_fold_together(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1, {form: stem(form) for form in forms.split()}


@pytest.mark.parametrize(
    "others",
    ["red king sing string thing bed", "us use", "connect connection", "univers universal", "ada adas-x"],
)
def test_other_words_stay_apart(others: str) -> None:
    words = others.split()
    assert len({stem(word) for word in words}) == len(words), {word: stem(word) for word in words}


@pytest.mark.parametrize(
    "word", ["as", "gas", "status", "lass", "red", "bring", "need", "s", "ed", "ing", "e", "y", ""]
)
def test_these_stay_as_they_are(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize("word", ["städte", "do_handshakes", "python3s", "ssl.sockets", "東京"])
def test_what_is_no_plain_word_stays_as_it_is(word: str) -> None:
    assert stem(word) == word


@given(st.from_regex("[a-z]+(ies|es|s|eed|ed|ing|e|y)?", fullmatch=True))
def test_a_fold_is_short_and_never_empty(word: str) -> None:
    assert 0 < len(stem(word)) <= len(word)
    assert len(stem(word)) >= min(len(word), 2)
