"""What is hidden shapes nothing: answers equal those of a graph in which the hidden never was.

`python -m tests.trust.noninterference 100000` compares as many pairs as it is given, and asks all questions of each.
"""

from uuid import uuid4

import pytest

from graphsearch.operations.operation import Profile
from graphsearch.operations.table import operations
from graphsearch.ranking.entity_ranking import Ranking
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.trust.changes import CHANGES
from tests.trust.noninterference import MODES, compare
from tests.trust.questions import OPERATOR_TOOLS, PAGE, QUESTIONS, TOOLS, Subject

PAIRS = 150
IN_POSTGRES = 10


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


@pytest.mark.parametrize("mode", MODES)
def test_tools_are_asked_in_a_form_that_they_take(mode):
    """A refused question would compare as equal, whatever is hidden."""
    about = Subject("Ada", "Bob", "m0", uuid4(), mode, Ranking.RRF)
    for tool, arguments in {**TOOLS, **OPERATOR_TOOLS, **PAGE}.items():
        tool.operation.read(arguments(about))


def test_every_tool_is_asked():
    asked = {name.removeprefix("tool ") for name in (*QUESTIONS, *CHANGES) if name.startswith("tool ")}
    served = {each.name for each in operations().values() if each.profile <= Profile.ALL}
    assert asked == served - {"proposals", "preview_proposal", "accept_proposal", "reject_proposal"}
