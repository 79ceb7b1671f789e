"""Scores of the triplets of a subgraph, by distance, importance and feedback, on every store."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch import GraphSearchEngine, KHopTraversal, ScoringOptions, score_triplets
from graphsearch.errors import InvalidInputError
from graphsearch.ranking.triplet_score import node_distances, score
from tests.graphs import edge, people, person

PLAIN = ScoringOptions(feedback_influence=0.0, importance_influence=0.0)
CHAIN = "Ann Bob Cyd Dan"


async def chain(store, *feedback):
    """Ann knows Bob, Bob Cyd, Cyd Dan: 0.9 sure each."""
    names, weights = CHAIN.split(), (*feedback, 0.5, 0.5, 0.5)
    rows = [
        edge(one, "knows", other, confidence=0.9, feedback_weight=weight)
        for one, other, weight in zip(names, names[1:], weights, strict=False)
    ]
    await store.write(people(*rows, names=CHAIN))
    return await KHopTraversal(store).walk([person("Ann")], depth=3)


def values(scored):
    return [round(value, 6) for value in scored.scores.value.tolist()]


async def test_by_distance_a_hop_costs_its_penalty_and_there_is_no_cliff(scoped):
    subgraph = await chain(scoped)
    far = [0.4, np.nan, np.nan, np.nan]  # Ann was found by her embedding, the others by traversal alone
    assert node_distances(subgraph, far, 0.25).tolist() == pytest.approx([0.4, 0.65, 0.9, 1.15])
    scored = score_triplets(subgraph, distance=far, options=PLAIN)
    assert scored.proximity.tolist() == pytest.approx([1 - 1.05 / 4, 1 - 1.55 / 4, 1 - 2.05 / 4])
    assert values(scored) == pytest.approx([0.9 * (1 - (0.4 + 0.65) / 4), 0.9 * (1 - 1.55 / 4), 0.9 * (1 - 2.05 / 4)])
    found = [0.4, np.nan, 0.5, np.nan]
    assert node_distances(subgraph, found, 0.25).tolist() == pytest.approx([0.4, 0.65, 0.5, 0.75])
    assert node_distances(subgraph, [np.nan] * 4, 1.5).tolist() == [0.0, 1.5, 2.0, 2.0]  # a named one; at most 2
    for faulty in ([0.1], [2.5, 0, 0, 0], [-0.1, 0, 0, 0]):
        with pytest.raises(InvalidInputError, match="distances"):
            score_triplets(subgraph, distance=faulty)


async def test_the_engine_scores_by_the_same_function(scoped):
    subgraph = await chain(scoped, 1.0, 0.2)
    engine = GraphSearchEngine(store=scoped)
    around = await engine.neighbors("Ann", depth=3)
    assert sorted((each.score for each in around), reverse=True) == pytest.approx(
        sorted(score_triplets(subgraph).scores.value.tolist(), reverse=True)
    )
    hops = score_triplets(subgraph, options=PLAIN)
    assert values(hops) == pytest.approx([0.9 * 0.6, 0.9 * 0.35, 0.9 * 0.15])


@pytest.mark.parametrize("rejected", [0, 1])
async def test_what_is_loved_overtakes_what_is_rejected_a_hop_nearer(scoped, rejected):
    """With the default influence of 0.3, from the first hop to the second; never without influence."""
    loved = rejected + 1
    feedback = [0.5, 0.5, 0.5]
    feedback[rejected], feedback[loved] = 0.0, 1.0
    await chain(scoped, *feedback)
    names = CHAIN.split()
    found = [each.source.name for each in await GraphSearchEngine(store=scoped).neighbors("Ann", depth=3)]
    assert (found.index(names[loved]) < found.index(names[rejected])) == (rejected == 0)
    no_influence = GraphSearchEngine(store=scoped, scoring=ScoringOptions(feedback_influence=0.0))
    assert [each.source.name for each in await no_influence.neighbors("Ann", depth=3)] == names[:3]


unit = st.floats(0, 1)


@given(unit, unit, unit, unit, unit, unit, st.floats(0, 0.5))
def test_one_session_moves_no_score_by_more_than_its_influence(near, importance, weight, reliable, phi, iota, alpha):
    options = ScoringOptions(feedback_influence=phi, importance_influence=iota)

    def of(feedback):
        reliability = {"confidence": reliable, "freshness": 1.0, "prior": 1.0}
        return float(
            score(proximity=near, importance=importance, feedback=feedback, options=options, **reliability).value
        )

    for outcome in (0.0, 1.0):
        moved = alpha * outcome + (1 - alpha) * weight
        assert abs(of(moved) - of(weight)) <= phi * alpha + 1e-9
    assert 0.0 <= of(0.0) <= of(weight) + 1e-12 <= of(1.0) + 2e-12 <= 1.0 + 3e-12
