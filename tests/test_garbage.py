"""Bulk work collects garbage rarely, and leaves the collector as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from datetime import datetime

import pytest

from graphsearch._support.garbage import rare_collections
from graphsearch.model import Batch
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock


@pytest.fixture(autouse=True)
def own_thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_of_several_at_once_the_thresholds_of_the_process_are_restored() -> None:
    one, other = rare_collections(), rare_collections()
    one.__enter__()
    inside = gc.get_threshold()
    other.__enter__()
    assert gc.get_threshold() == inside != (700, 10, 10)
    one.__exit__(None, None, None)
    other.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


def test_an_error_restores_them() -> None:
    with pytest.raises(ZeroDivisionError), rare_collections():
        raise ZeroDivisionError
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("own", [(0, 10, 10), (1_000_000, 10, 10)])
def test_a_process_that_collects_more_rarely_keeps_its_own(own: tuple[int, int, int]) -> None:
    gc.set_threshold(*own)
    with rare_collections():
        assert gc.get_threshold() == own
    assert gc.get_threshold() == own


def test_thresholds_that_are_set_meanwhile_stay() -> None:
    with rare_collections():
        gc.set_threshold(900, 9, 9)
    assert gc.get_threshold() == (900, 9, 9)


async def test_a_batch_is_written_with_rare_collections() -> None:
    class Watching(FixedClock):
        seen: tuple[int, int, int] | None = None

        def now(self) -> datetime:
            self.seen = gc.get_threshold()
            return super().now()

    clock = Watching()
    store = InMemoryGraphStore(clock=clock).with_scope(org_id="o", project_id="p")
    await store.write(Batch())
    assert clock.seen != (700, 10, 10) == gc.get_threshold()
