"""When a stated fact holds: its dates, or the words for them, read at the time of its memory."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from graphsearch.ingest.frames.table import folded
from graphsearch.text.calendar import CalendarPeriod
from graphsearch.text.dates import in_zone, midnight
from graphsearch.text.time_expressions import Expression, find_expressions

LONGEST: Final = 6
"""Most words of a date."""
_SAME: Final = re.compile(r"\b(?:same (?:day|time|date|week|month)|after that|then|that day|thereafter)\b")
_NOW: Final = re.compile(r"(?:since |as of |from )?(?:right now|now|at the moment|currently|present)")
_DAY_FIRST: Final = re.compile(r"\b(\d{1,2})([./])(\d{1,2})$")


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
    written = _with_year(given, at)
    if _SAME.search(written):
        return last
    if _NOW.fullmatch(written):
        return at
    found = next(iter(find_expressions(written)), None) if len(written.split()) <= LONGEST else None
    period = _period(found, at, ahead) if found else None
    if not found or not period:
        return None
    return in_zone(period.last_day if "end of" in found.lead else period.start, zone)


def is_date(text: str, at: datetime | None) -> bool:
    """Whether a text is a date, in figures or in words, and nothing else."""
    written = _with_year(text, at)
    found = next(iter(find_expressions(written)), None)
    if found is None or len(found.lead) not in (0, found.start - 1) or found.end != len(written):
        return False
    return found.period(midnight(at or datetime.min.replace(tzinfo=UTC)), ahead=True) is not None


def _with_year(written: str, at: datetime | None) -> str:
    """Words for a date, folded; "30/06" is that of the memory's year."""
    written = folded(written).strip(" .")
    return written if at is None else _DAY_FIRST.sub(rf"\1\2\3\g<2>{at.year:04}", written)


def _period(found: Expression, at: datetime | None, ahead: bool | None) -> CalendarPeriod | None:
    if at is None and not found.absolute:
        return None
    return found.period(midnight(at or datetime.min.replace(tzinfo=UTC)), ahead=ahead)
