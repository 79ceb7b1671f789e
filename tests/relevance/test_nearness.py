"""Entities that a question describes and does not name, through an engine."""

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest.facts import embed_facts
from graphsearch.model import Entity, Relation
from graphsearch.records import Batch
from graphsearch.scoring.lexical import embedding_text
from tests.understanding.harbour import lines, meaning

DESCRIBED = {
    "Bellows": "A hand pump that empties the hull of a boat of sea water.",
    "Lantern": "A lamp of brass with four panes, hung on the mast at night.",
    "Mallet": "A wooden hammer for driving caulk into the seams of planks.",
    "Sextant": "An instrument that measures the angle between a star and the horizon.",
    "Windlass": "A drum with a crank that hauls the anchor chain up.",
}


async def shed(store):
    """Tools that are described, each on its own shelf."""
    tools = [Entity(type="tool", name=name, description=told) for name, told in DESCRIBED.items()]
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
        assert all(0.0 < each.score.proximity <= 1.0 for each in found.triplets)


async def test_what_is_named_for_certain_comes_before_what_is_only_described(scoped):
    engine = await shed(scoped)
    found = await engine.search("is the Lantern stored near what hauls up the anchor chain?")
    assert lines(found)[0][0] == "Lantern"


async def test_what_describes_nothing_known_finds_nothing(scoped):
    engine = await shed(scoped)
    for question in ("who won the parliamentary election?", "translate this poem for a class"):
        found = await engine.search(question)
        assert (lines(found), found.reason) == ([], "nothing that is known has to do with the question")
