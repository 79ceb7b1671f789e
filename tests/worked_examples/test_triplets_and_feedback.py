"""Triplets, and weights that learn from the outcomes of sessions: the numbers of the design, on every store.

A weight begins at 0.5 and moves a tenth of the way to 1 for what was accepted, to 0.5 for rework and to 0 for what was
rejected. Both feedback, three tenths, and importance, a fifth of the rest, order what is near the question; feedback
also bends how near it is, and leaves it where it is at 0.5.
"""

import pytest

from graphsearch import (
    ALLOW_ALL,
    Batch,
    ContextBuilder,
    Entity,
    GraphSearchEngine,
    Outcome,
    Relation,
    ScoringOptions,
    SearchMode,
)
from graphsearch.testing.fakes import WordCounter

HOPS = SearchMode.NEIGHBORHOOD
ADA = Entity(type="person", name="Ada Lovelace")
ENGINE = Entity(type="tool", name="Analytical Engine")
USES = Relation(source_id=ADA.id, type="uses", target_id=ENGINE.id)
QUESTION = "What does Ada Lovelace use?"


def nearness(feedback):
    """How near one hop (0.6) is with this feedback at φ = 0.3."""
    return 0.6 ** (1 + 0.3 / 2.3 * (1 - 2 * feedback))


@pytest.fixture
async def engine(scoped):
    await scoped.write(Batch(entities=[ADA, ENGINE], relations=[USES]))
    return GraphSearchEngine(store=scoped)


async def weight(engine):
    (relation,) = await engine.store.get_relations([USES.id])
    return relation.feedback_weight


async def report(engine, session, outcome):
    builder = ContextBuilder(engine, counter=WordCounter())
    await builder.build(QUESTION, gate=ALLOW_ALL, session_id=session, mode=HOPS, observations=False)
    return await builder.feedback(session, outcome, gate=ALLOW_ALL)


@pytest.mark.parametrize(
    ("outcome", "expected"), [(Outcome.ACCEPTED, 0.55), (Outcome.REWORK, 0.50), (Outcome.REJECTED, 0.45)]
)
async def test_one_outcome(engine, outcome, expected):
    await report(engine, "s1", outcome)
    assert await weight(engine) == pytest.approx(expected)


async def test_a_second_outcome_and_one_that_replaces_the_first(engine):
    await report(engine, "s1", Outcome.ACCEPTED)
    await report(engine, "s2", Outcome.REJECTED)
    assert await weight(engine) == pytest.approx(0.495)
    replaced = await report(engine, "s1", Outcome.REJECTED)
    assert replaced.replaced
    assert await weight(engine) == pytest.approx(0.405)  # as if the first had been rejected from the start


async def test_the_same_outcome_again_changes_nothing(engine):
    await report(engine, "s1", Outcome.ACCEPTED)
    again = await report(engine, "s1", Outcome.ACCEPTED)
    assert (bool(again.repeated), again.applied) == (True, ())
    assert await weight(engine) == pytest.approx(0.55)


async def test_the_score_and_its_parts(engine):
    (before,) = (await engine.search("Ada Lovelace", mode=HOPS)).triplets
    assert before.score == pytest.approx(0.6 * (0.7 * (0.8 + 0.2 * 0.5) + 0.3 * 0.5))  # one hop from Ada
    assert sum(part.contribution for part in before.parts) == pytest.approx(before.score)
    await report(engine, "s1", Outcome.ACCEPTED)
    (after,) = (await engine.search("Ada Lovelace", mode=HOPS)).triplets
    assert after.score == pytest.approx(nearness(0.55) * (0.7 * (0.8 + 0.2 * 0.5) + 0.3 * 0.55))
    assert sum(part.contribution for part in after.parts) == pytest.approx(after.score)


async def test_relevance_and_feedback_are_mixed(engine):
    learnt = Relation(source_id=ADA.id, type="owns", target_id=ENGINE.id, feedback_weight=0.75)
    await engine.store.write(Batch(relations=[learnt]))
    mixing = ScoringOptions(feedback_influence=0.3, importance_influence=0.0)
    found = await GraphSearchEngine(store=engine.store, scoring=mixing).search("Ada Lovelace", mode=HOPS)
    assert found.triplets[0].relation.type == "owns"
    assert found.triplets[0].score == pytest.approx(nearness(0.75) * (0.7 + 0.3 * 0.75))
    assert found.triplets[1].score == pytest.approx(0.6 * (0.7 + 0.3 * 0.5))
