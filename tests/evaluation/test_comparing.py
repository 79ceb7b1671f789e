"""Means, intervals and regret, by hand."""

from __future__ import annotations

import json

import pytest

from graphsearch.evaluation import Column, Comparison
from graphsearch.evaluation.comparing import Scored, interval, wilson

MODE = (
    Scored("near", {"silenced": 0.0}, 1.0),
    Scored("near", {"found": 1.0, "R@10": 0.5, "silenced": None}, 2.0),
    Scored("far", {"found": 0.0, "R@10": 1.0, "silenced": None}, 6.0),
)
DENSE = tuple(Scored(each.kind, dict.fromkeys(each.values, 1.0)) for each in MODE[1:])


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


def test_a_column_has_means_of_all_and_of_each_kind_over_what_a_metric_applies_to() -> None:
    found = Column.of("mode", MODE)
    assert [*found.metrics.items()] == [("found", 0.5), ("R@10", 0.75), ("silenced", 0.0)]
    assert found.by_kind == {
        "near": {"found": 1.0, "R@10": 0.5, "silenced": 0.0},
        "far": {"found": 0.0, "R@10": 1.0},
    }
    assert found.intervals["found"] == wilson(1, 2)
    assert found.p50_ms == 2.0


def compared() -> Comparison:
    columns = (Column.of("mode", MODE[1:]), Column.of("dense", DENSE))
    return Comparison(columns=columns, rivals=("dense",), kinds={"near": 1, "far": 1})


def test_regret_is_against_the_best_rival_in_each_metric() -> None:
    found = compared()
    regret = found.regret()
    assert {name: each.best for name, each in regret.items()} == {"found": "dense", "R@10": "dense"}
    assert [each.points for each in regret.values()] == [50.0, 25.0]
    assert found.regret(found.columns[1]) == {}, "it is its own rival, and there is no other"


def test_a_comparison_as_an_object_has_the_default_at_the_top() -> None:
    as_json = compared().as_dict()
    assert json.loads(json.dumps(as_json)) == as_json
    assert [*as_json] == [
        *("metrics", "intervals", "by_kind", "p50_ms", "p95_ms", "regret", "best", "default", "others"),
        *("questions", "kinds", "unanswerable", "index_s", "rss_mb"),
    ]
    assert (as_json["default"], as_json["best"], as_json["questions"]) == (
        "mode",
        {"found": "dense", "R@10": "dense"},
        2,
    )
    assert as_json["kinds"] == {"near": 1, "far": 1}
    assert as_json["others"]["dense"]["metrics"]["found"] == 1.0
    assert as_json["others"]["dense"]["regret"] == {}
