"""Whether a text proves a fact: quotes as they are made, and sentences that say otherwise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.ingest.stating.grounding import find_quote

TEXT = "Arden - 40 min w/ Frauke Möller,\n head of ops at Arden Kliniken. They’ve been on Ledger Desk since March 2022!"


@pytest.mark.parametrize(
    "quote",
    [
        "Frauke Möller, head of ops",
        "frauke moller head of OPS",
        "Frauke Möller … Arden Kliniken",
        "been on Ledger Desk since march",
        "they've been on the Ledger Desk since March 2022",
    ],
)
def test_a_quote_stands_in_the_text(quote):
    span = find_quote(quote, TEXT)
    assert span is not None
    assert TEXT[: span.end].casefold().endswith(quote[-3:].casefold())


@pytest.mark.parametrize(
    "quote", ["Frauke leads Arden Kliniken today", "Ledger Desk was dropped", "…", "Möller Frauke Desk 40"]
)
def test_another_text_is_no_quote(quote):
    assert find_quote(quote, TEXT) is None


@given(st.text(max_size=80), st.text(max_size=200))
def test_a_place_is_within_the_text(quote, text):
    span = find_quote(quote, text)
    assert span is None or 0 <= span.start < span.end <= len(text)


@given(
    st.lists(st.sampled_from(["Ada", "Bo", "meets", "the", "Ýmir’s", "crew,", "twice"]), min_size=1, max_size=12).map(
        " ".join
    )
)
def test_a_text_quotes_itself(text):
    assert find_quote(text, f"Well: {text}") is not None
