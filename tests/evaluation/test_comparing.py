"""Means, intervals and regret, by hand."""

from __future__ import annotations

import json

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.evaluation.comparing import (
    Column,
    Comparison,
    Regret,
    bootstrap,
    column,
    compare,
    interval,
    regrets,
    wilson,
)

KINDS = {"q1": "near", "q2": "near", "q3": "far"}
METRICS = {
    "mode": {"found": {"q1": 1.0, "q2": 0.0, "q3": 1.0}, "R@10": {"q1": 1.0, "q2": 0.5, "q3": 1.0}, "silenced": {}},
    "dense": {"found": {"q1": 1.0, "q2": 1.0, "q3": 1.0}, "R@10": {"q1": 0.0, "q2": 0.0, "q3": 0.0}, "silenced": {}},
}


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"), [(9, 10, 0.5958, 0.9821), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0)]
)
def test_wilsons_interval_is_the_published_one(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=1e-4)


def test_a_share_of_questions_has_wilsons_interval_and_any_other_mean_a_bootstrap() -> None:
    assert interval([1.0] * 9 + [0.0]) == wilson(9, 10)
    values = [number / 20 for number in range(21)]
    low, high = interval(values)
    assert (low, high) == interval(values) != bootstrap(values, seed=7)
    assert 0.3 < low < 0.5 < high < 0.7


def test_a_column_has_means_of_all_and_of_each_kind() -> None:
    found = column("mode", METRICS["mode"], KINDS)
    assert found.metrics == {"found": pytest.approx(2 / 3), "R@10": pytest.approx(5 / 6)}
    assert found.by_kind == {"near": {"found": 0.5, "R@10": 0.75}, "far": {"found": 1.0, "R@10": 1.0}}
    assert found.intervals["found"] == wilson(2, 3)


def test_a_metric_is_of_the_kinds_that_it_is_measured_on() -> None:
    found = column("mode", {"found": {"q1": 1.0}, "silenced": {"q3": 0.0}}, {"q1": "near", "q3": "far"})
    assert found.by_kind == {"near": {"found": 1.0}, "far": {"silenced": 0.0}}


def test_regret_is_against_the_best_rival_in_each_metric() -> None:
    found = compare(METRICS, KINDS, better=("found", "R@10", "MRR"), p50_ms=1.5)
    assert found.default.name == "mode"
    assert found.rivals == ("dense",)
    assert found.regret()["found"].best == "dense"
    assert found.regret()["found"].points == pytest.approx(100 / 3, abs=1e-6)
    assert found.regret()["R@10"].points == pytest.approx(-250 / 3, abs=1e-6)
    assert found.regret(found.columns[1]) == {}, "it is its own rival, and there is no other"
    assert regrets({"found": 0.5}, {"a": {"found": 0.75}, "b": {"found": 0.625}}, ("found",)) == {
        "found": Regret(best="a", points=25.0)
    }


def test_a_comparison_as_an_object_has_the_default_at_the_top() -> None:
    as_json = compare(METRICS, KINDS, better=("found",), p50_ms=1.5).as_dict()
    assert json.loads(json.dumps(as_json)) == as_json
    assert [*as_json] == [
        *("metrics", "intervals", "by_kind", "regret", "best", "default", "others"),
        *("questions", "kinds", "left_out", "p50_ms"),
    ]
    assert (as_json["default"], as_json["best"], as_json["questions"]) == ("mode", {"found": "dense"}, 3)
    assert as_json["kinds"] == {"near": 2, "far": 1}
    assert as_json["others"]["dense"]["metrics"]["found"] == 1.0
    assert as_json["others"]["dense"]["regret"] == {}


def test_a_comparison_names_rivals_that_are_there() -> None:
    only = Column(name="mode", metrics={}, intervals={}, by_kind={})
    with pytest.raises(InvalidInputError, match="rival must be one of 'mode'"):
        Comparison(columns=(only,), rivals=("bm25",), better=(), kinds={}, p50_ms=0.0)
    with pytest.raises(InvalidInputError, match="there is no column"):
        Comparison(columns=(), rivals=(), better=(), kinds={}, p50_ms=0.0)
