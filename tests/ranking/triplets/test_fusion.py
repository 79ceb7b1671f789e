"""Rankings made one: RRF and z-scores by hand and by property."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError
from graphsearch.ranking.fusion import RRF_K, Channel, reciprocal_rank, with_feedback, z_score

STALE = 0.0030625
"""Hop score 0.35 · confidence 0.70 · freshness 1/64, six half-lives old · prior 0.8."""


def channel(*keys, scores=None, **details):
    return Channel(keys=keys, scores=scores or [float(len(keys) - at) for at in range(len(keys))], **details)


def by_key(fused):
    return {each.key: each.score for each in fused}


def test_rrf_by_hand():
    fused = reciprocal_rank({"semantic": channel("a", "b"), "lexical": channel("b", "c", weight=0.5)})
    assert [each.key for each in fused] == ["b", "a", "c"]
    # That is 1/61 for a, 1/62 + 0.5/61 = 0.016129032 + 0.008196721 for b, and 0.5/62 for c.
    assert by_key(fused) == pytest.approx({"a": 0.016393443, "b": 0.024325753, "c": 0.008064516})
    part = fused[0].parts["lexical"]
    assert (part.rank, part.score, part.weight) == (1, 2.0, 0.5)
    assert part.contribution == pytest.approx(0.008196721)
    assert set(fused[1].parts) == {"semantic"}


def test_the_constant_is_sixty():
    assert RRF_K == 60
    assert reciprocal_rank({"a": channel("a")})[0].score == pytest.approx(0.016393443)  # 1/61
    assert reciprocal_rank({"a": channel("a")}, rrf_k=0)[0].score == 1.0


def test_a_graded_channel_weighs_its_ranks_by_its_scores_so_that_stale_relations_retire():
    (fused,) = reciprocal_rank({"graph": channel("a", scores=[STALE], graded=True)})
    assert fused.score == pytest.approx(5.02e-5, rel=1e-3)


def test_z_scores_by_hand():
    # semantic: 3, 1, and 1 for c, so σ = √(8/9): a is 2/σ = 3/√2 above the least.
    # lexical: 10 for c, 0 for a and b, so σ = √(200/9): c is 0.5 · 10/σ = 1.5/√2 above the least.
    fused = z_score(
        {
            "semantic": channel("a", "b", scores=[3.0, 1.0]),
            "lexical": channel("c", scores=[10.0], weight=0.5, floor=0.0),
        }
    )
    assert by_key(fused) == pytest.approx({"a": 2.121320344, "b": 0.0, "c": 1.060660172})
    assert [each.key for each in fused] == ["a", "c", "b"]


def test_z_scores_have_the_order_of_standard_scores():
    channels = {
        "one": Channel(keys=["a", "b", "c"], scores=[0.9, 0.5, 0.1]),
        "other": Channel(keys=["b", "c", "a"], scores=[8.0, 5.0, 2.0], weight=0.7),
    }
    # Standard scores of both are ±√1.5 = ±1.224744871 and 0: one gives a, b, c √1.5, 0, −√1.5; other −√1.5, √1.5, 0.
    # Weighted by 1 and 0.7: a 0.3 · √1.5, b 0.7 · √1.5, c −√1.5; from the least of each channel 1.7 · √1.5 more.
    assert by_key(z_score(channels)) == pytest.approx({"a": 2.449489743, "b": 2.939387691, "c": 0.857321410})


def test_a_channel_whose_scores_are_all_equal_tells_nothing():
    fused = z_score({"flat": channel("b", "a", scores=[0.3, 0.3]), "empty": channel()})
    assert by_key(fused) == {"a": 0.0, "b": 0.0}
    assert [each.key for each in fused] == ["a", "b"]


@pytest.mark.parametrize("fusion", [reciprocal_rank, z_score])
def test_a_channel_without_weight_is_off(fusion):
    assert [each.key for each in fusion({"a": channel("a"), "off": channel("b", weight=0.0)})] == ["a"]
    assert fusion({}) == []


def test_bad_channels_are_refused_with_every_fault():
    with pytest.raises(InvalidInputError) as error:
        Channel(keys=["a", "a"], scores=[float("nan")], weight=-1.0, floor=float("inf"))
    assert len(error.value.faults) == 5
    with pytest.raises(InvalidInputError, match="must not be negative"):
        Channel(keys=["a"], scores=[-1.0], graded=True)
    with pytest.raises(InvalidInputError, match="k must be"):
        reciprocal_rank({}, rrf_k=-1)


@st.composite
def channels(draw):
    made = {}
    for name in draw(st.sets(st.sampled_from(["semantic", "lexical", "graph"]))):
        found = draw(st.dictionaries(st.integers(0, 12), st.floats(0.0, 1.0), max_size=8))
        keys = sorted(found, key=lambda key: (-found[key], key))
        made[name] = Channel(
            keys=keys,
            scores=[found[key] for key in keys],
            weight=draw(st.floats(0.0, 3.0)),
            graded=draw(st.booleans()),
            floor=draw(st.sampled_from([None, 0.0])),
        )
    return made


@pytest.mark.parametrize("fusion", [reciprocal_rank, z_score])
@given(made=channels())
def test_parts_add_up_and_the_order_of_the_channels_is_no_matter(fusion, made):
    fused = fusion(made)
    assert fused == fusion(dict(reversed(made.items())))
    assert {each.key for each in fused} == {key for each in made.values() if each.weight for key in each.keys}
    for each in fused:
        assert each.score == pytest.approx(sum(part.contribution for part in each.parts.values()))
        assert each.score >= 0
    order = [(-each.score, each.key) for each in fused]
    assert order == sorted(order)


@pytest.mark.parametrize("fusion", [reciprocal_rank, z_score])
@given(made=channels(), data=st.data())
def test_what_is_better_in_every_channel_is_better(fusion, made, data):
    fused = by_key(fusion(made))
    active = [each for each in made.values() if each.weight]
    common = sorted(set.intersection(*(set(each.keys) for each in active))) if active else []
    if len(common) >= 2:
        one, other = data.draw(st.sampled_from(common)), data.draw(st.sampled_from(common))
        if all(each.keys.index(one) <= each.keys.index(other) for each in active):
            assert fused[one] >= fused[other] - 1e-12


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1)), min_size=1), st.floats(0, 1))
def test_feedback_mixes_into_the_unit_interval(pairs, influence):
    relevance, feedback = (np.array(column) for column in zip(*pairs, strict=True))
    first, second = with_feedback(relevance, feedback, influence)
    assert ((first + second >= 0) & (first + second <= 1 + 1e-12)).all()
    if relevance.max() > 0:
        assert first[relevance.argmax()] == pytest.approx(1 - influence)
