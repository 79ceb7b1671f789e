"""The walk: what it may reach, what arrives where in closed form on small graphs, and how it led to a memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.reader import reading
from graphsearch.model import ElementKind, Entity, Memory
from graphsearch.ranking.recall_result import RecallScoring
from graphsearch.ranking.scores import Board, best_first, compared
from graphsearch.ranking.walk import (
    FRONTIER,
    MentionGraph,
    NamedEntities,
    Ways,
    carried_on,
    gather,
    mentioning,
    ranked,
)
from tests.ranking.memories.telling import asking, ids, mention, names, steps, tell
from tests.ranking.memories.test_answers import fresh

EACH = 30


async def gathered(store, *, limit, count=100, named=()):
    async with reading(store) as reader:
        hits = await store.search_lexical(ElementKind.MEMORY, "roses", limit=count, view=reader.view)
        keys = (await reader.locate(named)).keys
        seeds = NamedEntities(keys=keys, likely=np.ones(len(keys)), memories=await mentioning(keys, limit, reader))
        graph = await gather(hits.keys, np.arange(len(hits), 0.0, -1.0), seeds, limit, reader)
        entities = [each.name for each in await store.get_entities(store.entity_ids(graph.entities))]
        return graph, entities, store.memory_ids(graph.memories)


async def test_one_round_around_what_was_found_and_two_around_what_is_named():
    """Roses → Ada → tea; Bob, the rain, Cyd and the fog lie beyond. Cyd → rain → Bob → tea."""
    people = [Entity(type="person", name=name) for name in ("Ada", "Bob", "Cyd")]
    memories = [Memory(id=text, text=text) for text in ("roses", "tea", "rain", "fog")]
    mentions = [
        mention(memory, person, at=place)
        for place, person in enumerate(people)
        for memory in memories[place : place + 2]
    ]
    store = fresh()
    await tell(store, memories, entities=people, mentions=mentions)
    graph, entities, reached = await gathered(store, limit=5)
    assert (entities, sorted(reached)) == (["Ada"], ["roses", "tea"])
    assert graph.frequency.tolist() == [2.0]
    _, entities, reached = await gathered(store, limit=1)
    assert (entities, reached) == (["Ada"], ["roses"])  # who is in two memories is walked past
    named = [people[2].id]
    _, entities, reached = await gathered(store, limit=5, named=named)
    assert sorted(reached) == ["fog", "rain", "roses", "tea"]
    assert sorted(entities) == ["Ada", "Bob", "Cyd"]


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
    graph, entities, reached = await gathered(store, limit=5)
    assert len(people) > FRONTIER
    assert len(entities) == FRONTIER
    assert len(reached) == len(memories)
    kept = {int(name[1:]) // EACH for name in entities}
    assert kept == set(range(FRONTIER // EACH + 1))
    assert len(graph.memory) == FRONTIER


def graph(pairs, *, about=(), memories=2, entities=1, times=None):
    memory, entity = np.array(pairs, np.intp).reshape(-1, 2).T
    return MentionGraph(
        memories=np.arange(memories),
        entities=np.arange(entities),
        memory=memory,
        entity=entity,
        times=np.array(times or [1.0] * len(memory)),
        about=np.array([pair in about for pair in pairs], np.bool_),
    )


def walked(mentioned, start, *, subject_weight=20.0, restart=0.3):
    ways = Ways.of(mentioned, 100, subject_weight)
    memories, entities = (np.array(part, np.float64) for part in start)
    return ways, *ranked(mentioned, ways, memories, entities, restart)


def test_an_entity_between_two_memories():
    """p(e) = ρ / (1 − (1 − ρ)²), and each of the two memories has half of (1 − ρ) p(e)."""
    mentioned = graph([(0, 0), (1, 0)])
    _, memories, entities = walked(mentioned, ([0, 0], [1]))
    assert entities == pytest.approx([0.588235], abs=1e-5)  # 0.3 / 0.51
    assert memories == pytest.approx([0.205882, 0.205882], abs=1e-5)  # 0.35 of it
    assert memories.sum() + entities.sum() == pytest.approx(1.0, abs=1e-5)


def test_a_start_at_one_memory():
    """p(a) = ρ + (1 − ρ) p(e) / 2, p(b) = (1 − ρ) p(e) / 2 and p(e) = (1 − ρ)(p(a) + p(b))."""
    mentioned = graph([(0, 0), (1, 0)])
    _, memories, entities = walked(mentioned, ([1, 0], [0]))
    assert entities == pytest.approx([0.411765], abs=1e-5)  # 0.21 / 0.51
    assert memories == pytest.approx([0.444118, 0.144118], abs=1e-5)  # 0.3 + 0.35 of it, and 0.35 of it


def test_what_a_memory_is_about_counts_twenty_times():
    mentioned = graph([(0, 0), (1, 0)], about=[(0, 0)])
    ways, memories, _ = walked(mentioned, ([0, 0], [1]))
    assert ways.to_memory == pytest.approx([0.952380952, 0.047619048])  # 20 : 1
    assert ways.to_entity.tolist() == [1.0, 1.0]
    assert memories[0] / memories[1] == pytest.approx(20.0)


def test_rare_and_often_mentioned_entities_take_more():
    """Weights are (1 + ln tf) · ln(1 + (N − n + 0.5) / (n + 0.5)), N = 100."""
    mentioned = graph([(0, 0), (1, 0), (0, 1)], entities=2, times=[1.0, 1.0, 3.0])
    ways = Ways.of(mentioned, 100, 20.0)
    # The common one: ln(1 + 98.5 / 2.5) = ln 40.4. The rare one: (1 + ln 3) · ln(1 + 99.5 / 1.5) = 2.0986 · ln 67.33.
    assert ways.to_entity == pytest.approx([0.295121022, 1.0, 0.704878978])


def test_an_entity_in_more_memories_than_are_counted_weighs_nothing_rather_than_less():
    """The statistics of a scope may lag behind the graph's own count."""
    mentioned = graph([(row, 0) for row in range(3)], memories=3)
    ways = Ways.of(mentioned, 1, 1.0)
    assert (ways.to_entity >= 0).all()
    assert np.isfinite(ways.to_memory).all()


def test_nothing_but_restarts():
    mentioned = graph([(0, 0), (1, 0)])
    _, memories, entities = walked(mentioned, ([0.5, 0], [0.5]), restart=1.0)
    assert memories.tolist() == [0.5, 0.0]
    assert entities.tolist() == [0.5]


def test_no_step_goes_back():
    """One memory and its only entity: what comes back to it by that leads from nowhere."""
    mentioned = graph([(0, 0)], memories=1)
    ways, memories, entities = walked(mentioned, ([1], [0]))
    onward, back = carried_on(mentioned, ways, memories, entities, 0.3)
    assert onward.tolist() == [0.0]
    assert back == pytest.approx([0.3], abs=1e-4)  # what started there


pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=15, unique=True)


@given(pairs, st.floats(0.15, 1.0), st.floats(1.0, 50.0))
def test_mass_is_neither_made_nor_negative(mentions, restart, subject_weight):
    mentioned = graph(mentions, about=mentions[::2], memories=6, entities=5)
    start = (np.full(6, 1 / 11), np.full(5, 1 / 11))
    ways, memories, entities = walked(mentioned, start, subject_weight=subject_weight, restart=restart)
    assert (memories >= 0).all()
    assert (entities >= 0).all()
    assert memories.sum() + entities.sum() <= 1.0 + 1e-9
    again = restart * start[0] + (1 - restart) * np.bincount(
        mentioned.memory, ways.to_memory * entities[mentioned.entity], 6
    )
    assert again == pytest.approx(memories, abs=1e-4)


def test_parts_add_up():
    board = Board(np.array([], np.int64))
    board.add("lexical", np.array([3, 1]), np.array([2.0, 1.0]))
    board.add("graph", np.array([5, 3]), np.array([4.0, 1.0]))
    assert dict(zip(board.keys.tolist(), board.total.tolist(), strict=True)) == {1: 1.0, 3: 3.0, 5: 4.0}
    assert board.of(np.array([5, 7])).tolist() == [4.0, 0.0]
    board.best_is_one()
    assert board.total.max() == 1.0
    assert sum(part for part in board.parts.values()) == pytest.approx(board.total)
    assert board.first(2).tolist() == [5, 3]


def test_nothing_is_scaled_where_nothing_scores():
    board = Board(np.array([], np.int64))
    board.add("lexical", np.array([1]), np.array([0.0]))
    board.best_is_one()
    assert board.total.tolist() == [0.0]


def test_the_best_come_first_and_equal_ones_by_key():
    keys = np.array(["b", "a", "d", "c"])
    assert keys[best_first(np.array([0.5, 0.5, 0.7, 0.5 + 1e-9]), keys, 3)].tolist() == ["d", "a", "b"]
    assert best_first(np.empty(0), keys[:0], 3).tolist() == []


@given(st.lists(st.floats(0, 1), max_size=20), st.integers(1, 25))
def test_the_best_of_many_are_those_of_all(values, count):
    scores, keys = np.array(values), np.arange(len(values))[::-1]
    every = best_first(scores, keys, len(values) + 1)
    assert best_first(scores, keys, count).tolist() == every[:count].tolist()
    assert (np.diff(compared(scores)[every]) <= 0).all()


@given(st.floats(1e-9, 1))
def test_five_digits_are_compared(score):
    assert compared(np.array([score])) == pytest.approx([score], rel=4e-6)


ADA, BOB, CYD = names("Ada", "Bob", "Cyd").values()
QUIET = RecallScoring(memory_mass=0.0)


def memories(*ids_, text="Tea"):
    return [Memory(id=id_, text=text) for id_ in ids_]


async def test_from_a_named_entity_over_a_memory_and_another_entity(scoped):
    near, far = memories("near", "far")
    await tell(
        scoped, [near, far], entities=[ADA, BOB], mentions=[mention(near, ADA), mention(near, BOB), mention(far, BOB)]
    )
    found = await asking(scoped, recall_scoring=QUIET).recall("Ada")
    assert ids(found) == ["near", "far"]
    start = [f"entity:{ADA.id}", "memory:near"]
    assert steps(found.memories[0]) == start
    assert steps(found.memories[1]) == [*start, f"entity:{BOB.id}", "memory:far"]


async def test_from_a_memory_that_words_found(scoped):
    found_by_words, near = Memory(id="roses", text="roses"), Memory(id="tea", text="tea")
    mentions = [mention(found_by_words, BOB), mention(near, BOB)]
    await tell(scoped, [found_by_words, near], entities=[BOB], mentions=mentions)
    found = await asking(scoped).recall("any roses?")
    assert [steps(each) for each in found.memories] == [[], ["memory:roses", f"entity:{BOB.id}", "memory:tea"]]


async def test_the_way_along_which_more_arrives(scoped):
    """The entity that the memory is about carries more of the walk than the one it only mentions."""
    remembered = memories("a", "b", "c")
    mentions = [mention(remembered[0], ADA, at=None), mention(remembered[0], BOB), mention(remembered[1], BOB, at=None)]
    await tell(scoped, remembered, entities=[ADA, BOB], mentions=mentions)
    found = await asking(scoped, recall_scoring=QUIET).recall("Ada and Bob")
    paths = {each.memory.id: steps(each) for each in found.memories}
    assert paths == {"a": [f"entity:{ADA.id}", "memory:a"], "b": [f"entity:{BOB.id}", "memory:b"]}


async def test_a_long_way_begins_where_the_search_backwards_ended(scoped):
    """Of a chain of mentions at most three entities are reported."""
    chain = names("Ada", "Bob", "Cyd", "Dan", "Eve")
    people = list(chain.values())
    remembered = memories(*"abcdef")
    mentions = [
        mention(memory, person, at=place)
        for place, person in enumerate(people)
        for memory in remembered[place : place + 2]
    ]
    await tell(scoped, remembered, entities=people, mentions=mentions)
    scoring = RecallScoring(memory_mass=0.0, restart=0.1)
    found = await asking(scoped, recall_scoring=scoring).recall("Ada")
    paths = {each.memory.id: steps(each) for each in found.memories}
    assert paths["a"] == [f"entity:{ADA.id}", "memory:a"]
    assert paths["c"] == [f"entity:{ADA.id}", "memory:b", f"entity:{BOB.id}", "memory:c"]
    assert all(len(path) <= 7 for path in paths.values())


async def test_what_words_alone_found_has_no_path(scoped):
    plain, named = Memory(id="plain", text="roses"), Memory(id="named", text="tea")
    await tell(scoped, [plain, named], entities=[CYD], mentions=[mention(named, CYD)])
    found = await asking(scoped).recall("roses of Cyd")
    assert {each.memory.id: bool(each.path) for each in found.memories} == {"named": True, "plain": False}


async def test_words_that_are_no_names(scoped):
    """Where a question writes names with capitals, a word without one is none."""
    city = names("city")["city"]
    remembered = memories("a", "b")
    await tell(
        scoped, remembered, entities=[city, ADA], mentions=[mention(remembered[0], city), mention(remembered[1], ADA)]
    )
    engine = asking(scoped)
    assert ids(await engine.recall("Which city did Ada see?")) == ["b"]
    assert sorted(ids(await engine.recall("which city did ada see?"))) == ["a", "b"]
