"""Names in sentences, in any case."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.names import tagger
from graphsearch.names.tagger import TAGS, casing, features
from graphsearch.text.tokens import sentences, tokens
from tests.waiting import calls

SENTENCES = [
    ("Olga Brandvik left Quillon Foods in March.", ["Olga Brandvik", "Quillon Foods"]),
    ("yesterday i met tomasz wilczek from brixmoor in lisbon", ["tomasz wilczek", "brixmoor", "lisbon"]),
    ("Our shift lead Marek Oduya moved to Norway.", ["Marek Oduya", "Norway"]),
    ("i asked priya about it, she said that fjordex is down", ["priya", "fjordex"]),
    ("She is from Lagos and works with Jorun.", ["Lagos", "Jorun"]),
    ("the build is red again, can you have a look?", []),
    ("lol that was sooo funny hahaha", []),
    ("We had lunch on Friday and it was great.", []),
]


def tag_sentences(sentences):
    return [*tagger.tag_sentences(sentences)]


def cut(text: str) -> list[str]:
    return [word.text for word in tokens(text)]


def named(text: str) -> list[str]:
    words = cut(text)
    return [" ".join(words[first:end]) for first, end, _, _ in tag_sentences([words])[0]]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_names_are_found_in_any_case(text: str, expected: list[str]) -> None:
    assert named(text) == expected


def test_kinds_that_a_sentence_shows() -> None:
    (found,) = tag_sentences([cut("Olga Brandvik lives in Portugal with her sister Ines Carvalho.")])
    assert [kind for _, _, kind, _ in found] == ["person", "place", "person"]
    assert all(margin > 0 for *_, margin in found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "東京に行きました。とても楽しかったです。",
        "Компания подписала договор с Ольгой Брандвик.",
        "die neue leiterin hat gestern den vertrag mit der firma unterschrieben",
        "nous avons signé hier le contrat avec la société",
        "qwkejh zxmcnb pwoeir lskdjf mzxnv",
        "x" * 100_000,
        "@olga.b #quillon https://quillon.example/a `olga`",
        "!!! ??? ... 12 3,4 -- (",
    ],
)
def test_what_cannot_be_read_has_no_names(text: str) -> None:
    words = cut(text)
    found = tag_sentences([words[first:end] for first, end in sentences(text, tokens(text))])
    assert [names for names in found if names] == []


def test_no_sentence_changes_another() -> None:
    split = [cut(text) for text, _ in SENTENCES]
    together = tag_sentences([[], *split, [], *split])
    assert together == [[], *(tag_sentences([words])[0] for words in split), [], *together[1 : len(split) + 1]]
    assert tag_sentences([]) == []


def test_many_sentences_are_tagged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    split = [cut(text) for text, _ in SENTENCES]
    together = tag_sentences(split)
    monkeypatch.setattr(tagger, "_CHUNK", 10)
    assert tag_sentences(split) == together


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("olga left", "l"),
        ("I think I know", "l"),
        ("12 , 3", "l"),
        ("Olga", "s"),
        ("She left yesterday", "s"),
        ("olga met Marek", "s"),
        ("Olga Brandvik", "m"),
        ("Olga Brandvik left Quillon Foods .", "m"),
        ("THE BUILD IS RED", "u"),
        ("I AM OLGA", "u"),
        ("NASA", "s"),
    ],
)
def test_casing(text: str, expected: str) -> None:
    assert casing(text.split()) == expected


@given(st.lists(st.lists(st.text(min_size=1), max_size=5), max_size=4))
def test_names_lie_in_their_sentence_one_after_the_other(texts: list[list[str]]) -> None:
    for words, names in zip(texts, tag_sentences(texts), strict=True):
        places = [place for first, end, _, _ in names for place in (first, end)]
        assert places == sorted(places)
        assert all(first < end <= len(words) for first, end, _, _ in names)


def test_a_feature_of_a_word_does_not_depend_on_sentences_beside_it() -> None:
    alone = features([["Olga", "left"]])
    assert np.array_equal(features([["no"], ["Olga", "left"], ["no"]])[1:3], alone)
    assert len({*alone[0].tolist()} & {*alone[1].tolist()}) < len(TAGS)


def test_work_grows_with_the_words() -> None:
    some = [text.split() for text, _ in SENTENCES]
    few, many = (lambda: tag_sentences(some * 50)), (lambda: tag_sentences(some * 200))
    few()
    assert calls(many) < 5 * calls(few)
