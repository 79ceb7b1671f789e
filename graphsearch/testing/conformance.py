"""The conformance suite: the contract of every `graphsearch.stores.graph.GraphStore`, as tests for pytest.

A store's own tests run all of it (pytest-asyncio in auto mode)::

    class TestMyStore(StoreConformance):
        @pytest.fixture
        async def unscoped(self, clock):
            async with MyStore(clock=clock) as store:  # has with_scope(org_id=, project_id=)
                yield store

Every test uses fresh scopes of its own, so that one store may serve all tests. The suite uses the store through the
protocol alone, and expects exact search. Most of what the verbs of a graph do is left out: they are written once, over
the rows of any store.
"""

# ruff: noqa: E402 - register the specs before importing them, so that pytest explains their assertions

from __future__ import annotations

from pathlib import Path

import pytest

pytest.register_assert_rewrite(
    *(f"graphsearch.testing.{spec.stem}" for spec in sorted(Path(__file__).parent.glob("spec_*.py")))
)

from graphsearch.testing.spec_claims import ClaimsSpec, FactsSpec
from graphsearch.testing.spec_finding import ExpandingSpec, FindingSpec, ViewingSpec
from graphsearch.testing.spec_forgetting import ForgettingSpec, MergingSpec
from graphsearch.testing.spec_learning import LearningSpec
from graphsearch.testing.spec_linking import MentioningSpec
from graphsearch.testing.spec_moving import MovingSpec, ReembeddingSpec, ScopesSpec
from graphsearch.testing.spec_naming import NamingSpec
from graphsearch.testing.spec_rows import RowsSpec
from graphsearch.testing.spec_writing import ReadingSpec, TextsSpec, WritingSpec


class StoreConformance(
    RowsSpec,
    WritingSpec,
    ReadingSpec,
    FindingSpec,
    ExpandingSpec,
    ViewingSpec,
    FactsSpec,
    ClaimsSpec,
    ForgettingSpec,
    NamingSpec,
    MergingSpec,
    MentioningSpec,
    LearningSpec,
    MovingSpec,
    ReembeddingSpec,
    ScopesSpec,
    TextsSpec,
):
    """The whole suite."""
