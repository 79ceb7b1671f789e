"""The bounds of the walk, on every store."""

import pytest

from graphsearch.errors import InvalidInputError, MissingDependencyError
from graphsearch.traversal.paths import KHopTraversal
from tests.graphs import edge, people, person


def names(store, keys):
    by_id = {person(name): name for name in ("Hub", "Ada", "Bob", "Cyd", "Dan", "Eve")}
    return {by_id[id_] for id_ in store.entity_ids(keys)}


async def test_walk_goes_both_ways_as_far_as_the_depth(scoped):
    await scoped.write(people(edge("Ada", "knows", "Bob"), edge("Cyd", "knows", "Bob"), names="Ada Bob Cyd"))
    near = await KHopTraversal(scoped).walk([person("Ada")], depth=1)
    far = await KHopTraversal(scoped).walk([person("Ada")], depth=2)
    assert (names(scoped, near.entities), near.hops.tolist()) == ({"Ada", "Bob"}, [0, 1])
    assert names(scoped, far.entities) == {"Ada", "Bob", "Cyd"}
    assert (len(near.relations), len(far.relations)) == (1, 2)
    assert names(scoped, far.seeds()) == {"Ada"}
    assert len((await KHopTraversal(scoped).walk([person("Ada")], depth=0)).relations) == 0


async def test_fan_out_keeps_the_strongest(scoped):
    spokes = [edge("Hub", "knows", name, confidence=sure) for name, sure in (("Ada", 0.6), ("Bob", 0.9), ("Cyd", 0.8))]
    await scoped.write(people(*spokes, names="Hub Ada Bob Cyd"))
    graph = await KHopTraversal(scoped, fan_out=2).walk([person("Hub")], depth=1)
    assert names(scoped, graph.entities) == {"Hub", "Bob", "Cyd"}


async def test_a_frontier_keeps_the_most_reliable(scoped):
    spokes = [edge("Hub", "knows", name, confidence=sure) for name, sure in (("Ada", 0.6), ("Bob", 0.9), ("Cyd", 0.8))]
    beyond = [edge("Ada", "knows", "Dan"), edge("Bob", "knows", "Eve")]
    await scoped.write(people(*spokes, *beyond, names="Hub Ada Bob Cyd Dan Eve"))
    graph = await KHopTraversal(scoped, max_entities=1).walk([person("Hub")], depth=2)
    assert names(scoped, graph.entities) == {"Hub", "Ada", "Bob", "Cyd", "Eve"}  # only Bob was walked on from


async def test_bounds_are_checked_and_walk_needs_a_store():
    with pytest.raises(InvalidInputError) as error:
        KHopTraversal(fan_out=0, max_entities=0)
    assert len(error.value.faults) == 2
    with pytest.raises(MissingDependencyError, match=r"KHopTraversal\(store\)"):
        await KHopTraversal().walk([person("Ada")])
