"""The system clock, and timing of the stages of a query."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import UTC, datetime
from time import perf_counter
from types import TracebackType
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

    def stage(self, name: str) -> _Stage:
        """A context that adds its duration to a stage."""
        return _Stage(self.milliseconds, name)


class _Stage:
    """One run of a stage."""

    __slots__ = ("_milliseconds", "_name", "_start", "_watched")

    def __init__(self, milliseconds: dict[str, float], name: str) -> None:
        self._milliseconds = milliseconds
        self._name = name
        self._watched: AbstractContextManager[None] | None = None

    def __enter__(self) -> None:
        if self._name != TOTAL and (watcher := observing.watcher) is not None:
            self._watched = watcher.stage(self._name)
            self._watched.__enter__()
        self._start = perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        passed = 1e3 * (perf_counter() - self._start)
        self._milliseconds[self._name] = self._milliseconds.get(self._name, 0.0) + passed
        if self._watched is not None:
            self._watched.__exit__(kind, error, traceback)
