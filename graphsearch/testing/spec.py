"""The base of every part of the conformance suite: a clock, an unscoped store, and fresh scopes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from uuid import uuid4

import pytest

from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock


class Unscoped(Protocol):
    """A store that creates scoped stores."""

    def with_scope(self, *, org_id: str, project_id: str) -> GraphStore:
        """The graph of one scope."""
        ...


FreshScope = Callable[[], GraphStore]


class StoreSpec:
    """The fixtures. A store's own test class overrides `unscoped`; it may be async or session-scoped."""

    @pytest.fixture
    def clock(self) -> FixedClock:
        """The clock to pass to the store under test."""
        return FixedClock()

    @pytest.fixture
    def unscoped(self, clock: FixedClock) -> Unscoped:
        """The store under test."""
        raise AssertionError(f"override the fixture `unscoped`: return your store, made with the clock {clock}")

    @pytest.fixture
    def fresh(self, unscoped: Unscoped) -> FreshScope:
        """Creates scopes that were never written to."""
        return lambda: unscoped.with_scope(org_id=f"org-{uuid4().hex}", project_id="project")

    @pytest.fixture
    def store(self, fresh: FreshScope) -> GraphStore:
        """A scope that was never written to."""
        return fresh()
