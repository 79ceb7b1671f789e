"""Names in a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.model.identity import normalise_name
from graphsearch.question.analysis import MAX_WORDS, NameKind, named, runs

NOUN, QUOTED, CODE, HANDLE = NameKind.PROPER_NOUN, NameKind.QUOTED, NameKind.CODE, NameKind.HANDLE


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where did Ada Lovelace's team go?", [("Ada Lovelace", NOUN)]),
        ("Who leads the Bank of England?", [("Bank of England", NOUN)]),
        ("where is the TLS handshake done?", [("TLS", NOUN)]),
        ("which song is “Thinking Out Loud” by Ed?", [("Thinking Out Loud", QUOTED), ("Ed", NOUN)]),
        ('what does "is done" mean?', [("is done", QUOTED)]),
        ("does @priya own `ssl.py`?", [("@priya", HANDLE), ("ssl.py", CODE)]),
        ("what calls ssl.SSLSocket.do_handshake()?", [("ssl.SSLSocket.do_handshake", CODE)]),
        (
            "where are getName and _private and connect() used?",
            [("getName", CODE), ("_private", CODE), ("connect", CODE)],
        ),
        ("is https://example.org/a up?", [("https://example.org/a", CODE)]),
        ("who is in the U.S. now, e.g. today?", [("U.S.", NOUN)]),
        ("mail ada@example.org", []),
        ("what happened in March 2023?", []),
        ("", []),
    ],
)
def test_names(question, expected):
    assert [(name.text, name.kind) for name in named(question)] == expected


def test_a_word_that_begins_a_sentence_is_tentative_unless_it_is_common():
    assert [(name.text, name.tentative) for name in named("Becerra was here. What did Bob do?")] == [
        ("Becerra", True),
        ("Bob", False),
    ]
    assert named("Please tell me more.") == ()


@given(st.text(max_size=200) | st.lists(st.sampled_from(['"', "`a`", "Ada", "a.bc", "@x", "of", "."])).map(" ".join))
def test_names_of_any_text_are_in_order_and_apart(question):
    found = named(question)
    ends = [edge for name in found for edge in (name.start, name.end)]
    assert ends == sorted(ends)
    assert all(question[name.start : name.end] == name.text for name in found)


def test_identifiers_and_handles_are_words():
    names = {run.name for run in runs("Does ssl.SSLSocket.do_handshake call @priya's x/y.py?")}
    assert {"ssl.sslsocket.do_handshake", "@priya", "x/y.py"} <= names


def test_stop_words_alone_name_nothing():
    assert [run.name for run in runs("where is the")] == ["where is the", "where is", "is the"]


@given(st.text(max_size=400))
def test_any_text_is_a_question(question):
    found = runs(question)
    assert all(run.name == normalise_name(question[run.start : run.end]) for run in found)
    lengths = [len(question[run.start : run.end].split()) for run in found]
    assert max(lengths, default=0) <= MAX_WORDS
