"""Tokens and sentences as ranges of tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.text.tokens import LONGEST, sentence_starts, sentences, tokens
from tests.waiting import calls

HOSTILE = (
    "a",
    "_",
    "a_",
    "a-",
    "@a.",
    "`a",
    "`",
    "n't",
    ".",
    "A.",
    "1,",
    "a'",
    "https://",
    "#a-",
    "é’",
    "東京",
    "(",
    " ",
)


def cut(text: str) -> list[str]:
    return [word.text for word in tokens(text)]


def split(text: str) -> list[list[str]]:
    words = tokens(text)
    return [[word.text for word in words[first:end]] for first, end in sentences(text, words)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Ilva isn't here, can't come.", "Ilva is n't here , ca n't come ."),
        ("it's Bo's, they’re ours", "it 's Bo 's , they ’re ours"),
        ("Dr. Ana B. Costa of the U.S. office", "Dr. Ana B. Costa of the U.S. office"),
        ("Rory O'Dell and a co-op with node.js, c++ and AT&T", "Rory O'Dell and a co-op with node.js , c++ and AT&T"),
        ("write to ana@halden.org or @bo.lind, #infra-team", "write to ana@halden.org or @bo.lind , #infra-team"),
        ("run `make it so` at https://a.example/b_(c", "run `make it so` at https://a.example/b_(c"),
        ("on 3.5.2024 at 10:30 the 21st", "on 3.5.2024 at 10:30 the 21st"),
        ("_really_ snake_case `open", "_ really _ snake_case ` open"),
        ("Wait... no", "Wait ... no"),
        ("in Orléans–Paris", "in Orléans–Paris"),
    ],
)
def test_tokens(text: str, expected: str | list[str]) -> None:
    words = expected if isinstance(expected, list) else expected.replace("`make it so`", "`make_it_so`").split()
    assert cut(text) == [word.replace("_it_", " it ") for word in words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("ana left. bo stayed", ["ana left .", "bo stayed"]),
        ("one\ntwo", ["one", "two"]),
        ("Really?! Yes.", ["Really ? !", "Yes ."]),
        ("See node.js now", ["See node.js now"]),
        ("雨。晴。", ["雨 。", "晴 。"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [" ".join(words) for words in split(text)] == expected


def test_a_sentence_without_end_is_cut() -> None:
    assert [len(words) for words in split("on and " * LONGEST)] == [LONGEST, LONGEST]


@given(st.text())
def test_tokens_lie_in_order_and_leave_out_white_space_alone(text: str) -> None:
    words = tokens(text)
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    ends = [0, *(word.end for word in words)]
    gaps = [text[end:start] for end, start in zip(ends, [*(word.start for word in words), len(text)], strict=True)]
    assert "".join(gaps).strip() == ""


@given(st.text())
def test_sentences_hold_each_token_once(text: str) -> None:
    words = tokens(text)
    assert [place for first, end in sentences(text, words) for place in range(first, end)] == [*range(len(words))]


@pytest.mark.parametrize("part", HOSTILE)
def test_work_grows_with_the_text(part: str) -> None:
    few, many = part * 500, part * 2_000
    assert calls(lambda: sentences(many, tokens(many))) <= 4 * calls(lambda: sentences(few, tokens(few))) + 40


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Ana met Mr. Bo. They spoke! did they", ["They spoke! ", "did they"]),
        ("A line that was\nwrapped. Another", ["Another"]),
        ("李雷在这里工作。他很好", ["他很好"]),
    ],
)
def test_a_long_text_can_be_cut_where_a_sentence_starts(text: str, expected: list[str]) -> None:
    starts = sentence_starts(text)
    assert [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)] == expected
