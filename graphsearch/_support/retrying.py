"""Trying again what may pass: one way for every vendor that is called over HTTP."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import TypeVar

import attrs

from graphsearch.errors import GraphSearchError
from graphsearch.model import validation as check

Answer = TypeVar("Answer")


class PassingFailureError(GraphSearchError):
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

    async def run(
        self, call: Callable[[], Awaitable[Answer]], *, unavailable: Callable[[str], GraphSearchError]
    ) -> Answer:
        """The answer of ``call``, tried again after every `PassingFailureError`.

        When it does not pass, the error that ``unavailable`` makes is raised, with the last failure's own cause.
        """
        tries = 0
        while True:
            try:
                return await call()
            except PassingFailureError as failure:
                tries += 1
                wait = self.wait_after(tries, failure.retry_after)
                if tries > self.most or wait > self.longest_wait:
                    raise unavailable(self._given_up(failure, tries, wait)) from failure.__cause__
            await asyncio.sleep(wait)

    def _given_up(self, failure: PassingFailureError, tries: int, wait: float) -> str:
        later = f"; it asks to wait {wait:.0f} s" if wait > self.longest_wait else ""
        return f"{failure} (given up after {tries} tries{later}; try again later)"


def may_pass(status: int) -> bool:
    """Whether a request that failed with an HTTP status may do better later: 408, 429 and 5xx (RFC 9110, RFC 6585)."""
    return status in (408, 429) or status >= 500  # noqa: PLR2004 - HTTP's own numbers


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a Retry-After header asks for: a number, or a date less the answer's own Date (RFC 9110)."""
    wish = headers.get("Retry-After", "").strip()
    if wish.isdecimal():
        return float(wish)
    until, sent = _date(wish), _date(headers.get("Date", ""))
    return max(0.0, until - sent) if until is not None and sent is not None else None


def _date(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):  # not a date, or one far beyond the calendar
        return None
