"""The analyser that both stores share."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.text.analyser import MAX_TERM_LENGTH, STOP_WORDS, identifier_words, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("where is the TLS handshake done?", ["tls", "handshake", "done"]),
        (
            "ssl.SSLSocket.do_handshake",
            ["ssl.sslsocket.do_handshake", "ssl", "sslsocket", "ssl", "socket", "do_handshake", "handshake"],
        ),
        ("snake_case camelCase", ["snake_case", "snake", "case", "camelcase", "camel", "case"]),
        ("HTTPServer2", ["httpserver2", "http", "server2"]),
        ("__init__ _ ___ _._", ["__init__", "init"]),
        ("3.14 v1.2 python3.11", ["3", "14", "v1", "2", "python3", "11"]),
        ("don't the user's users’", ["user", "users"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("ﬁne Ａda", ["fine", "ada"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("東京タワーtower 東", ["東京", "京タ", "タワ", "ワー", "tower", "東"]),
        ("東京.tower", ["東京", "tower"]),
        ("ΑΒΓδ", ["αβγδ", "αβ", "γδ"]),
        ("", []),
        (" + - * / % _ \\ . \0 '' ", []),
        ("the and of to", []),
        ("100% of a_b\0c", ["100", "a_b", "b", "c"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(st.text())
def test_any_text_has_terms_that_every_store_can_hold(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= MAX_TERM_LENGTH
        assert term not in STOP_WORDS
        assert term.encode()
        assert "\0" not in term
        assert not any(character.isspace() for character in term)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_of_a_plain_word_does_not_matter(text: str) -> None:
    word = "".join(character for character in text if character.isalpha())
    assert terms(word.lower()) == terms(word.capitalize()) == terms(word.upper())


@given(st.lists(st.sampled_from(["tls", "handshake", "the", "SSLSocket", "東京", "a_b"])))
def test_terms_of_words_are_the_words_terms_one_after_another(words: list[str]) -> None:
    assert terms(" ".join(words)) == [term for word in words for term in terms(word)]


@pytest.mark.parametrize(
    "unit", ["the quick ", "東京", "A", "aB", "a.", "._", "'", "n't", "é", "+-*/", "हिन्", "the ", "ß ", "\ufdfa"]
)
def test_time_is_linear(unit: str) -> None:
    def seconds(repetitions: int) -> float:
        started = time.perf_counter()
        terms(unit * repetitions)
        return time.perf_counter() - started

    short = min(seconds(2_000) for _ in range(3))
    long = min(seconds(20_000) for _ in range(3))
    assert long < 60 * short + 0.05


def test_an_endless_word_is_known_by_its_beginning() -> None:
    assert terms("A" * 100_000) == ["a" * MAX_TERM_LENGTH]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ssl.SSLSocket.do_handshake", "ssl SSL Socket do handshake"),
        ("the parseURL function, in utils_2.io!", "the parse URL function, in utils 2 io!"),
        ("pi is 3.14", "pi is 3.14"),
        ("nothing to split", "nothing to split"),
        ("", ""),
    ],
)
def test_identifier_words(text: str, expected: str) -> None:
    assert identifier_words(text) == expected
