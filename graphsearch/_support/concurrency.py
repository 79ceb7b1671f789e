"""Reads that do not wait for each other: a store in another process answers them together, or while we go on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

One = TypeVar("One")
Other = TypeVar("Other")


async def both(one: Coroutine[Any, Any, One], other: Coroutine[Any, Any, Other]) -> tuple[One, Other]:
    """The results of two. Where one fails, the other has ended before that is told: nothing outlasts a snapshot."""
    tasks = asyncio.ensure_future(one), asyncio.ensure_future(other)
    try:
        first, second = await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    return first, second
