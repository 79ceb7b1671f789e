"""Passages as memories, with their triples as facts."""

from __future__ import annotations

from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation import Passage, Triple, memories_of
from graphsearch.ingest import Ingestor
from graphsearch.model import Fact, Memory
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import day
from tests.evaluation.office import office


def test_a_passage_becomes_a_memory() -> None:
    passage = Passage(id="p", text="a text", title="a title", time=day(1), session="s", speaker="Ada")
    (memory,) = memories_of([passage])
    assert memory == Memory(
        id="p", text="a text", subject="a title", speaker="Ada", session_id="s", position=0, occurred_at=day(1)
    )


def test_passages_stand_in_their_session_in_the_order_they_come() -> None:
    given = [("a", "1"), ("b", "2"), ("c", "1"), ("d", ""), ("e", "1"), ("f", "")]
    memories = memories_of(Passage(id=id_, text="x", session=session) for id_, session in given)
    assert [(memory.id, memory.position) for memory in memories] == [
        *(("a", 0), ("b", 0), ("c", 1), ("d", 0), ("e", 2), ("f", 0))
    ]


def test_triples_are_facts_stated_of_their_passage() -> None:
    given = [Triple(passage_id="p", subject="kafka", predicate="made by", object="The Guild")]
    stated, other = memories_of([Passage(id="p", text="x"), Passage(id="q", text="y")], given)
    assert stated.facts == (Fact("kafka", "made by", "The Guild", confidence=0.8),)
    assert other.facts == ()


async def test_a_stated_triple_is_a_claim_of_its_passage(scoped: GraphStore) -> None:
    given = office(triples=True)
    await Ingestor(GraphSearchEngine(store=scoped)).remember(memories_of(given.passages, given.triples))
    claims = await scoped.list_claims(memory_ids=["a2"])
    assert [(each.type, each.confidence) for each in claims] == [("streams_to", 0.8)]
