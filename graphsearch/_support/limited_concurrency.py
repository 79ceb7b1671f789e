"""Many calls at once, but not too many."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


async def in_order(call: Callable[[Item], Awaitable[Answer]], items: Iterable[Item], *, limit: int) -> list[Answer]:
    """The answers of ``call`` in the order of ``items``, at most ``limit`` calls at a time.

    The first failure is raised as it is, once every other call has been cancelled and has ended.
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
