"""Means, intervals and regret, by hand."""

from __future__ import annotations

import json

import pytest

from graphsearch.evaluation import Comparison, GoldQuestion
from graphsearch.evaluation.comparing import compare, interval, make_column, wilson

QUESTIONS = [
    GoldQuestion(id=id_, question="?", gold=frozenset({"x"}), kind=kind)
    for id_, kind in (("q1", "near"), ("q2", "near"), ("q3", "far"))
]
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
    assert (low, high) == interval(values)
    assert 0.3 < low < 0.5 < high < 0.7


def test_a_column_has_means_of_all_and_of_each_kind() -> None:
    found = make_column("mode", METRICS["mode"], KINDS)
    assert found.metrics == {"found": pytest.approx(2 / 3), "R@10": pytest.approx(5 / 6)}
    assert found.by_kind == {"near": {"found": 0.5, "R@10": 0.75}, "far": {"found": 1.0, "R@10": 1.0}}
    assert found.intervals["found"] == wilson(2, 3)


def test_a_metric_is_of_the_kinds_that_it_is_measured_on() -> None:
    found = make_column("mode", {"found": {"q1": 1.0}, "silenced": {"q3": 0.0}}, {"q1": "near", "q3": "far"})
    assert found.by_kind == {"near": {"found": 1.0}, "far": {"silenced": 0.0}}


def compared() -> Comparison:
    times = {"mode": [1.0, 2.0, 6.0], "dense": [1.0, 1.0, 1.0]}
    return compare(QUESTIONS, METRICS, times, rivals=("dense", "lexical"))


def test_regret_is_against_the_best_rival_in_each_metric() -> None:
    found = compared()
    assert (found.default.name, found.default.p50_ms) == ("mode", 2.0)
    assert found.rivals == ("dense",)
    regret = found.regret()
    assert {name: each.best for name, each in regret.items()} == {"found": "dense", "R@10": "dense"}
    assert [each.points for each in regret.values()] == pytest.approx([100 / 3, -250 / 3])
    assert found.regret(found.columns[1]) == {}, "it is its own rival, and there is no other"


def test_a_comparison_as_an_object_has_the_default_at_the_top() -> None:
    as_json = compared().as_dict()
    assert json.loads(json.dumps(as_json)) == as_json
    assert [*as_json] == [
        *("metrics", "intervals", "by_kind", "p50_ms", "p95_ms", "regret", "best", "default", "others"),
        *("questions", "kinds", "unanswerable", "left_out", "index_s", "rss_mb"),
    ]
    assert (as_json["default"], as_json["best"], as_json["questions"]) == (
        "mode",
        {"found": "dense", "R@10": "dense"},
        3,
    )
    assert as_json["kinds"] == {"near": 2, "far": 1}
    assert as_json["others"]["dense"]["metrics"]["found"] == 1.0
    assert as_json["others"]["dense"]["regret"] == {}
