"""Words with their identifiers, the light stemmer, and the analysers that documents and questions share."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError, MissingExtraError
from graphsearch.text.analyser import (
    ENGLISH,
    MAX_TERM_LENGTH,
    STOP_WORDS,
    VERBATIM,
    Analyser,
    analyser_of,
    identifier_words,
    stem,
    terms,
    words,
)
from tests.waiting import calls


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
def test_work_is_linear(unit: str) -> None:
    terms(unit)
    short, long = calls(lambda: terms(unit * 500)), calls(lambda: terms(unit * 4_000))
    assert long <= 9 * short


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
