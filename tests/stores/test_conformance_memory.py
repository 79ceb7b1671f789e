"""The conformance suite over the store in memory."""

from __future__ import annotations

import pytest

from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.conformance import StoreConformance
from graphsearch.testing.fakes import FixedClock


class TestInMemoryGraphStore(StoreConformance):
    @pytest.fixture
    def unscoped(self, clock: FixedClock) -> InMemoryGraphStore:
        return InMemoryGraphStore(clock=clock)
