"""When a stated fact holds: its dates, or the words for them, read at the time of its memory."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from graphsearch.ingest.frames.table import folded
from graphsearch.text.dates import in_zone, midnight
from graphsearch.text.time_expressions import find_expressions

_SAME: Final = re.compile(r"\b(?:same (?:day|time|date|week|month)|after that|then|that day|thereafter)\b")
_NOW: Final = re.compile(r"(?:since |as of |from )?(?:right now|now|at the moment|currently|present)")


def read_date(
    given: datetime | str | None, at: datetime | None, *, ahead: bool | None = None, last: datetime | None = None
) -> datetime | None:
    """The moment that a date or words for one name, at a memory's time; None if they name none.

    ``ahead``: whether it has not come yet, None if that is unknown; ``last`` is the date stated before: "the same day".
    """
    if given is None or isinstance(given, datetime):
        return given
    zone = at.tzinfo if at else UTC
    try:
        return in_zone(datetime.fromisoformat(given.strip()), zone)
    except ValueError:
        pass
    written = folded(given).strip(" .")
    if _SAME.search(written):
        return last
    if _NOW.fullmatch(written):
        return at
    found = next(iter(find_expressions(written)), None)
    if found is None or (at is None and not found.absolute):
        return None
    period = found.period(midnight(at or datetime.min.replace(tzinfo=UTC)), ahead=ahead)
    return in_zone(period.last_day if "end of" in found.lead else period.start, zone) if period else None


def is_date(text: str) -> bool:
    """Whether a text is a date, in figures or in words, and nothing else."""
    written = folded(text).strip(" .")
    found = next(iter(find_expressions(written)), None)
    return found is not None and len(found.lead) in (0, found.start - 1) and found.end == len(written)
