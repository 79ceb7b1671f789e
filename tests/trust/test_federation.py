"""What a scope hides shapes no answer to a question to several scopes, in whichever order they are named.

`python -m tests.trust.federation 1000` compares as many pairs as it is given, and asks all questions of each.
"""

from uuid import uuid4

from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.trust.federation import compare, projects

PAIRS = 8
IN_POSTGRES = 2


async def test_pairs_of_federations_in_memory():
    stores = InMemoryGraphStore(clock=FixedClock())
    for seed in range(PAIRS):
        await compare(seed, projects(stores, uuid4().hex), projects(stores, uuid4().hex))


async def test_pairs_of_federations_in_postgres(shared_pool):
    stores = PostgresGraphStore(shared_pool, clock=FixedClock(), exact=True)
    for seed in range(PAIRS, PAIRS + IN_POSTGRES):
        await compare(seed, projects(stores, uuid4().hex), projects(stores, uuid4().hex))
