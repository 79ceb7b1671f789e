"""The past shows nothing that came later: answers equal those of a graph that never heard of it.

`python -m tests.trust.past 10000` compares as many worlds as it is given, and asks all questions of each.
"""

from uuid import uuid4

import pytest

from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.trust.past import compare, compare_known_now

WORLDS = 10
IN_POSTGRES = 2
REMADE = 247
"""The world in which later evidence changes when a relation began, and so its id."""


@pytest.fixture(params=["memory", "postgres"])
def worlds(request):
    """A store whose clock moves, and the numbers of the worlds that are tried in it."""
    clock = FixedClock()
    if request.param == "memory":
        return InMemoryGraphStore(clock=clock), clock, range(WORLDS)
    pool = request.getfixturevalue("shared_pool")
    return PostgresGraphStore(pool, clock=clock, exact=True), clock, range(WORLDS, WORLDS + IN_POSTGRES)


def scope(stores):
    return stores.with_scope(org_id="acme", project_id=str(uuid4()))


async def test_what_was_known_then_is_what_a_graph_knew_that_never_heard_of_more(worlds):
    stores, clock, seeds = worlds
    for seed in seeds:
        await compare(seed, scope(stores), scope(stores), clock)


async def test_a_relation_that_was_remade_since_is_known_as_of_then(worlds):
    stores, clock, _ = worlds
    await compare(REMADE, scope(stores), scope(stores), clock, asked=None)


async def test_what_is_known_now_of_then_is_proved_by_what_had_occurred(worlds):
    stores, clock, seeds = worlds
    found = [await compare_known_now(seed, scope(stores), scope(stores), clock) for seed in seeds]
    assert sum(found)
