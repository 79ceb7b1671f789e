"""Questions about the past: what a relation stated then, whatever was stated of it later, on every store."""

from datetime import UTC, datetime

import pytest

from graphsearch import (
    ALLOW_ALL,
    Batch,
    Claim,
    ContextBuilder,
    Entity,
    GraphSearchEngine,
    Memory,
    Mention,
    Relation,
    SearchMode,
)
from graphsearch.testing.fakes import EchoLLM, HashEmbedder, WordCounter

ANN, OLIVE, DEPOT = (
    Entity(type="person", name="Ann Hill"),
    Entity(type="person", name="Olive Tann"),
    Entity(type="facility", name="Quay Depot"),
)
EMBEDDER = HashEmbedder()
JANUARY, FEBRUARY, MARCH = (datetime(2025, month, 1, tzinfo=UTC) for month in (1, 2, 3))
MID_FEBRUARY = datetime(2025, 2, 14, tzinfo=UTC)
QUERY = "what does Ann Hill tend at Quay Depot?"


def stated(id_, occurred_at, fact, confidence, *, type_="tends", target=DEPOT, **dates):
    """A memory, and what it claims of Ann and the depot."""
    return (
        Memory(id=id_, text=fact, occurred_at=occurred_at),
        Claim(
            memory_id=id_,
            source_id=ANN.id,
            type=type_,
            target_id=target.id,
            fact=fact,
            confidence=confidence,
            **dates,
        ),
    )


async def written(scoped, *statements, llm=None):
    memories, claims = zip(*statements, strict=True)
    vectors = {each.id: EMBEDDER.vector(each.name) for each in (ANN, OLIVE, DEPOT)}
    mentions = [
        Mention(memory_id=each.id, entity_id=end.id, surface=end.name) for each in memories for end in (ANN, DEPOT)
    ]
    await scoped.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    await scoped.write(
        Batch(entities=[ANN, OLIVE, DEPOT], memories=memories, mentions=mentions, claims=claims, vectors=vectors)
    )
    return GraphSearchEngine(store=scoped, embedder=EMBEDDER, llm=llm)


BOTH = (
    stated("february", FEBRUARY, "Ann tends the small crane.", 0.6),
    stated("march", MARCH, "Ann tends the big crane now.", 0.9),
)


@pytest.fixture
async def engine(scoped):
    return await written(scoped, *BOTH)


def of_february(relation):
    return (relation.fact, relation.evidence, relation.confidence) == (
        "Ann tends the small crane.",
        ("february",),
        pytest.approx(0.6),
    )


async def test_the_present_has_both(engine):
    (triplet,) = await engine.neighbors("Ann Hill")
    assert triplet.relation.fact == "Ann tends the big crane now."
    assert triplet.relation.evidence == ("february", "march")
    assert triplet.relation.confidence == pytest.approx(0.96)


@pytest.mark.parametrize("mode", [SearchMode.GRAPH_COMPLETION, SearchMode.TRIPLET_COMPLETION, SearchMode.NEIGHBORHOOD])
async def test_a_search_as_of_february_shows_nothing_of_march(engine, mode):
    (triplet,) = (await engine.search(QUERY, mode=mode, as_of=MID_FEBRUARY)).triplets
    assert of_february(triplet.relation)
    assert triplet.breakdown.confidence == pytest.approx(0.6)


async def test_models_are_shown_nothing_of_march(scoped):
    query = '{"anchors": ["Ann Hill"], "relation_types": [], "direction": "both", "hops": 1}'
    llm = EchoLLM(query, '{"sentences": [{"text": "She tends a crane.", "cites": [1]}]}')
    engine = await written(scoped, *BOTH, llm=llm)
    found = await engine.search(QUERY, mode=SearchMode.NATURAL_LANGUAGE, as_of=MID_FEBRUARY, gate=ALLOW_ALL)
    assert [of_february(each.relation) for each in found.triplets] == [True]
    await engine.search(QUERY, mode=SearchMode.SUMMARY, as_of=MID_FEBRUARY, gate=ALLOW_ALL)
    assert "small crane" in llm.asked[-1]
    assert not any("big crane" in each for each in llm.asked)


async def test_neighbors_paths_and_explanations(engine):
    (triplet,) = await engine.neighbors("Ann Hill", as_of=MID_FEBRUARY)
    assert of_february(triplet.relation)
    path = await engine.path("Ann Hill", "Quay Depot", as_of=MID_FEBRUARY)
    assert of_february(path.relations[0])
    assert path.strength == pytest.approx(0.6)
    why = await engine.explain("Ann Hill", triplet.relation.id, mode=SearchMode.NEIGHBORHOOD, as_of=MID_FEBRUARY)
    assert of_february(why.triplet.relation)


async def test_memories_entities_and_blocks(engine):
    recalled = await engine.recall("the crane of Ann Hill", as_of=MID_FEBRUARY)
    assert [each.memory.id for each in recalled.memories] == ["february"]
    block = await ContextBuilder(engine, counter=WordCounter(), log=None).build(
        QUERY, session_id="s", budget=400, as_of=MID_FEBRUARY, gate=ALLOW_ALL
    )
    assert "small crane" in block.text
    assert "big crane" not in block.text
    ranked = await engine.rank_entities("Quay Depot", as_of=MID_FEBRUARY)
    assert ranked.entities[0].connections == 1


async def test_a_sentence_of_march_finds_nothing_in_february(engine):
    found = await engine.search("big crane now", mode=SearchMode.TRIPLET_COMPLETION, as_of=MID_FEBRUARY)
    assert all(of_february(each.relation) for each in found.triplets)
    then = await engine.search("small crane", mode=SearchMode.TRIPLET_COMPLETION, as_of=MID_FEBRUARY)
    assert [of_february(each.relation) for each in then.triplets] == [True]


async def test_what_was_not_sure_enough_then_is_left_out(scoped):
    engine = await written(
        scoped,
        stated("february", FEBRUARY, "Ann may tend the crane.", 0.4),
        stated("march", MARCH, "Ann tends the crane.", 0.9),
    )
    assert await engine.neighbors("Ann Hill", as_of=MID_FEBRUARY) == ()
    assert len(await engine.neighbors("Ann Hill")) == 1


async def test_a_later_memory_that_speaks_of_then_corrects_it(scoped):
    engine = await written(
        scoped,
        stated("march", MARCH, "Ann has tended the crane since January.", 0.8, valid_from=JANUARY),
    )
    (triplet,) = await engine.neighbors("Ann Hill", as_of=MID_FEBRUARY)
    assert triplet.relation.fact == "Ann has tended the crane since January."
    known_then = await engine.search("Ann Hill", as_of=MID_FEBRUARY, known_at=MID_FEBRUARY)
    assert known_then.triplets == ()


async def test_a_later_memory_ends_what_held_and_lends_it_nothing(scoped):
    """Now it is known that she left in March; what is known of February is what February stated."""
    engine = await written(scoped, BOTH[0], stated("march", MARCH, "Ann left the crane in March.", 0.9, valid_to=MARCH))
    (triplet,) = await engine.neighbors("Ann Hill", as_of=MID_FEBRUARY)
    assert of_february(triplet.relation)
    assert triplet.relation.valid_to == MARCH
    assert await engine.neighbors("Ann Hill") == ()


async def test_evidence_of_what_was_given_is_that_of_then(scoped):
    given = Batch(
        entities=[ANN, DEPOT],
        memories=[Memory(id="february", occurred_at=FEBRUARY), Memory(id="march", occurred_at=MARCH)],
        relations=[Relation(source_id=ANN.id, type="tends", target_id=DEPOT.id, evidence=("february", "march"))],
    )
    await scoped.write(given)
    (triplet,) = await GraphSearchEngine(store=scoped).neighbors("Ann Hill", as_of=MID_FEBRUARY)
    assert triplet.relation.evidence == ("february",)
