"""What is hidden is hidden from questions about what was known earlier too, and they shape no later answer."""

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.model import Batch, Claim, ElementKind, ElementRef, Entity, Memory
from graphsearch.modes.result import SearchMode, SearchRequest
from graphsearch.testing.fakes import NOON
from tests.gates import POLICIES, no_secrets
from tests.graphs import days_ago
from tests.trust.test_statistics import versioned

ANN = Entity(type="person", name="Ann Hill")
DEPOT = Entity(type="facility", name="Quay Depot")
MOMENT = days_ago(15)
THEN = {"as_of": MOMENT, "known_at": MOMENT}


@pytest.fixture
async def engine(scoped, clock):
    """A visible memory of twenty days ago, a hidden one of the next day and a visible later one, as they occurred."""
    stated = (("seen", 20, (), 0.6), ("hidden", 19, ["secret"], 0.9), ("later", 10, (), 0.7))
    for id_, days, labels, confidence in stated:
        clock.set(days_ago(days))
        memory = Memory(id=id_, text=f"zinc, says {id_}", labels=labels, occurred_at=clock.now())
        claim = Claim(
            memory_id=id_, source_id=ANN.id, type="tends", target_id=DEPOT.id, fact=memory.text, confidence=confidence
        )
        await scoped.write(Batch(entities=[ANN, DEPOT], memories=[memory], claims=[claim]))
    clock.set(NOON)
    return GraphSearchEngine(store=scoped)


async def proof(engine, gate=None):
    found = await engine.search("Ann Hill", mode=SearchMode.NEIGHBORHOOD, gate=gate, **THEN)
    return [(each.relation.evidence, each.relation.fact, round(each.relation.confidence, 3)) for each in found.triplets]


@POLICIES
async def test_what_was_known_then_is_what_may_be_seen_of_it(engine, by_signature):
    gate = no_secrets(by_signature=by_signature)
    assert await proof(engine) == [(("hidden", "seen"), "zinc, says hidden", 0.96)]
    assert await proof(engine, gate) == [(("seen",), "zinc, says seen", 0.6)]
    recalled = await engine.recall("zinc", gate=gate, **THEN)
    assert [each.memory.id for each in recalled.memories] == ["seen"]


@POLICIES
async def test_only_what_policies_allow_is_explained(engine, by_signature):
    gate = no_secrets(by_signature=by_signature)
    later = await engine.explain("zinc", ElementRef(ElementKind.MEMORY, "later"), gate=gate, known_at=MOMENT)
    assert "not known" in str(later)
    with pytest.raises(UnknownElementError):
        await engine.explain("zinc", ElementRef(ElementKind.MEMORY, "hidden"), gate=gate, known_at=MOMENT)


@pytest.mark.parametrize("first", [None, MOMENT])
@POLICIES
async def test_statistics_of_one_time_are_not_those_of_another(engine, by_signature, first):
    """In either order of two questions to one engine."""
    gate = versioned(by_signature=by_signature)
    counted = {}
    for known_at in (first, None, MOMENT):
        async with engine._open_for(SearchRequest(query="zinc", gate=gate, known_at=known_at)) as reader:
            counted[known_at] = await reader.document_count(ElementKind.MEMORY)
    assert counted == {None: 2, MOMENT: 1}


@pytest.mark.parametrize("first", [None, MOMENT])
@POLICIES
async def test_facts_of_one_time_are_not_those_of_another(scoped, by_signature, first):
    """Two visible memories state a relation, the later one in other words."""
    memories = [Memory(id=word, occurred_at=days_ago(days)) for word, days in (("zinc", 20), ("copper", 10))]
    claims = [
        Claim(memory_id=each.id, source_id=ANN.id, type="tends", target_id=DEPOT.id, fact=each.id, confidence=0.9)
        for each in memories
    ]
    await scoped.write(Batch(entities=[ANN, DEPOT], memories=memories, claims=claims))
    engine, gate, counted = GraphSearchEngine(store=scoped), versioned(by_signature=by_signature), {}
    for as_of in (first, None, MOMENT):
        async with engine._open_for(SearchRequest(query="zinc", gate=gate, as_of=as_of)) as reader:
            counted[as_of] = await reader.document_frequencies(ElementKind.RELATION, [["zinc"], ["copper"]])
    assert counted == {None: [0, 1], MOMENT: [1, 0]}
