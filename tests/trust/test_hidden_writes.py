"""Refusals and reports of every change are those of a graph in which what is hidden never was.

`python -m tests.trust.hidden_writes 1000` compares as many pairs as it is given.
"""

from uuid import uuid4

from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.trust.hidden_writes import compare

PAIRS = 18
IN_POSTGRES = 2


async def test_pairs_of_worlds_in_memory():
    clock = FixedClock()
    stores = InMemoryGraphStore(clock=clock)
    for seed in range(PAIRS):
        one, other = (stores.with_scope(org_id="acme", project_id=str(uuid4())) for _ in range(2))
        await compare(seed, one, other, clock)


async def test_pairs_of_worlds_in_postgres(shared_pool):
    clock = FixedClock()
    stores = PostgresGraphStore(shared_pool, clock=clock, exact=True)
    for seed in range(PAIRS, PAIRS + IN_POSTGRES):
        one, other = (stores.with_scope(org_id="acme", project_id=str(uuid4())) for _ in range(2))
        await compare(seed, one, other, clock)
