"""Questions about facts that were stated, end to end: other words for relations, values, and who asks."""

import pytest

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.curation.curator import Curator
from graphsearch.embedders.wordllama import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Fact, Memory

FACTS = {
    "Odile Brandt reports to Tamsin Roe.": Fact("Odile Brandt", "reports to", "Tamsin Roe"),
    "Odile Brandt works at Quarrel Kilns.": Fact("Odile Brandt", "works at", "Quarrel Kilns", object_type="company"),
    "Odile Brandt lives in Stoke.": Fact("Odile Brandt", "lives in", "Stoke"),
    "Tamsin Roe leads Glazing.": Fact("Tamsin Roe", "leads", "Glazing", object_type="team"),
    "Quarrel Kilns uses Postgres.": Fact("Quarrel Kilns", "uses", "Postgres"),
    "The Harbour order is on hold.": Fact("Harbour order", "status", "on hold"),
    "The Harbour order has a budget of 90k euros.": Fact("Harbour order", "budget", "90k euros"),
}


@pytest.fixture
async def engine(scoped):
    found = GraphSearchEngine(store=scoped, embedder=WordLlamaEmbedder())
    memories = [Memory(id=f"m{at}", text=text, facts=(fact,)) for at, (text, fact) in enumerate(FACTS.items())]
    await Ingestor(found, extractor=None).remember(memories)
    return found


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("who's odile's boss?", "Tamsin Roe"),
        ("who does Odile answer to?", "Tamsin Roe"),
        ("who is on Tamsin's team?", "Odile Brandt"),
        ("who heads Glazing?", "Tamsin Roe"),
        ("who employs Odile?", "Quarrel Kilns"),
        ("which database do we use?", "Postgres"),
        ("which order is on hold?", "on hold"),
    ],
)
async def test_the_first_triplet_answers(engine, question, first):
    found = await engine.search(question)
    assert first in (found.triplets[0].source.name, found.triplets[0].target.name)


@pytest.mark.parametrize("question", ["who reports to Odile?", "who is Tamsin's boss?", "did we ever use Kafka?"])
async def test_what_the_words_mean_and_nobody_stated_is_not_answered(engine, question):
    assert not (await engine.search(question)).triplets


async def test_values_are_found_but_are_no_names(engine):
    found = await engine.search("which order is on hold?")
    assert "on hold" not in [name.written for name in found.interpretation.names if name.entities]
    curator = Curator(engine, gate=ALLOW_ALL)
    assert await curator.search_entities("90k") == await curator.search_entities("on hold") == ()
    assert [hit.entity.name for hit in await curator.search_entities("90k", type="value")] == ["90k euros"]
