"""What a scope hides shapes no answer to a question to several scopes, in whichever order they are named.

`python -m tests.trust.federation 1000` compares as many pairs as it is given, and asks all questions of each.
"""

from uuid import uuid4

import pytest

from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.trust.federation import compare, projects

PAIRS = 16
IN_POSTGRES = 3


@pytest.mark.parametrize("part", range(2))
async def test_pairs_of_federations_in_memory(part):
    stores = InMemoryGraphStore(clock=FixedClock())
    for seed in range(part * PAIRS // 2, (part + 1) * PAIRS // 2):
        await compare(seed, projects(stores, uuid4().hex), projects(stores, uuid4().hex))


async def test_pairs_of_federations_in_postgres(shared_pool):
    stores = PostgresGraphStore(shared_pool, clock=FixedClock(), exact=True)
    for seed in range(PAIRS, PAIRS + IN_POSTGRES):
        await compare(seed, projects(stores, uuid4().hex), projects(stores, uuid4().hex))
