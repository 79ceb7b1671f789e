"""The system clock, and timing of the stages of a query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from time import perf_counter
from typing import Final

from graphsearch._support import observing


class SystemClock:
    """The clock of the machine, in UTC."""

    def now(self) -> datetime:
        """The current time."""
        return datetime.now(UTC)


TOTAL: Final = "total"
"""The stage for the whole query; a watcher sees it as the operation itself."""


class Stopwatch:
    """Milliseconds by stage, in the order in which stages first ended."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of what is inside to a stage."""
        with nullcontext() if name == TOTAL else observing.stage(name):
            start = perf_counter()
            try:
                yield
            finally:
                passed = 1e3 * (perf_counter() - start)
                self.milliseconds[name] = self.milliseconds.get(name, 0.0) + passed
