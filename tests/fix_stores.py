"""A fresh scope on every store."""

from uuid import uuid4

import pytest

from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture(params=["memory"])
async def scoped(request, clock):
    return InMemoryGraphStore(clock=clock).with_scope(org_id="acme", project_id=f"web-{uuid4()}")
