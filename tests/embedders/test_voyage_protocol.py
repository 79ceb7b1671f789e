import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.embedders.voyage import batches, estimated_tokens, failure_of
from graphsearch.errors import EmbedderRefusedError


@given(st.lists(st.text(max_size=200)), st.integers(min_value=1, max_value=2_000))
def test_batches_lose_nothing_and_overflow_only_with_a_single_text(texts: list[str], tokens: int) -> None:
    found = list(batches(texts, tokens))
    assert [text for batch in found for text in batch] == texts
    assert all(batch for batch in found)
    assert all(len(batch) == 1 or sum(map(estimated_tokens, batch)) <= tokens for batch in found)


def test_a_batch_holds_a_thousand_texts_at_most() -> None:
    assert [len(batch) for batch in batches(["a"] * 2_001, 10**9)] == [1_000, 1_000, 1]


def test_estimate_counts_bytes_and_stops_where_voyage_cuts() -> None:
    assert estimated_tokens("日本") == 6 + 16
    assert estimated_tokens("x" * 10**6) == 32_016


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_says_where_keys_come_from(status: int) -> None:
    failure = failure_of("no", status, {})
    assert isinstance(failure, EmbedderRefusedError)
    assert "VOYAGE_API_KEY" in str(failure)
