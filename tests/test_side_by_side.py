from __future__ import annotations

import asyncio

import pytest

from graphsearch._support.concurrency import both


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
            await asyncio.sleep(60)
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

    async def waiting(number: int) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(number)

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(both(waiting(1), waiting(2)), timeout=0.01)
    assert sorted(ended) == [1, 2]
