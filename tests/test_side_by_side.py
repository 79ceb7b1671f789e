from __future__ import annotations

import asyncio
import inspect
from collections.abc import Generator

import pytest

from graphsearch._support import concurrency
from graphsearch._support.concurrency import both, in_slices


async def test_the_results_of_both() -> None:
    async def later(value: str) -> str:
        await asyncio.sleep(0)
        return value

    async def at_once(value: int) -> int:
        return value

    assert await both(later("a"), at_once(1)) == ("a", 1)


async def test_where_one_fails_the_other_has_ended() -> None:
    ended: list[str] = []

    async def waiting() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("waiting")

    async def failing() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    for parts in ((waiting(), failing()), (failing(), waiting())):
        with pytest.raises(ValueError, match="no"):
            await both(*parts)
    assert ended == ["waiting"] * 2


async def test_who_waits_no_longer_ends_both() -> None:
    ended: list[int] = []
    begun = asyncio.Barrier(3)

    async def waiting(number: int) -> None:
        try:
            await begun.wait()
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    task = asyncio.create_task(both(waiting(1), waiting(2)))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(ended) == [1, 2]


async def test_the_event_loop_runs_between_the_slices_of_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "HEAD_S", 0)
    turns = 0
    seen: list[int] = []

    def work() -> Generator[None, None, str]:
        for _ in range(20):
            seen.append(turns)
            yield
        return "done"

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    running = asyncio.create_task(others())
    assert await in_slices(work(), seconds=0) == "done"
    running.cancel()
    assert len(seen) == 20
    assert seen == sorted(set(seen))  # the loop had a turn between any two steps


async def test_cancelled_work_ends_with_its_slice() -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def work() -> Generator[None, None, None]:
        while True:
            loop.call_soon_threadsafe(begun.set)
            yield

    working = work()
    task = asyncio.create_task(in_slices(working, seconds=0))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert inspect.getgeneratorstate(working) == inspect.GEN_CLOSED, "no step follows"


async def test_a_failure_of_long_work_is_raised() -> None:
    def work() -> Generator[None, None, None]:
        yield
        raise ValueError("no text")

    with pytest.raises(ValueError, match="no text"):
        await in_slices(work(), seconds=0)
