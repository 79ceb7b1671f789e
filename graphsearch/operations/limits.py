"""Limits of a server: the time of a request, the requests of a principal, and whether its store answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import attrs

from graphsearch.errors import RateLimitError

TIME_LIMIT: Final = 300.0
"""Default of the seconds that a request may take."""
_CHECKED: Final = 1.0
"""Seconds for which the result of a health check is reused, so that checks cannot load the store."""
_PATIENCE: Final = 5.0
"""Seconds after which a store that does not answer counts as down."""
_MINUTE: Final = 60.0
_MOST: Final = 10_000
"""The number of principals above which those who may make all of their requests are no longer remembered."""


@attrs.define
class RateLimit:
    """Admits at most ``per_minute`` requests of each principal a minute, all of them at once if they have waited."""

    per_minute: int
    now: Callable[[], float] = time.monotonic
    _left: dict[str, tuple[float, float]] = attrs.field(factory=dict)
    """By principal: the requests that were left, and when."""

    def admit(self, principal: str) -> None:
        """Count a request. Raises `RateLimitError` for one too many."""
        left, now = self._left_now(principal), self.now()
        if left < 1:
            raise RateLimitError(self.per_minute, (1 - left) * _MINUTE / self.per_minute)
        if len(self._left) >= _MOST:
            self._left = {who: self._left[who] for who in self._left if self._left_now(who) < self.per_minute}
        self._left[principal] = left - 1, now

    def _left_now(self, principal: str) -> float:
        left, then = self._left.get(principal, (float(self.per_minute), self.now()))
        return min(float(self.per_minute), left + (self.now() - then) * self.per_minute / _MINUTE)


@attrs.define
class HealthCheck:
    """Whether ``probe`` succeeds within some seconds; asked at most once a second."""

    probe: Callable[[], Awaitable[object]]
    _checked: float = -_CHECKED
    _result: bool = False
    _lock: asyncio.Lock = attrs.field(factory=asyncio.Lock)

    async def healthy(self) -> bool:
        """The result, at most a second old."""
        async with self._lock:
            if time.monotonic() - self._checked >= _CHECKED:
                try:
                    async with asyncio.timeout(_PATIENCE):
                        await self.probe()
                    self._result = True
                except Exception:  # noqa: BLE001 - whatever is wrong, it is not healthy
                    self._result = False
                self._checked = time.monotonic()
            return self._result
