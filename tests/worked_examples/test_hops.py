"""Paths by hops, confidence and freshness, and what connects two names: the numbers of the design, on every store.

An anchor itself has hop score 1.0; what is one hop from it 0.6, two hops 0.35, three hops 0.15, and anything beyond 0.
A triplet has the score of its farther end, times the least confidence, freshness and prior on the way to it.
"""

from itertools import pairwise

import attrs
import pytest

from graphsearch import ALLOW_ALL, Batch, Entity, GraphSearchEngine, Relation, RelationType, ScoringOptions, SearchMode
from graphsearch.testing.fakes import EchoLLM
from tests.graphs import days_ago, edge, people

HOPS = SearchMode.NEIGHBORHOOD
PLAIN = ScoringOptions(feedback_influence=0.0, importance_influence=0.0)
ALICE, SARAH = Entity(type="person", name="Alice"), Entity(type="person", name="Sarah")
TEAM = Entity(type="organisation", name="Platform Team")


def joins(person, confidence, **details):
    return Relation(source_id=person.id, type="belongs_to", target_id=TEAM.id, confidence=confidence, **details)


@pytest.fixture
async def engine(scoped):
    """Alice and Sarah belong to one team: 0.90 and 0.95 sure."""
    await scoped.write(Batch(entities=[ALICE, SARAH, TEAM], relations=[joins(ALICE, 0.90), joins(SARAH, 0.95)]))
    return GraphSearchEngine(store=scoped, scoring=PLAIN)


def scores(triplets):
    return {(each.source.name, each.target.name): round(each.score, 6) for each in triplets}


async def test_the_team_connects_two_people_that_are_one_hop_from_it(engine):
    found = await engine.search("what do Alice and Sarah share?", mode=HOPS)
    (team,) = found.connections
    assert team.entity.name == "Platform Team"
    assert team.score == pytest.approx(min(0.90, 0.95) * 0.6)
    assert round(team.score, 2) == 0.54
    assert {path.entities[0].name: path.strength for path in team.paths.values()} == {
        "Alice": pytest.approx(0.90),
        "Sarah": pytest.approx(0.95),
    }


async def test_what_is_one_hop_away_and_what_is_two(engine):
    expected = {("Alice", "Platform Team"): 0.54, ("Sarah", "Platform Team"): 0.315}  # 0.90 × 0.6, 0.90 × 0.35
    assert scores((await engine.search("Alice", mode=HOPS)).triplets) == expected
    assert scores(await engine.neighbors("Alice", depth=2)) == expected


async def test_the_path_of_two_hops(engine):
    path = await engine.path("Alice", "Sarah")
    assert (path.hops, path.strength) == (2, pytest.approx(0.90))
    product = GraphSearchEngine(store=engine.store, scoring=attrs.evolve(PLAIN, path_confidence="product"))
    found = await product.search("Alice", mode=HOPS)
    assert found.triplets[-1].score == pytest.approx(0.90 * 0.95 * 0.35)  # 0.29925
    assert round(found.triplets[-1].score, 2) == 0.30


async def test_between_two_anchors_there_is_no_hop(engine):
    knows = Relation(source_id=ALICE.id, type="knows", target_id=SARAH.id, confidence=0.8)
    await engine.store.write(Batch(relations=[knows]))
    found = await engine.search("Alice, Sarah", mode=HOPS)
    assert scores(found.triplets)["Alice", "Sarah"] == 0.8
    assert scores((await engine.search("Alice", mode=HOPS)).triplets)["Alice", "Sarah"] == 0.48


async def test_the_explanation_has_the_same_hops(engine):
    for person, proximity in ((ALICE, 0.6), (SARAH, 0.35)):
        why = await engine.explain("Alice", joins(person, 1.0).id, mode=HOPS)
        (part,) = [each for each in why.parts if each.name == "proximity"]
        assert part.value == pytest.approx(proximity)
        assert why.score == pytest.approx(0.90 * proximity)


async def test_a_query_of_a_language_model_is_scored_by_the_same_hops(engine):
    llm = EchoLLM('{"anchors": ["Alice"], "relation_types": [], "direction": "both", "hops": 2}')
    asking = GraphSearchEngine(store=engine.store, scoring=PLAIN, llm=llm)
    found = await asking.search("who is around Alice?", mode=SearchMode.NATURAL_LANGUAGE, gate=ALLOW_ALL)
    assert scores(found.triplets) == {("Alice", "Platform Team"): 0.54, ("Sarah", "Platform Team"): 0.315}


async def test_each_further_hop_counts_less_and_the_fourth_is_not_shown(scoped):
    line = ["Ann", "Bob", "Cyd", "Dan", "Eve"]
    await scoped.write(people(*(edge(one, "knows", other) for one, other in pairwise(line)), names=" ".join(line)))
    engine = GraphSearchEngine(store=scoped, scoring=PLAIN)
    found = await engine.search("Ann", mode=HOPS, max_hops=4)
    assert [triplet.score for triplet in found.triplets] == pytest.approx([0.6, 0.35, 0.15])
    assert [triplet.score for triplet in await engine.neighbors("Ann", depth=4)] == pytest.approx([0.6, 0.35, 0.15])


async def test_a_type_with_a_table_of_its_own(engine):
    await engine.store.register_types([RelationType(name="belongs_to", hop_scores=(0.9, 0.5, 0.2))])
    assert scores(await engine.neighbors("Alice", depth=2)) == {
        ("Alice", "Platform Team"): 0.45,
        ("Sarah", "Platform Team"): 0.18,
    }


async def test_half_a_year_at_two_hops(scoped):
    """0.35 × confidence 0.70 × 2^(−180/30) × prior 0.8."""
    edges = [
        edge("Ann", "collaborated_with", "Bob", confidence=0.9, valid_from=days_ago(0)),
        edge("Bob", "collaborated_with", "Cyd", confidence=0.7, valid_from=days_ago(180)),
    ]
    await scoped.write(people(*edges, names="Ann Bob Cyd"))
    found = await GraphSearchEngine(store=scoped, scoring=PLAIN).search("Ann", mode=HOPS)
    assert found.triplets[-1].score == pytest.approx(0.0030625)
