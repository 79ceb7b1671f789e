"""How the graph led to a memory: from what was named, or from what the words found."""

from graphsearch.model import Memory
from graphsearch.recall.options import RecallScoring
from tests.recall.telling import asking, ids, mention, names, steps, tell

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
    told = memories("a", "b", "c")
    mentions = [mention(told[0], ADA, at=None), mention(told[0], BOB), mention(told[1], BOB, at=None)]
    await tell(scoped, told, entities=[ADA, BOB], mentions=mentions)
    found = await asking(scoped, recall_scoring=QUIET).recall("Ada and Bob")
    paths = {each.memory.id: steps(each) for each in found.memories}
    assert paths == {"a": [f"entity:{ADA.id}", "memory:a"], "b": [f"entity:{BOB.id}", "memory:b"]}


async def test_a_long_way_is_told_from_where_it_was_looked_back_to(scoped):
    """Of a chain of mentions at most three entities are told."""
    chain = names("Ada", "Bob", "Cyd", "Dan", "Eve")
    people = list(chain.values())
    told = memories(*"abcdef")
    mentions = [
        mention(memory, person, at=place) for place, person in enumerate(people) for memory in told[place : place + 2]
    ]
    await tell(scoped, told, entities=people, mentions=mentions)
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
    told = memories("a", "b")
    await tell(scoped, told, entities=[city, ADA], mentions=[mention(told[0], city), mention(told[1], ADA)])
    engine = asking(scoped)
    assert ids(await engine.recall("Which city did Ada see?")) == ["b"]
    assert sorted(ids(await engine.recall("which city did ada see?"))) == ["a", "b"]
