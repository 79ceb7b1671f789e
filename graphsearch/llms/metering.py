"""Counts what is asked inside a block of code, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import attrs

from graphsearch.llms.usage import Usage


@attrs.frozen
class Call:
    """One answer of a model, used or not, and what it took."""

    model: str
    usage: Usage


class Meter:
    """The calls made so far, oldest first."""

    def __init__(self) -> None:
        self._calls: list[Call] = []

    @property
    def calls(self) -> tuple[Call, ...]:
        """Each call by itself."""
        return tuple(self._calls)

    @property
    def total(self) -> Usage:
        """All calls together."""
        return sum((call.usage for call in self._calls), Usage())

    def add(self, call: Call) -> None:
        """Count one more call."""
        self._calls.append(call)


_RUNNING: ContextVar[tuple[Meter, ...]] = ContextVar("running meters", default=())


@contextmanager
def metered() -> Iterator[Meter]:
    """Count every call made inside, also by tasks that are started inside. May be nested: the outer counts all."""
    meter = Meter()
    token = _RUNNING.set((*_RUNNING.get(), meter))
    try:
        yield meter
    finally:
        _RUNNING.reset(token)


def record(call: Call) -> None:
    """Tell the running meters of a call: for language models of one's own, since those here do it themselves."""
    for meter in _RUNNING.get():
        meter.add(call)
