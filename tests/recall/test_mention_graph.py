"""What a walk may reach is gathered by frontiers, of which only the strongest go on."""

import numpy as np

from graphsearch.access.reader import reading
from graphsearch.model import ElementKind, Entity, Memory
from graphsearch.recall.mention_graph import FRONTIER, gather
from tests.recall.telling import mention, tell
from tests.recall.test_answers import fresh

EACH = 30


async def gathered(store, *, limit, count=100, named=()):
    async with reading(store) as reader:
        hits = await store.search_lexical(ElementKind.MEMORY, "roses", limit=count, view=reader.view)
        seeds = await reader.locate(named)
        graph = await gather(hits.keys, np.arange(len(hits), 0.0, -1.0), seeds.keys, limit, reader)
        entities = [each.name for each in await store.get_entities(store.entity_ids(graph.entities))]
        return graph, entities, store.memory_ids(graph.memories)


async def test_two_rounds_and_no_more():
    """Roses → Ada → tea → Bob → rain; Cyd and the fog lie beyond."""
    people = [Entity(type="person", name=name) for name in ("Ada", "Bob", "Cyd")]
    memories = [Memory(id=text, text=text) for text in ("roses", "tea", "rain", "fog")]
    mentions = [
        mention(memory, person, at=place)
        for place, person in enumerate(people)
        for memory in memories[place : place + 2]
    ]
    store = fresh()
    await tell(store, memories, entities=people, mentions=mentions)
    graph, entities, told = await gathered(store, limit=5)
    assert (sorted(entities), sorted(told)) == (["Ada", "Bob"], ["rain", "roses", "tea"])
    assert graph.frequency.tolist() == [2.0, 2.0]
    _, entities, told = await gathered(store, limit=1)
    assert (entities, told) == (["Ada"], ["roses"])  # who is in two memories is walked past
    named = [people[2].id]
    _, entities, told = await gathered(store, limit=5, named=named)
    assert sorted(told) == ["fog", "rain", "roses", "tea"]


async def test_of_too_many_the_strongest_go_on():
    """Entities get shares of their memories' masses: those of the last memories fall out."""
    memories = [Memory(id=f"m{row:02}", text="roses") for row in range(40)]
    people = [Entity(type="person", name=f"P{number}") for number in range(len(memories) * EACH)]
    mentions = [
        mention(memory, people[row * EACH + place], at=place % 5)
        for row, memory in enumerate(memories)
        for place in range(EACH)
    ]
    store = fresh()
    await tell(store, memories, entities=people, mentions=mentions)
    graph, entities, told = await gathered(store, limit=5)
    assert len(people) > FRONTIER
    assert len(entities) == FRONTIER
    assert len(told) == len(memories)
    kept = {int(name[1:]) // EACH for name in entities}
    assert kept == set(range(FRONTIER // EACH + 1))
    assert len(graph.memory) == FRONTIER
