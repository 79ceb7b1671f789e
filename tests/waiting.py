"""Waiting for what happens instead of for some time, and counting steps instead of seconds.

The only limit of time is `LONGEST`, after which what should happen is taken to hang.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

import psycopg

LONGEST: Final = 300
"""Seconds until a test that waits gives up: far more than anything takes on a machine under load."""


async def until(true: Callable[[], Any]) -> None:
    """Wait until something is so that other threads, processes or servers make so, and send no event of."""
    async with asyncio.timeout(LONGEST):
        while not true():  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.01)


def until_then(true: Callable[[], Any]) -> None:
    """`until` for code that does not await."""
    given_up = time.monotonic() + LONGEST
    while not true():
        assert time.monotonic() < given_up, "it never came to be so"
        time.sleep(0.01)


def working_on(dsn: str, words: str) -> int:
    """How many connections of a database are executing a statement with these words."""
    count = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND strpos(query, %s) > 0 AND pid <> %s"
    with psycopg.connect(dsn, autocommit=True) as looking:
        row = looking.execute(count, (words, looking.info.backend_pid)).fetchone()
    assert row
    return int(row[0])


class Crowd:
    """Counts who is inside at the same time: ``most``. The first ``size`` wait until all of them are."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.inside = self.most = 0
        self._full = asyncio.Event()

    async def __aenter__(self) -> Self:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == self.size:
            self._full.set()
        await asyncio.wait_for(self._full.wait(), LONGEST)
        for _ in range(20):  # so that those who may not come in would
            await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.inside -= 1


class Ticks:
    """A module `time` whose clock moves by a second whenever somebody looks at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """The number of looks."""
        self.now += 1
        return self.now


@contextmanager
def _profiled(profile: Callable[[Any, str, Any], None]) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)


_ROOT: Final = str(Path(__file__).parents[1])
_INSTALLED: Final = "site-packages"


def calls(work: Callable[[], object]) -> int:
    """How many functions of the project some work calls in this thread, and how many functions of C these call.

    No load changes that measure of work. What measures coverage calls functions of its own, at any time.
    """
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            file = frame.f_code.co_filename
            count += file.startswith(_ROOT) and _INSTALLED not in file

    with _profiled(profile):
        work()
    return count
