"""Faults in input: what could not be read, and where."""

from __future__ import annotations

import attrs


@attrs.frozen(order=True)
class Fault:
    """A fault in a file. ``line`` counts from 1; 0 is the file as a whole."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"


@attrs.frozen(order=True)
class Unread:
    """A memory that its extractor could not read, and why. It was not written, and is retried by the next ingest."""

    memory_id: str
    why: str

    def __str__(self) -> str:
        return f"{self.memory_id}: {self.why}"


class UnreadableError(Exception):
    """A file cannot be ingested; the ingest catches this and reports its `fault`."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault
