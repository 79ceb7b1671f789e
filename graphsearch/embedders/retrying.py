"""Trying again what may pass."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import attrs

from graphsearch import validation as check
from graphsearch.errors import EmbedderUnavailableError

Answer = TypeVar("Answer")


class PassingFailureError(EmbedderUnavailableError):
    """A failure that another try may not meet; ``retry_after`` is how many seconds the vendor asks to wait."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


@attrs.frozen(kw_only=True)
class Retries:
    """How often to try again, and how long to wait before.

    Waits double from ``first_wait`` up to ``longest_wait`` seconds, and are then shortened by up to half at random,
    so that many callers do not come back at the same moment. A vendor that asks for a longer wait gets it; one that
    asks for more than ``longest_wait`` is given up.
    """

    most: int = 4
    first_wait: float = 0.5
    longest_wait: float = 30.0

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "retries",
            check.number("most", self.most, 0),
            check.number("first_wait", self.first_wait, 0),
            check.number("longest_wait", self.longest_wait, 0),
        )

    def wait_after(self, tries: int, retry_after: float | None) -> float:
        """Seconds to wait after a number of failed tries, at least 1."""
        planned = min(self.longest_wait, self.first_wait * 2.0 ** (tries - 1))
        spread = planned * random.uniform(0.5, 1.0)  # noqa: S311 - spreading load, not guarding a secret
        return max(spread, retry_after or 0.0)

    async def run(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """The answer of ``call``, tried again after every `PassingFailureError`.

        Raises `EmbedderUnavailableError` with the last failure's own cause when it does not pass.
        """
        tries = 0
        while True:
            try:
                return await call()
            except PassingFailureError as failure:
                tries += 1
                wait = self.wait_after(tries, failure.retry_after)
                if tries > self.most or wait > self.longest_wait:
                    raise self._given_up(failure, tries, wait) from failure.__cause__
            await asyncio.sleep(wait)

    def _given_up(self, failure: PassingFailureError, tries: int, wait: float) -> EmbedderUnavailableError:
        later = f"; it asks to wait {wait:.0f} s" if wait > self.longest_wait else ""
        return EmbedderUnavailableError(f"{failure} (given up after {tries} tries{later}; try again later)")
