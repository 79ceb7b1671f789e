"""Clocks."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """The clock of the machine, in UTC."""

    def now(self) -> datetime:
        """The current time."""
        return datetime.now(UTC)
