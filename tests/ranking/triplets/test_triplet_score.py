"""The score of a triplet, with its pinned numbers, and the entities that triplets are about."""

import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.columns.formulas import age_in_days, freshness
from graphsearch.errors import InvalidInputError
from graphsearch.model import Entity, Relation, Triplet, TripletScore
from graphsearch.ranking.triplet_score import (
    Numbers,
    ScoringOptions,
    ends,
    proximity_by_confidence,
    proximity_by_hops,
    score,
)

HOPS_ONLY = ScoringOptions(feedback_influence=0.0, importance_influence=0.0)
TABLE = (1.0, 0.6, 0.35, 0.15)
unit = st.floats(0.0, 1.0)
inputs = st.fixed_dictionaries(
    dict.fromkeys(("proximity", "importance", "feedback", "confidence", "freshness", "prior"), unit)
)
options = st.builds(
    ScoringOptions,
    feedback_influence=unit,
    importance_influence=unit,
    path_confidence=st.sampled_from(["minimum", "product"]),
    combine=st.sampled_from(["product", "worst"]),
)


def by_hops(hops, confidence, fresh: Numbers = 1.0, prior=1.0, options=HOPS_ONLY):
    return score(
        proximity=proximity_by_hops(hops, TABLE),
        importance=0.5,
        feedback=0.5,
        confidence=confidence,
        freshness=fresh,
        prior=prior,
        options=options,
    ).value


def test_one_hop_by_the_weakest_link():
    assert by_hops(1, min(0.90, 0.95)) == pytest.approx(0.54)


def test_two_hops_with_product_confidence():
    assert by_hops(2, 0.90 * 0.95) == pytest.approx(0.29925)


def test_a_year_at_a_half_life_of_thirty_days():
    assert freshness(365, 30) == pytest.approx(2.175e-4, rel=1e-3)


def test_two_hops_half_a_year_old():
    fresh = freshness(180, 30)
    assert by_hops(2, 0.70, fresh, 0.8) == pytest.approx(0.0030625)


@pytest.mark.parametrize(("hops", "expected"), [(0, 1.0), (1, 0.6), (2, 0.35), (3, 0.15), (4, 0.0), (9, 0.0)])
def test_hop_scores(hops, expected):
    assert proximity_by_hops(hops, TABLE) == expected


@pytest.mark.parametrize(("hops", "expected"), [(0, 1.0), (1, 1.0), (2, 0.4), (3, 0.0)])
def test_hop_scores_by_confidence(hops, expected):
    assert proximity_by_confidence(hops, 0.8) == pytest.approx(expected)


def test_worst_is_the_least_of_the_three():
    worst = attrs.evolve(HOPS_ONLY, combine="worst")
    assert by_hops(1, 0.9, 0.5, 0.8, worst) == pytest.approx(0.45)
    assert by_hops(1, 0.9, 1.0, 0.8, worst) == pytest.approx(0.6)
    assert by_hops(0, 0.9, 1.0, 0.3, worst) == pytest.approx(0.3)


def test_default_weights():
    parts = score(
        proximity=0.8, importance=0.5, feedback=1.0, confidence=1.0, freshness=1.0, prior=1.0, options=ScoringOptions()
    )
    # 0.8 ^ (1 − 0.3 / 2.3) · (0.7 · (0.8 + 0.2 · 0.5) + 0.3 · 1) = 0.823627 · 0.93
    assert parts.value == pytest.approx(0.765973)


def test_freshness_of_the_future_and_of_what_does_not_decay():
    assert freshness(-10, 30) == 1.0
    assert freshness(1e6, math.inf) == 1.0
    assert age_in_days(np.array([0.0]), 172_800.0) == [2.0]


def test_every_fault_of_the_options_is_named():
    with pytest.raises(InvalidInputError) as error:
        ScoringOptions(feedback_influence=2, importance_influence=math.nan, combine="sum")  # type: ignore[arg-type]
    assert len(error.value.faults) == 3


@given(inputs, options)
def test_scores_stay_in_the_unit_interval_and_add_up(values, chosen):
    parts = score(**values, options=chosen)
    assert -1e-12 <= parts.value <= 1 + 1e-12
    assert parts.proximity_part + parts.importance_part + parts.feedback_part == pytest.approx(float(parts.value))


@given(
    inputs,
    options,
    st.sampled_from(sorted(["proximity", "importance", "feedback", "confidence", "freshness", "prior"])),
    unit,
)
def test_scores_rise_with_every_input(values, chosen, name, other):
    low, high = sorted((values[name], other))
    lower = score(**{**values, name: low}, options=chosen).value
    higher = score(**{**values, name: high}, options=chosen).value
    assert lower <= higher + 1e-12


@given(st.floats(0, 1e5), st.floats(0, 1e5), st.floats(0.01, 1e4))
def test_freshness_falls_with_age(age, other, half_life):
    younger, older = sorted((age, other))
    assert 0.0 <= freshness(older, half_life) <= freshness(younger, half_life) <= 1.0


def test_without_influences_it_is_hop_score_times_strength():
    # freshness 0.5 and prior 0.8 leave 0.4 of hop score · confidence: 1 · 1, 1 · 0.5, 0.6 · 0.9, 0.35 · 0.2, 0.15 · 1
    assert by_hops(0, 1.0, 0.5, 0.8) == pytest.approx(0.4)
    assert by_hops(0, 0.5, 0.5, 0.8) == pytest.approx(0.2)
    assert by_hops(1, 0.9, 0.5, 0.8) == pytest.approx(0.216)
    assert by_hops(2, 0.2, 0.5, 0.8) == pytest.approx(0.028)
    assert by_hops(3, 1.0, 0.5, 0.8) == pytest.approx(0.06)
    assert by_hops(4, 1.0, 0.5, 0.8) == by_hops(2, 0.0, 0.5, 0.8) == 0.0


UNSCORED = TripletScore(
    value=0.0,
    strength=0.0,
    confidence=0.0,
    freshness=0.0,
    prior=0.0,
    proximity=0.0,
    importance=0.0,
    feedback=0.0,
    proximity_part=0.0,
    importance_part=0.0,
    feedback_part=0.0,
    hops=0,
)
BY_NAME = {name: Entity(type="person", name=name) for name in ("Ada", "Bob", "Cyd", "Dan", "Eve")}


def triplet(source, target, value):
    one, other = BY_NAME[source], BY_NAME[target]
    relation = Relation(source_id=one.id, type="knows", target_id=other.id)
    return Triplet(source=one, relation=relation, target=other, breakdown=attrs.evolve(UNSCORED, value=value))


def names(*triplets, named=(), subjects=()):
    found = ends(
        [triplet(*each) for each in triplets],
        named={BY_NAME[name].id for name in named},
        subjects=[BY_NAME[name].id for name in subjects],
    )
    return [entity.name for entity in found]


def test_what_is_not_named_answers_first():
    assert names(("Ada", "Bob", 0.9), ("Cyd", "Ada", 0.8), named=["Ada"]) == ["Bob", "Cyd", "Ada"]


def test_a_line_between_two_names_is_about_both():
    assert names(("Ada", "Bob", 0.9), ("Ada", "Cyd", 0.5), named=["Ada", "Bob"]) == ["Ada", "Bob", "Cyd"]


def test_what_is_on_the_way_to_the_answer_counts_half():
    assert names(("Bob", "Cyd", 0.9), ("Ada", "Bob", 0.4), named=["Ada"]) == ["Cyd", "Bob", "Ada"]
    assert names(("Bob", "Cyd", 0.4), ("Ada", "Bob", 0.9), named=["Ada"]) == ["Bob", "Cyd", "Ada"]
    assert names(("Cyd", "Dan", 0.9), ("Bob", "Cyd", 0.8), ("Ada", "Bob", 0.1), named=["Ada"]) == (
        ["Dan", "Cyd", "Bob", "Ada"]
    )


def test_what_no_name_leads_to_stands_in_reading_order():
    assert names(("Ada", "Bob", 0.9), ("Cyd", "Dan", 0.9)) == ["Ada", "Bob", "Cyd", "Dan"]
    assert names(("Cyd", "Dan", 0.9), ("Ada", "Bob", 0.5), named=["Ada"]) == ["Cyd", "Dan", "Bob", "Ada"]


def test_subjects_come_first_in_their_own_order_where_a_triplet_shows_them():
    shown = names(("Ada", "Bob", 0.9), ("Cyd", "Dan", 0.8), subjects=["Dan", "Eve", "Bob"])
    assert shown == ["Dan", "Bob", "Ada", "Cyd"]


def test_no_triplets_have_no_ends():
    assert names(subjects=["Ada"]) == []
