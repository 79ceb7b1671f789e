"""Long writes in memory leave the event loop free, exclude other writers, and can be cancelled."""

from __future__ import annotations

import asyncio

import pytest

from graphsearch._support import concurrency
from graphsearch._support.concurrency import in_slices
from graphsearch.errors import UnknownScopeError
from graphsearch.model import Batch, Entity
from graphsearch.stores.memory import InMemoryGraphStore, ScopedMemoryStore
from tests.waiting import Ticks

LARGE = Batch(entities=tuple(Entity(type="concept", name=f"Entity of number {number}") for number in range(1500)))
SMALL = Batch(entities=(Entity(type="concept", name="Small"),))


@pytest.fixture(autouse=True)
def by_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step of long work is a slice of its own, however fast the machine is."""
    monkeypatch.setattr(concurrency, "time", Ticks())


@pytest.fixture
def store() -> ScopedMemoryStore:
    return InMemoryGraphStore().with_scope(org_id="o", project_id="p")


async def names_after(*writes: asyncio.Task[object]) -> list[str]:
    """The names of the tasks in the order in which they end."""
    order: list[str] = []
    for each in writes:
        each.add_done_callback(lambda task: order.append(task.get_name()))
    await asyncio.gather(*writes, return_exceptions=True)
    return order


async def test_a_long_write_leaves_the_event_loop_free(store: ScopedMemoryStore) -> None:
    async def wait() -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    order = await names_after(
        asyncio.create_task(store.write(LARGE), name="write"), asyncio.create_task(wait(), name="wait")
    )
    assert order == ["wait", "write"]


async def test_a_cancelled_write_leaves_nothing(store: ScopedMemoryStore) -> None:
    writing = asyncio.create_task(store.write(LARGE))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    with pytest.raises(UnknownScopeError):
        await store.version()
    assert (await store.write(SMALL)).entities == 1


async def test_writers_wait_for_one_another(store: ScopedMemoryStore) -> None:
    order = await names_after(
        asyncio.create_task(store.write(LARGE), name="large"), asyncio.create_task(store.write(SMALL), name="small")
    )
    assert order == ["large", "small"]
    ids = [each.id for each in (*LARGE.entities, *SMALL.entities)]
    assert len(await store.get_entities(ids)) == len(ids)


async def test_a_cancelled_slice_has_ended_when_the_cancellation_is_raised() -> None:
    ended = []
    begun, loop = asyncio.Event(), asyncio.get_running_loop()

    def work():
        try:
            while True:
                loop.call_soon_threadsafe(begun.set)
                yield
        finally:
            ended.append(True)

    task = asyncio.create_task(in_slices(work()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]
