"""Measures against small rankings worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError
from graphsearch.evaluation import GoldQuestion, measure


def question(id_: str, *gold: str, type_: str = "") -> GoldQuestion[str]:
    return GoldQuestion(id=id_, question="?", gold=frozenset(gold), kind=type_)


BOTH = question("both", "g1", "g2", type_="bridge")
LATE = question("late", "g3", type_="bridge")
NEVER = question("never", "g4", type_="single")
RUN = {"both": ["g1", "x", "g2"], "late": ["x", "y", "z", "g3"], "never": []}


def test_each_measure_by_hand() -> None:
    found = measure([BOTH, LATE, NEVER], RUN, ks=(2, 3, 4))
    ndcg_both = (1 / math.log2(2) + 1 / math.log2(4)) / (1 / math.log2(2) + 1 / math.log2(3))
    assert found.metrics == pytest.approx(
        {
            "R@2": (1 / 2 + 0 + 0) / 3,
            "R@3": (1 + 0 + 0) / 3,
            "R@4": (1 + 1 + 0) / 3,
            "All@2": 0,
            "All@3": 1 / 3,
            "All@4": 2 / 3,
            "MRR": (1 + 1 / 4 + 0) / 3,
            "nDCG@10": (ndcg_both + 1 / math.log2(5) + 0) / 3,
        }
    )
    assert list(found.metrics) == ["R@2", "R@3", "R@4", "All@2", "All@3", "All@4", "MRR", "nDCG@10"]


def test_types_are_measured_apart() -> None:
    found = measure([BOTH, LATE, NEVER, question("plain", "x")], {**RUN, "plain": ["x"]}, ks=(3,))
    assert found.by_kind.keys() == {"bridge", "single", ""}
    assert found.by_kind["bridge"]["R@3"] == 0.5
    assert found.by_kind["bridge"]["MRR"] == pytest.approx((1 + 1 / 4) / 2)
    assert set(found.by_kind["single"].values()) == {0.0}
    assert found.metrics["R@3"] == 0.5


def test_a_question_without_evidence_counts_nowhere() -> None:
    found = measure([LATE, question("adversarial", type_="other")], RUN, ks=(4,))
    assert found.metrics["R@4"] == 1.0
    assert found.by_kind.keys() == {"bridge"}


def test_ranks_beyond_the_list_and_long_rankings() -> None:
    ranked = [f"x{number}" for number in range(5_000)] + ["g3"]
    found = measure([LATE], {"late": ranked}, ks=(5_000, 5_001, 10_000))
    assert [found.metrics[f"R@{k}"] for k in (5_000, 5_001, 10_000)] == [0, 1, 1]
    assert found.metrics["MRR"] == pytest.approx(1 / 5_001)


@given(
    st.lists(
        st.tuples(
            st.sets(st.integers(0, 15), min_size=1, max_size=4),
            st.lists(st.integers(0, 15), unique=True),
            st.sampled_from(["", "a", "b"]),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_measures_are_shares_that_fit_together(cases: list[tuple[set[int], list[int], str]]) -> None:
    asked = [question(f"q{at}", *map(str, sorted(gold)), type_=type_) for at, (gold, _, type_) in enumerate(cases)]
    found = measure(asked, {f"q{at}": [str(id_) for id_ in ranked] for at, (_, ranked, _) in enumerate(cases)})
    for name, value in found.metrics.items():
        low, high = found.intervals[name]
        assert 0 <= low <= value + 1e-12
        assert value - 1e-12 <= high <= 1
    for k in (2, 5, 8, 10):
        assert found.metrics[f"All@{k}"] <= found.metrics[f"R@{k}"] + 1e-12
        recall = np.mean([len({*ranked[:k]} & gold) / len(gold) for gold, ranked, _ in cases])
        assert found.metrics[f"R@{k}"] == pytest.approx(recall)
        every = np.mean([gold <= {*ranked[:k]} for gold, ranked, _ in cases])
        assert found.metrics[f"All@{k}"] == pytest.approx(every)
    first = [next((1 / rank for rank, id_ in enumerate(ranked, 1) if id_ in gold), 0) for gold, ranked, _ in cases]
    assert found.metrics["MRR"] == pytest.approx(np.mean(first))


def test_bad_runs_are_refused_with_every_fault() -> None:
    with pytest.raises(InvalidInputError) as caught:
        measure([BOTH, LATE], {"late": ["x", "x"]}, ks=(0, 2))
    assert caught.value.faults == (
        "each of ks must be at least 1, not 0",
        "question 'both' was not answered",
        "question 'late': an id is ranked twice",
    )


def test_nothing_to_measure_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no question has evidence"):
        measure([question("adversarial")], {})
    with pytest.raises(InvalidInputError, match="ks must hold a rank"):
        measure([LATE], RUN, ks=())
