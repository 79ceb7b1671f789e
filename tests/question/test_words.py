"""The words of a question, each with its place in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.question.analysis import MAX_TOKENS, name_tokens, relation_line, spread, tokens


def test_words_are_folded_and_keep_their_places():
    text = "Does Zoë's GATE-2 open?"
    assert [(each.text, each.written, each.start, each.end) for each in tokens(text)] == [
        ("does", "Does", 0, 4),
        ("zoe", "Zoë", 5, 8),
        ("s", "s", 9, 10),
        ("gate", "GATE", 11, 15),
        ("2", "2", 16, 17),
        ("open", "open", 18, 22),
    ]
    assert [each.capitalised for each in tokens(text)] == [True, True, False, True, False, False]


def test_a_pasted_text_is_read_up_to_a_limit():
    assert len(tokens("gate " * 300)) == MAX_TOKENS


def test_underscores_and_dots_part_words_and_capitals_do_not():
    assert name_tokens("lamp_room.LampOil") == ("lamp", "room", "lampoil")
    assert name_tokens("…") == ()


@pytest.mark.parametrize(
    ("identifier", "words"),
    [("keeps_watch_at", "keeps watch at"), ("servedBy", "served by"), ("Pier2Dock", "pier2 dock"), ("tends", "tends")],
)
def test_an_identifier_is_spread_into_words(identifier, words):
    assert spread(identifier) == words


def test_the_line_of_a_relation_has_its_ends_its_type_and_its_fact():
    assert relation_line("Ines", "keeps_watch_at", "North Light", "since spring") == (
        "Ines keeps watch at North Light since spring"
    )


@given(st.text(max_size=60))
def test_any_text_has_tokens_in_order_and_apart(text):
    end = 0
    for each in tokens(text):
        assert end <= each.start < each.end
        assert text[each.start : each.end] == each.written
        end = each.end
