"""The analyser that documents and questions share."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError, MissingExtraError
from graphsearch.text.analyser import ENGLISH, MAX_TERM_LENGTH, VERBATIM, Analyser, analyser_of, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("where are the TLS handshakes done?", ["tls", "handshak", "don"]),
        (
            "two cities, 東京 and ssl.SSLSockets",
            ["two", "citi", "東京", "ssl.sslsockets", "ssl", "sslsocket", "ssl", "socket"],
        ),
        ("the and of to", []),
        ("", []),
    ],
)
def test_english(text: str, expected: list[str]) -> None:
    assert ENGLISH.terms(text) == expected


def test_verbatim_keeps_every_word() -> None:
    assert VERBATIM.terms("Where are the cities?") == ["where", "are", "the", "cities"]


def test_parts_are_optional() -> None:
    assert Analyser(name="a", stop_words=frozenset({"the"})).terms("the cities") == ["cities"]
    assert Analyser(name="b", stem=lambda word: word[:2]).terms("the cities") == ["th", "ci"]
    assert Analyser(name="c", stem=lambda _: "").terms("the cities") == ["the", "cities"]
    assert Analyser(name="d", stem=lambda word: word * 999).terms("x") == ["x" * MAX_TERM_LENGTH]


def test_a_wrong_analyser_is_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        Analyser(name=" ", stop_words=frozenset({""}), stem="porter")  # type: ignore[arg-type] # what is refused
    assert len(caught.value.faults) == 3


@given(st.text())
def test_every_analyser_makes_terms_that_stores_can_hold(text: str) -> None:
    for analyser in (ENGLISH, VERBATIM, analyser_of("german")):
        for term in analyser.terms(text):
            assert 0 < len(term) <= MAX_TERM_LENGTH
            assert "\0" not in term
            assert term.encode()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("german", "Die Häuser und das Haus", ["haus", "haus"]),
        ("french", "les maisons et la maison", ["maison", "maison"]),
        ("english", "the relational relations of nations", ["relat", "relat", "nation"]),
        ("ukrainian", "він і місто", ["місто"]),  # stop words alone
        ("sesotho", "motho le batho", None),  # a stemmer alone
    ],
)
def test_languages(language: str, text: str, expected: list[str] | None) -> None:
    analyser = analyser_of(language)
    assert analyser.name == f"snowball-{language}/1"
    if expected is None:
        assert not analyser.stop_words
        assert len(analyser.terms(text)) == len(words(text))
    else:
        assert analyser.terms(text) == expected


def test_an_unknown_language_names_the_known() -> None:
    with pytest.raises(InvalidInputError, match=r"language must be one of 'arabic', .* not 'klingon'"):
        analyser_of("klingon")


@pytest.mark.parametrize("package", ["Stemmer", "stop_words"])
def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"graphsearch\[languages\]"):
        analyser_of("german")


def test_threads_share_a_stemmer() -> None:
    text = " ".join(f"{start}{end}" for start in ("haus", "wald", "stadt") for end in ("es", "en", "er", "ung", "heit"))
    expected = analyser_of("german").terms(text)
    shared, ready = analyser_of("german"), threading.Barrier(4)

    def terms() -> list[str]:
        ready.wait()
        return shared.terms(text)

    with ThreadPoolExecutor(4) as pool:
        assert [future.result() for future in [pool.submit(terms) for _ in range(4)]] == [expected] * 4
