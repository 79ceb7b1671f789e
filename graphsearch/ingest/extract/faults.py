"""Faults of input: what could not be read, and where it is."""

from __future__ import annotations

import attrs


@attrs.frozen(order=True)
class Fault:
    """Something that could not be taken in, and where it stands. ``line`` counts from 1; 0 is the file as a whole."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"


@attrs.frozen(order=True)
class Unread:
    """A memory that its extractor could not read, and why. It was not written, and is read the next time."""

    memory_id: str
    why: str

    def __str__(self) -> str:
        return f"{self.memory_id}: {self.why}"


class UnreadableError(Exception):
    """A file that cannot be taken in; never leaves the ingest, which reports its `fault`."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault
