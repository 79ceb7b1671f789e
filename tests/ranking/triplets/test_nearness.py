"""Entities that a question describes and does not name, through an engine."""

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest.write.writer import embed_facts
from graphsearch.model import Batch, Entity, Relation
from graphsearch.modes.result import SearchMode
from graphsearch.text.bm25 import embedding_text
from tests.question.harbour import lines, meaning

DESCRIBED = {
    "Bellows": "A hand pump that empties the hull of a boat of sea water.",
    "Lantern": "A lamp of brass with four panes, hung on the mast at night.",
    "Mallet": "A wooden hammer for driving caulk into the seams of planks.",
    "Sextant": "An instrument that measures the angle between a star and the horizon.",
    "Windlass": "A drum with a crank that hauls the anchor chain up.",
}


async def shed(store):
    """Tools that are described, each on its own shelf."""
    tools = [Entity(type="tool", name=name, description=description) for name, description in DESCRIBED.items()]
    shelves = [Entity(type="shelf", name=f"Shelf {name[0]}") for name in DESCRIBED]
    rows = [
        Relation(source_id=tool.id, type="stored_on", target_id=shelf.id)
        for tool, shelf in zip(tools, shelves, strict=True)
    ]
    embedder = meaning()
    entities = [*tools, *shelves]
    vectors = await embedder.embed([embedding_text(each) for each in entities], input_type="document")
    await store.bind_embedder(embedder.name, embedder.dimensions)
    by_id = dict(zip([each.id for each in entities], vectors, strict=True))
    await store.write(Batch(entities=entities, relations=rows, vectors=by_id))
    await embed_facts(store, embedder)
    return GraphSearchEngine(store=store, embedder=embedder)


async def test_what_a_question_describes_stands_for_a_name(scoped):
    engine = await shed(scoped)
    for question, name in {
        "what measures the angle of a star over the horizon?": "Sextant",
        "which tool hauls up the anchor chain?": "Windlass",
        "something to pump sea water out of the hull": "Bellows",
        "a wooden hammer for the seams of planks": "Mallet",
    }.items():
        found = await engine.search(question)
        assert lines(found)[0][0] == name, question
        assert found.anchors == ()
        assert all(0.0 < each.breakdown.proximity <= 1.0 for each in found.triplets)


async def test_the_entities_of_an_answer_stand_in_the_order_in_which_they_are_described(scoped):
    engine = await shed(scoped)
    question = "which tool hauls up the anchor chain?"
    found = await engine.search(question)
    ranked = await engine.rank_entities(question, limit=10)
    shown = {entity.id for entity in found.entities}
    assert shown == {end.id for each in found.triplets for end in (each.source, each.target)}
    first = [each for each in found.subjects if each in shown]
    assert [entity.id for entity in found.entities][: len(first)] == first
    assert first == [each.entity.id for each in ranked.entities if each.entity.id in first]
    assert found.entities[0].name == "Windlass"


async def test_the_entities_that_answer_come_before_what_is_named(scoped):
    engine = await shed(scoped)
    found = await engine.search("where is the Lantern stored?")
    assert found.subjects == ()
    names = [entity.name for entity in found.entities]
    assert (names[0], names[-1]) == ("Shelf L", "Lantern")


async def test_a_name_alone_asks_for_what_it_names(scoped):
    engine = await shed(scoped)
    for mode in (SearchMode.GRAPH_COMPLETION, SearchMode.NEIGHBORHOOD):
        found = await engine.search("Lantern", mode=mode)
        assert [entity.name for entity in found.entities][:1] == ["Lantern"], mode


async def test_silence_has_no_subjects(scoped):
    engine = await shed(scoped)
    found = await engine.search("who won the parliamentary election?")
    assert (found.subjects, found.entities) == ((), ())


async def test_what_is_named_for_certain_comes_before_what_is_only_described(scoped):
    engine = await shed(scoped)
    found = await engine.search("is the Lantern stored near what hauls up the anchor chain?")
    assert lines(found)[0][0] == "Lantern"


async def test_what_describes_nothing_known_finds_nothing(scoped):
    engine = await shed(scoped)
    for question in ("who won the parliamentary election?", "translate this poem for a class"):
        found = await engine.search(question)
        assert (lines(found), found.reason) == ([], "nothing visible has to do with the question")
