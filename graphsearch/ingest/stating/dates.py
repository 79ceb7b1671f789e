"""When a stated fact holds: its dates, or the words for them, read at the time of its memory."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from graphsearch.ingest.frames import folded
from graphsearch.text.calendar import CalendarPeriod, Precision
from graphsearch.text.time_expressions import Expression, find_expressions

LONG_AGO: Final = timedelta(days=200)
"""A date without a year that was last longer ago is rather the next one: "signed, from 1 March"."""
LONGEST: Final = 6
"""Most words of a date."""
_LEADS: Final = (
    *("since", "from", "as of", "as from", "until", "till", "to", "by", "on", "in", "at", "after", "before", "around"),
    *("about", "over", "starting", "effective", "the", "of", "beginning of", "start of", "early", "late", "mid"),
)
_LEAD: Final = re.compile(rf"(?:{'|'.join(sorted(_LEADS, key=len, reverse=True))})[ -]")
_END_OF: Final = re.compile(r"(?:the )?end of (?:the )?")
_SAME: Final = re.compile(r"\b(?:same (?:day|time|date|week|month)|after that|then|that day|thereafter)\b")
_NOW: Final = re.compile(r"right now|now|at the moment|currently|present")
_DAY_FIRST: Final = re.compile(r"(\d{1,2})[./](\d{1,2})")
_MONTHS: Final = 12
_ANY_DAY: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - periods are naive


def read_date(
    given: datetime | str | None, at: datetime | None, *, future: bool | None = None, last: datetime | None = None
) -> datetime | None:
    """The moment that a date or words for one name, at a memory's time; None if they name none.

    ``future``: whether it is ahead, None if that is unknown; ``last`` is the date stated before: "the same day".
    """
    if given is None or isinstance(given, datetime):
        return given
    zone = at.tzinfo if at else UTC
    written = folded(given).strip(" .")
    try:
        moment = datetime.fromisoformat(given.strip())
    except ValueError:
        moment = None
    if moment is not None:
        return moment if moment.tzinfo else moment.replace(tzinfo=zone)
    if _SAME.search(written):
        return last
    if _NOW.fullmatch(written):
        return at
    ends, written = _END_OF.search(written) is not None, _bare(written)
    found = next(find_expressions(written), None) if len(written.split()) <= LONGEST else None
    period = _nearest(found, at, future) if found else _day_of_month(written, at)
    if period is None:
        return None
    of_more = ends and period.end is not None and period.precision is not Precision.DAY
    moment = period.end - timedelta(days=1) if of_more and period.end else period.start
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _bare(written: str) -> str:
    """A date without the words that introduce it."""
    written = _END_OF.sub("", written)
    while match := _LEAD.match(written):
        written = written[match.end() :]
    return written


def _nearest(found: Expression, at: datetime | None, future: bool | None) -> CalendarPeriod | None:
    """The period that an expression names: ahead or not if that is known, and not for long, else the nearer one."""
    if at is None:
        return found.period(_ANY_DAY, "future") if found.absolute else None
    today = at.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    if future:
        return found.period(today, "future", counted_whole=False)
    near, past = found.period(today, "nearest", counted_whole=False), found.period(today, "past", counted_whole=False)
    return near if future is None or past is None or today - past.start.replace(tzinfo=None) > LONG_AGO else past


def _day_of_month(written: str, at: datetime | None) -> CalendarPeriod | None:
    """The day of "30/06"; None where day and month could be exchanged, but for dots."""
    match = _DAY_FIRST.fullmatch(written)
    if not match or at is None:
        return None
    day, month = int(match[1]), int(match[2])
    if "." not in written and day <= _MONTHS and month <= _MONTHS and day != month:
        return None
    day, month = (month, day) if month > _MONTHS else (day, month)
    found = next(find_expressions(f"{day:02}.{month:02}.{at.year}"), None)
    return found.period(at.replace(tzinfo=None)) if found else None


def is_date(text: str, at: datetime | None) -> bool:
    """Whether a text is a date, in figures or in words, and nothing else."""
    written = _bare(folded(text).strip(" ."))
    found = next(find_expressions(written), None)
    if found is None:
        return _DAY_FIRST.fullmatch(written) is not None and read_date(text, at) is not None
    return len(written.split()) <= LONGEST - 2 and (found.start, found.end) == (0, len(written))
