"""Recall by words, meaning and graph: how much the graph counts, and that stale relations retire, on every store."""

import pytest

from graphsearch import Batch, Entity, GraphSearchEngine, Memory, Mention, RecallScoring, Span, Workload

ADA = Entity(type="person", name="Ada Lovelace")
NOTES = [
    Memory(id="loom", text="Ada Lovelace wrote about the loom."),
    Memory(id="engine", text="The engine weaves algebraic patterns."),
]
INTENTS = {"Why is it so?": 1.5, "When was it?": 0.8, "Who was it?": 1.8, "How is it done?": 0.8, "What is it?": 1.0}


@pytest.fixture
async def engine(scoped):
    named = Mention(memory_id="loom", entity_id=ADA.id, surface=ADA.name, span=Span(start=0, end=12))
    await scoped.write(Batch(entities=[ADA], memories=NOTES, mentions=[named]))
    return GraphSearchEngine(store=scoped)


async def graph_weight(engine, question="What is it?", **options):
    return (await engine.recall(question, **options)).weights["graph"]


@pytest.mark.parametrize(("question", "weight"), INTENTS.items())
async def test_the_graph_counts_by_intent_where_that_is_on(engine, question, weight):
    by_intent = GraphSearchEngine(store=engine.store, recall_scoring=RecallScoring(by_intent=True))
    assert await graph_weight(by_intent, question) == weight
    assert await graph_weight(engine, question) == 1.0  # off by default: it gains on no set, and loses on one


@pytest.mark.parametrize(
    ("workload", "weight"),
    [(Workload.RELATIONAL, 2.0), (Workload.GENERAL, 1.0), (Workload.INFORMATIONAL, 0.5), (Workload.TEXT, 0.0)],
)
async def test_the_graph_counts_by_workload(engine, workload, weight):
    assert await graph_weight(engine, workload=workload) == weight


@pytest.mark.parametrize(("health", "weight"), [(1.0, 1.0), (0.70, 1.0), (0.35, 0.5), (0.0, 0.0)])
async def test_the_graph_counts_less_below_a_health_of_70(engine, health, weight):
    assert await graph_weight(engine, health=health) == pytest.approx(weight)


async def test_ranks_are_fused_by_reciprocals(engine):
    fused = RecallScoring(fusion="rrf", memory_mass=0.0, feedback_influence=0.0)
    found = await GraphSearchEngine(store=engine.store, recall_scoring=fused).recall("the loom of Ada Lovelace")
    best = found.memories[0]
    assert best.memory.id == "loom"
    assert best.channels["lexical"].rank == best.channels["graph"].rank == 1
    assert best.channels["lexical"].contribution == pytest.approx(best.score / 2)  # each has 1 / (60 + 1)
