"""When a stated fact holds: its dates, or the words for them, read at the time of its memory."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from graphsearch.errors import MissingExtraError
from graphsearch.ingest.stating.table import folded
from graphsearch.text.calendar import HOLIDAYS, CalendarPeriod, Precision, iso_period, natural_period, nearest_period

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
_NOW: Final = re.compile(
    r"(?:this (?:morning|afternoon|evening)|right now|now|tonight|at the moment|currently|present)"
)
_SEASONS: Final = {
    "spring": "march",
    "summer": "june",
    "autumn": "september",
    "fall": "september",
    "winter": "december",
}
_SEASON: Final = re.compile(rf"\b(?:{'|'.join(_SEASONS)})\b")
_YEAR: Final = re.compile(r"\d{4}")
_NTH: Final = re.compile(r"(\d)(?:st|nd|rd|th)\b")
_ISO: Final = re.compile(r"\d{4}(?:-\d\d){0,2}")
_DAY_FIRST: Final = re.compile(r"(\d{1,2})[./](\d{1,2})(?:[./](\d{4}|\d\d))?")
_DATED: Final = re.compile(
    r"\d|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec|mon|tues?|wednes|thurs?|fri|satur|sun)[a-z]*\b"
    r"|\b(?:today|tomorrow|yesterday|days?|weeks?|months?|quarters?|years?|christmas|halloween)\b"
)
_RANGE: Final = re.compile(r" (?:til|till|until|to|and|for|-|–) ")
_MONTHS: Final = 12
_CENTURY: Final = 2000


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
    naive = at.replace(tzinfo=None) if at else None
    ends = _END_OF.search(written) is not None
    written = _END_OF.sub("", written)
    while match := _LEAD.match(written):
        written = written[match.end() :]
    if _NOW.fullmatch(written):
        return at
    if len(written.split()) > LONGEST:
        return None
    period = iso_period(written) if _ISO.fullmatch(written) else _day_first(written, naive)
    if period is None and _DATED.search(written) and (naive or _YEAR.search(written)):
        written = HOLIDAYS.get(written) or _SEASON.sub(lambda match: _SEASONS[match[0]], _NTH.sub(r"\1", written))
        period = _spoken(written, naive, future)
    if period is None:
        first = _RANGE.split(written, maxsplit=1)[0]
        return read_date(first, at, future=future, last=last) if first and first != written else None
    moment = (
        period.end - timedelta(days=1)
        if ends and period.end and period.precision is not Precision.DAY
        else period.start
    )
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _spoken(written: str, at: datetime | None, future: bool | None) -> CalendarPeriod | None:
    try:
        if at is None or future:
            return natural_period(written, at, future=True)
        near, past = nearest_period(written, at, future=False), natural_period(written, at, future=False)
    except MissingExtraError:  # without the extra "text" only dates in figures are read
        return None
    if future is None or not past or at - past.start > LONG_AGO:
        return near
    return past


def _day_first(written: str, at: datetime | None) -> CalendarPeriod | None:
    """The day of "30/06" or "29.02.2024"; None where day and month could be exchanged, but for dots."""
    match = _DAY_FIRST.fullmatch(written)
    if not match or (at is None and not match[3]):
        return None
    day, month = int(match[1]), int(match[2])
    if "." not in written and day <= _MONTHS and month <= _MONTHS and day != month:
        return None
    if month > _MONTHS:
        day, month = month, day
    year = int(match[3] or (at.year if at else 0))
    return iso_period(f"{year + _CENTURY if year < 100 else year:04}-{month:02}-{day:02}")  # noqa: PLR2004


def is_date(text: str, at: datetime | None) -> bool:
    """Whether a text is a date, in figures or in words."""
    written = folded(text)
    return len(written.split()) <= LONGEST - 2 and bool(_DATED.search(written)) and read_date(text, at) is not None
