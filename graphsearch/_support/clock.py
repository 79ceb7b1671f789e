"""The clock of the machine."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """Tells the time in UTC."""

    def now(self) -> datetime:
        """The present."""
        return datetime.now(UTC)
