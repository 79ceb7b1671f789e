"""The factors of BM25, by hand-computed cases and by properties."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.model import Entity, Memory, Relation
from graphsearch.text.analyser import ENGLISH, VERBATIM
from graphsearch.text.bm25 import (
    LEXICAL_DIMENSIONS,
    MAX_DISTINCT_TERMS,
    candidate_terms,
    dimension,
    document,
    embedding_text,
    grid,
    idf,
    saturated,
    searchable_text,
)

COUNTS = st.dictionaries(st.text(min_size=1), st.integers(1, 1000), min_size=1)


def test_idf_by_hand() -> None:
    assert idf(10, 1) == pytest.approx(1.992430165)  # ln(1 + 9.5 / 1.5) = ln 7.3333
    assert idf(1, 1) == pytest.approx(0.287682072)  # ln(1 + 0.5 / 1.5) = ln 1.3333


@given(st.integers(1, 10**6), st.data())
def test_idf_is_positive_and_falls_with_frequency(documents: int, data: st.DataObject) -> None:
    containing = data.draw(st.integers(1, documents))
    assert 0 < idf(documents, containing) < idf(documents, containing - 1)


def test_saturated_by_hand() -> None:
    # length equal to the average: f / (f + 1.2) = 1 / 2.2 and 3 / 4.2
    assert saturated({"a": 1, "b": 3}, 4, 4.0) == pytest.approx({"a": 0.454545455, "b": 0.714285714})
    # twice the average: f / (f + 1.2 · (0.25 + 0.75 · 2)) = 1 / (1 + 2.1)
    assert saturated({"a": 1}, 8, 4.0) == pytest.approx({"a": 0.322580645})


@given(COUNTS, st.floats(1, 1e5))
def test_saturated_is_in_the_unit_interval_and_rises_with_frequency(counts: dict[str, int], average: float) -> None:
    length = sum(counts.values())
    weights = saturated(counts, length, average)
    assert all(0 < weight < 1 for weight in weights.values())
    more = saturated({term: count + 1 for term, count in counts.items()}, length, average)
    assert all(more[term] >= weights[term] for term in counts)


def test_grid_has_steps() -> None:
    assert grid(0) == grid(1) == 1.0
    assert grid(10.0) == pytest.approx(9.313225746)  # 1.25¹⁰
    assert grid(9.0) == grid(10.0) != grid(12.0)


@given(st.floats(1, 1e6))
def test_grid_is_near_and_stable(average: float) -> None:
    snapped = grid(average)
    assert snapped / 1.25**0.51 <= average <= snapped * 1.25**0.51
    assert grid(snapped) == snapped


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_grid_keeps_order(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert grid(low) <= grid(high)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_dimension_fits_a_sparse_vector(term: str) -> None:
    assert 0 <= dimension(term) < LEXICAL_DIMENSIONS


def test_dimension_is_the_same_in_every_process() -> None:
    assert dimension("handshake") == 207_332_544


def test_candidate_terms() -> None:
    assert candidate_terms({"tls": 4_999, "socket": 5_000, "missing": 0}, 100_000) == ["tls"]
    assert candidate_terms({"tls": 5_000, "socket": 50_000, "missing": 0}, 100_000) == ["tls", "socket"]
    assert candidate_terms({"tls": 1_999, "socket": 2_000}, 3_000) == ["tls"]
    assert candidate_terms({"tls": 5, "socket": 100}, 100) == ["tls", "socket"]
    assert candidate_terms({"missing": 0}, 100) == []
    assert candidate_terms({}, 0) == []


@given(st.dictionaries(st.text(), st.integers(0, 100)))
def test_candidate_terms_occur_and_are_none_only_if_none_occurs(document_frequency: dict[str, int]) -> None:
    chosen = candidate_terms(document_frequency, 100)
    assert all(document_frequency[term] > 0 for term in chosen)
    assert bool(chosen) == any(document_frequency.values())


def test_frequencies_count_repetitions() -> None:
    assert document("TLS and tls, the sockets", {}, ENGLISH) == {"tls": 2, "socket": 1}
    assert document("the sockets", {}, VERBATIM) == {"the": 1, "sockets": 1}


def test_frequencies_of_an_endless_text_are_bounded() -> None:
    distinct = document(" ".join(f"w{number}" for number in range(20_000)) + " w0 w19999", {}, ENGLISH)
    assert len(distinct) == MAX_DISTINCT_TERMS
    assert distinct["w0"] == 2
    wide = document(" ".join(f"{'x' * 120}{number}" for number in range(10_000)), {}, ENGLISH)
    assert sum(len(term) for term in wide) <= 600_000


def test_texts_of_elements() -> None:
    entity = Entity(type="class", name="ssl.SSLSocket", description="Wraps a socket.", aliases=("SSLSocket",))
    assert searchable_text(entity) == "ssl.SSLSocket\nSSLSocket\nWraps a socket."
    assert embedding_text(entity) == "ssl SSL Socket (class): Wraps a socket."
    assert embedding_text(Entity(type="person", name="Ada")) == "Ada (person)"
    memory = Memory(id="m1", subject="stand-up", text="Ada met Bob.")
    assert searchable_text(memory) == "stand-up\n\nAda met Bob.\n"
    assert embedding_text(memory) == "stand-up\nAda met Bob."
    turn = Memory(id="m3", speaker="Ada", text="Hello.", occurred_at=datetime(2023, 5, 7, 1, tzinfo=UTC))
    assert searchable_text(turn) == "\nAda\nHello.\n7 May 2023"
    assert embedding_text(turn) == "Ada: Hello."
    assert embedding_text(Memory(id="m2", text="only text")) == "only text"
    relation = Relation(source_id=UUID(int=1), type="knows", target_id=UUID(int=2), fact="Ada knows Bob.")
    assert searchable_text(relation) == embedding_text(relation) == "Ada knows Bob."
