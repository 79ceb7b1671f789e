"""Names in a question."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.model import NameMatch
from graphsearch.query.question_names import BY_ALIAS, BY_NAME, MAX_NAMESAKES, MAX_WORDS, NameKind, anchors, named, runs

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
        ("who is in the U.S. now, e.g. today?", []),
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


ADA, ACME, LOOP = UUID(int=1), UUID(int=2), UUID(int=3)


def anchored(question, matches, types=None):
    found = [NameMatch(name=name, entity_id=entity, alias=alias) for name, entity, alias in matches]
    known = types or {match.entity_id: "person" for match in found}
    return [(anchor.entity_id, anchor.name) for anchor in anchors(runs(question), found, known)]


def test_longest_names_win_over_those_inside():
    matches = [("ada", ADA, False), ("ada lovelace", ACME, False)]
    assert anchored("Where does Ada Lovelace work?", matches) == [(ACME, "Ada Lovelace")]


def test_names_win_over_aliases():
    assert anchored("ask Ada", [("ada", ADA, True), ("ada", ACME, False)]) == [(ACME, "Ada")]


def test_identifiers_and_handles_are_words():
    names = {run.name for run in runs("Does ssl.SSLSocket.do_handshake call @priya's x/y.py?")}
    assert {"ssl.sslsocket.do_handshake", "@priya", "x/y.py"} <= names


def test_stop_words_alone_name_nothing():
    assert [run.name for run in runs("where is the")] == ["where is the", "where is", "is the"]


@pytest.mark.parametrize(("question", "expected"), [("is it done?", []), ("Future.done", [(LOOP, "Future.done")])])
def test_a_plain_word_names_no_code_by_its_alias(question, expected):
    matches = [("done", LOOP, True), ("future.done", LOOP, True)]
    assert anchored(question, matches, {LOOP: "function"}) == expected


def test_a_name_that_many_share_points_at_none():
    shared = [("ada", UUID(int=number), False) for number in range(MAX_NAMESAKES + 1)]
    assert anchored("ask Ada", shared) == []
    assert len(anchored("ask Ada", shared[:-1])) == MAX_NAMESAKES


def test_what_may_not_be_seen_is_no_anchor():
    assert anchored("ask Ada", [("ada", ADA, False), ("ada", ACME, False)], {ACME: "person"}) == [(ACME, "Ada")]


def test_a_name_is_surer_than_an_alias_and_every_place_is_returned():
    question = "Does the countess, Ada, know Ada?"
    matches = [("countess", ADA, True), ("ada", ADA, False)]
    (anchor,) = anchors(
        runs(question),
        [NameMatch(name=name, entity_id=key, alias=alias) for name, key, alias in matches],
        {ADA: "person"},
    )
    assert (anchor.name, anchor.alias, anchor.confidence) == ("Ada", False, BY_NAME)
    assert [question[start:end] for start, end in anchor.spans] == ["countess", "Ada", "Ada"]
    (alias,) = anchors(runs("countess"), [NameMatch(name="countess", entity_id=ADA, alias=True)], {ADA: "person"})
    assert (alias.alias, alias.confidence) == (True, BY_ALIAS)


@given(st.text(max_size=400))
def test_any_text_is_a_question(question):
    found = runs(question)
    assert all(question[run.start : run.end] == run.written for run in found)
    lengths = [len(run.written.split()) for run in found]
    assert max(lengths, default=0) <= MAX_WORDS
