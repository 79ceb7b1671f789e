"""What every part of the conformance suite starts from: a clock, an unscoped store, and fresh scopes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from uuid import uuid4

import pytest

from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import FixedClock


class Unscoped(Protocol):
    """A store that hands out scopes."""

    def with_scope(self, *, org_id: str, project_id: str) -> GraphStore:
        """The graph of one scope."""
        ...


FreshScope = Callable[[], GraphStore]


class StoreSpec:
    """The fixtures. A store's own test class overrides `unscoped`; it may be async, and may live for the session."""

    @pytest.fixture
    def clock(self) -> FixedClock:
        """Hand this to the store under test."""
        return FixedClock()

    @pytest.fixture
    def unscoped(self, clock: FixedClock) -> Unscoped:
        """The store under test."""
        raise AssertionError(f"override the fixture `unscoped`: return your store, made with the clock {clock}")

    @pytest.fixture
    def fresh(self, unscoped: Unscoped) -> FreshScope:
        """Makes scopes that nothing was ever written to."""
        return lambda: unscoped.with_scope(org_id=f"org-{uuid4().hex}", project_id="project")

    @pytest.fixture
    def store(self, fresh: FreshScope) -> GraphStore:
        """A scope that nothing was ever written to."""
        return fresh()
