"""Passages as memories, and triples in addition to what is extracted from their text."""

from __future__ import annotations

from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation import Passage, Triple, TripleExtractor, memories_of
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory, Span
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import day
from tests.evaluation.office import office

TEXT = "The İstanbul office streams to Kafka. It is in use."


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


async def test_triples_are_added_to_what_the_rules_extract() -> None:
    memory = Memory(id="p", text="Grace Hopper uses Kafka since then.")
    extractor = TripleExtractor([Triple(passage_id="p", subject="kafka", predicate="made by", object="The  Guild")])
    (extracted,) = await extractor.extract([memory])
    assert extractor.name == "frames/1+triples"
    assert [(each.source.name, each.type, each.target.name) for each in extracted.statements] == [
        ("Grace Hopper", "uses", "Kafka"),
        ("kafka", "made by", "The Guild"),
    ]
    triple = extracted.statements[1]
    assert triple.fact == "kafka made by The Guild"
    assert triple.source.span == Span(start=18, end=23)  # as the text has it, in whatever case
    assert triple.target.span == Span(start=0, end=len(memory.text))  # not there as such: of the text as a whole
    assert {triple.source, triple.target} <= set(extracted.surfaces)


async def test_surfaces_are_found_where_folding_would_move_them() -> None:
    memory = Memory(id="p", text=TEXT)
    (extracted,) = await TripleExtractor(
        [Triple(passage_id="p", subject="Kafka", predicate="is in", object="x y")]
    ).extract([memory])
    span = extracted.statements[-1].source.span
    assert span is not None
    assert TEXT[span.start : span.end] == "Kafka"


async def test_triples_of_other_passages_say_nothing(scoped: GraphStore) -> None:
    given = office(triples=True)
    engine = GraphSearchEngine(store=scoped)
    await Ingestor(engine, extractor=TripleExtractor(given.triples)).remember(memories_of(given.passages))
    claims = [
        claim
        for claim in await scoped.list_claims(memory_ids=["a1", "a2", "b1"])
        if claim.extractor.endswith(":triple")
    ]
    assert [(claim.memory_id, claim.type, claim.extractor) for claim in claims] == [
        ("a2", "streams_to", "frames/1+triples:triple")
    ]
