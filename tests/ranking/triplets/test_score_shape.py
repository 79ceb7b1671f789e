"""The shape of scores: whatever was found has a score in [0, 1] and parts that add up to it."""

import pytest

from graphsearch import Memory
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import ScorePart

QUESTION = "Who works at Globex?"


def test_a_part_adds_its_value_times_its_weight():
    assert ScorePart(name="near", value=0.5, weight=0.4).contribution == 0.2
    assert ScorePart.adding("near", 0.5, 0.2) == ScorePart(name="near", value=0.5, weight=0.4)
    assert ScorePart.adding("near", 0.0, 0.2) == ScorePart(name="near", value=0.2, weight=1.0)


async def test_triplets_memories_and_entities_share_one_shape(scoped):
    engine = GraphSearchEngine(store=scoped)
    texts = ["Ada works at Globex.", "Bob works at Globex.", "Ada knows Bob."]
    await Ingestor(engine).remember(Memory(id=f"m{row}", text=text) for row, text in enumerate(texts))
    triplets = (await engine.search(QUESTION, mode="neighborhood")).triplets
    memories = (await engine.recall(QUESTION)).memories
    entities = (await engine.rank_entities(QUESTION)).entities
    for found in (triplets, memories, entities):
        assert found
        for each in found:
            assert 0.0 <= each.score <= 1.0
            assert sum(part.contribution for part in each.parts) == pytest.approx(each.score, abs=1e-9)


async def test_an_explanation_has_the_parts_of_what_it_explains(scoped):
    engine = GraphSearchEngine(store=scoped)
    await Ingestor(engine).remember([Memory(id="m", text="Ada works at Globex.")])
    (triplet, *_) = (await engine.search(QUESTION, mode="neighborhood")).triplets
    (memory, *_) = (await engine.recall(QUESTION)).memories
    (entity, *_) = (await engine.rank_entities(QUESTION)).entities
    assert (await engine.explain(QUESTION, triplet.relation.id, mode="neighborhood")).parts == triplet.parts
    assert (await engine.explain(QUESTION, memory.memory.id)).parts == memory.parts
    assert (await engine.explain(QUESTION, entity.entity.id)).parts == entity.parts
