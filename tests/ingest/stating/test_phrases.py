"""Relation phrases to types: a table of cases, and what is left in its own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.ingest.frames.table import table
from graphsearch.ingest.stating.phrases import COMMON, UNKNOWN, Kind, read_phrase

P, O, T, L, V = (Kind(kind, True) for kind in ("person", "organisation", "thing", "place", "value"))  # noqa: E741
SMALL = Kind(COMMON)
U = UNKNOWN


@pytest.mark.parametrize(
    ("phrase", "subject", "object_", "type_", "inverse"),
    [
        ("works at", U, U, "works_at", False),
        ("is employed by", P, O, "works_at", False),
        ("reportsTo", U, U, "reports_to", False),
        ("boss", U, U, "reports_to", False),
        ("has boss", U, U, "reports_to", False),
        ("is the boss of", P, P, "reports_to", True),
        ("is supervised by", U, U, "reports_to", False),
        ("line-manager", U, U, "reports_to", False),
        ("has director", O, P, "leads", True),
        ("director", O, P, "leads", True),
        ("director", P, O, "leads", False),
        ("captained by", T, P, "leads", True),
        ("head of ops at", P, O, "works_at", False),
        ("lighting designer at", P, O, "works_at", False),
        ("in charge of ops", P, O, "works_at", False),
        ("uses_for_storage", T, T, "uses", False),
        ("usesProduct", O, U, "uses", False),
        ("runs on database", T, U, "uses", False),
        ("runs", P, O, "leads", False),
        ("runs", O, T, "uses", False),
        ("owned by", T, O, "owns", True),
        ("is headquartered in", O, L, "located_in", False),
        ("is located in", P, L, "lives_in", False),
        ("co-wrote", P, T, "created", False),
        ("deadline", T, V, "deadline", False),
        ("is the mother of", P, P, "parent_of", False),
        ("wed to", U, U, "married_to", False),
        ("keen on", U, SMALL, "prefers", False),
        ("has her home in", P, U, "lives_in", False),
        ("has its office in", O, U, "located_in", False),
        ("is on", P, Kind("group", True), "member_of", False),
        ("is on", U, Kind("place"), "located_in", False),
        ("belongs to", U, P, "owns", True),
        ("is part of", U, U, "part_of", False),
        ("is part of", P, U, "member_of", False),
        ("hires", U, U, "works_at", True),
        ("is the daughter of", P, P, "parent_of", True),
    ],
)
def test_a_phrase_states_a_type(phrase, subject, object_, type_, inverse):
    read = read_phrase(phrase, subject, object_)
    assert (read.type, read.inverse) == (type_, inverse)


@pytest.mark.parametrize(
    ("phrase", "subject", "object_"),
    [
        ("treats", P, P),
        ("is allergic to", P, SMALL),
        ("favorite book as a kid", P, U),
        ("is at", U, U),
        ("started", P, SMALL),
        ("plays", P, U),
        ("drives", P, T),
        ("is governed by", T, SMALL),
        ("director", U, U),  # whose?
        ("works at", T, O),
        ("lives on the same street as", P, U),
        ("running time", T, V),
        ("contains", T, T),
        ("keeps bees in", P, SMALL),
    ],
)
def test_what_the_table_does_not_explain_stays_in_its_own_words(phrase, subject, object_):
    read = read_phrase(phrase, subject, object_)
    assert not read.type
    assert read.normal


@pytest.mark.parametrize(
    ("phrase", "flags"),
    [
        ("no longer reports to", {"ended"}),
        ("stopped using", {"ended"}),
        ("used to work at", {"ended"}),
        ("former manager of", {"ended"}),
        ("doesn't use", {"denied"}),
        ("uses not", {"denied"}),
        ("became head of", {"begun"}),
        ("new boss is", {"begun"}),
        ("will join", {"planned"}),
        ("wants to use", {"wished"}),
        ("might move to", {"wished"}),
    ],
)
def test_words_around_it_say_how_it_is_meant(phrase, flags):
    read = read_phrase(phrase, P)
    assert read.type
    assert read.cues == flags


def test_types_of_the_scope_are_kept_as_they_are():
    assert read_phrase("sails under flag of", own={"sails_under_flag_of"}).type == "sails_under_flag_of"


@given(st.text(max_size=60), st.sampled_from([U, P, O, T, L, V, SMALL]), st.sampled_from([U, P, O, T, L, V, SMALL]))
def test_any_phrase_is_read(phrase, subject, object_):
    read = read_phrase(phrase, subject, object_)
    assert read.type in table().types | {""}
