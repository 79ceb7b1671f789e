"""Which words of a question name an entity."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.model import NameMatch
from graphsearch.query.anchor_candidates import BY_ALIAS, BY_NAME, MAX_NAMESAKES, MAX_WORDS, anchors, runs

ADA, ACME, LOOP = UUID(int=1), UUID(int=2), UUID(int=3)


def named(question, matches, types=None):
    found = [NameMatch(name=name, entity_id=entity, alias=alias) for name, entity, alias in matches]
    known = types or {match.entity_id: "person" for match in found}
    return [(anchor.entity_id, anchor.name) for anchor in anchors(runs(question), found, known)]


def test_longest_names_win_over_those_inside():
    matches = [("ada", ADA, False), ("ada lovelace", ACME, False)]
    assert named("Where does Ada Lovelace work?", matches) == [(ACME, "Ada Lovelace")]


def test_names_win_over_aliases():
    assert named("ask Ada", [("ada", ADA, True), ("ada", ACME, False)]) == [(ACME, "Ada")]


def test_identifiers_and_handles_are_words():
    names = {run.name for run in runs("Does ssl.SSLSocket.do_handshake call @priya's x/y.py?")}
    assert {"ssl.sslsocket.do_handshake", "@priya", "x/y.py"} <= names


def test_stop_words_alone_name_nothing():
    assert [run.name for run in runs("where is the")] == ["where is the", "where is", "is the"]


@pytest.mark.parametrize(("question", "expected"), [("is it done?", []), ("Future.done", [(LOOP, "Future.done")])])
def test_a_plain_word_names_no_code_by_its_alias(question, expected):
    matches = [("done", LOOP, True), ("future.done", LOOP, True)]
    assert named(question, matches, {LOOP: "function"}) == expected


def test_a_name_that_many_share_points_at_none():
    shared = [("ada", UUID(int=number), False) for number in range(MAX_NAMESAKES + 1)]
    assert named("ask Ada", shared) == []
    assert len(named("ask Ada", shared[:-1])) == MAX_NAMESAKES


def test_what_may_not_be_seen_is_no_anchor():
    assert named("ask Ada", [("ada", ADA, False), ("ada", ACME, False)], {ACME: "person"}) == [(ACME, "Ada")]


def test_a_name_is_surer_than_an_alias_and_every_place_is_told():
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
