"""Refusals and reports of every change are those of a graph in which what is hidden never was.

`python -m tests.trust.hidden_writes 1000` compares as many pairs as it is given.
"""

from uuid import uuid4

import pytest

from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.trust.hidden_writes import compare

PAIRS = 36
IN_POSTGRES = 3


@pytest.mark.parametrize("part", range(3))
async def test_pairs_of_worlds_in_memory(part):
    clock = FixedClock()
    stores = InMemoryGraphStore(clock=clock)
    for seed in range(part * PAIRS // 3, (part + 1) * PAIRS // 3):
        one, other = (stores.with_scope(org_id="acme", project_id=str(uuid4())) for _ in range(2))
        await compare(seed, one, other, clock)


async def test_pairs_of_worlds_in_postgres(shared_pool):
    clock = FixedClock()
    stores = PostgresGraphStore(shared_pool, clock=clock, exact=True)
    for seed in range(PAIRS, PAIRS + IN_POSTGRES):
        one, other = (stores.with_scope(org_id="acme", project_id=str(uuid4())) for _ in range(2))
        await compare(seed, one, other, clock)
