"""Run coroutines concurrently: two independent reads, or many calls with a limit; and long work off the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

from graphsearch.errors import TimeLimitError

One = TypeVar("One")
Other = TypeVar("Other")
Item = TypeVar("Item")
Answer = TypeVar("Answer")

HEAD_S: Final = 0.005
"""The time, in seconds, that work may take on the event loop before it goes on in threads."""
MANY: Final = 500
"""The elements that a computation may go through on the event loop: a few milliseconds."""
SLICE_S: Final = 0.05
"""The time, in seconds, for which long work runs in a thread before its task can be cancelled."""


async def both(one: Coroutine[Any, Any, One], other: Coroutine[Any, Any, Other]) -> tuple[One, Other]:
    """The results of two coroutines run concurrently. If one fails, the other has ended before the error is raised.

    The first is no task of its own: where it never waits, as in memory, that is half of what both cost.
    """
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(other)
            first = await one
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return first, task.result()


async def in_order(call: Callable[[Item], Awaitable[Answer]], items: Iterable[Item], *, limit: int) -> list[Answer]:
    """The results of ``call`` in the order of ``items``, with at most ``limit`` calls at a time.

    The first failure is raised once every other call has been cancelled and has ended.
    """
    gate = asyncio.Semaphore(limit)

    async def one(item: Item) -> Answer:
        async with gate:
            return await call(item)

    tasks = [asyncio.create_task(one(item)) for item in items]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def in_slices(work: Generator[None, None, Answer], *, seconds: float = SLICE_S) -> Answer:
    """The result of a generator that is run in threads, for about ``seconds`` at a time.

    What takes less than `HEAD_S` is run without a thread. If the task is cancelled, the slice that is running is the
    last one: it has ended, and the generator is closed, when the cancellation is raised.
    """
    results: list[Answer] = []

    def collected() -> Generator[None, None, None]:
        results.append((yield from work))

    steps = collected()

    def more(least: float) -> bool:
        until = time.monotonic() + least
        return any(time.monotonic() >= until for _ in steps)

    try:
        left = more(HEAD_S)
        while left:
            left = await finished(asyncio.to_thread(more, seconds))
    finally:
        steps.close()
    return results[0]


async def aside(work: Callable[[], Answer], size: int) -> Answer:
    """The result of a pure computation over ``size`` elements: in a thread if they are many."""
    return await asyncio.to_thread(work) if size > MANY else work()


async def finished(work: Coroutine[Any, Any, Answer]) -> Answer:
    """The result of a coroutine, which has ended also if the task is cancelled while it waits."""
    running = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([running])
        raise


@asynccontextmanager
async def within(seconds: float | None) -> AsyncIterator[None]:
    """Cancel what is inside after some seconds; None is any time. Raises `TimeLimitError`."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if seconds is None or not limit.expired():
            raise
        raise TimeLimitError(seconds) from error
