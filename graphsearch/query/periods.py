"""The periods that a question names, resolved relative to the moment it is asked as of."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo
from typing import Final

import attrs

from graphsearch.query.time_expressions import Date, dates
from graphsearch.text.calendar import period_from


@attrs.frozen(kw_only=True)
class AskedPeriod:
    """A time in a question: its characters [start, end), and the period [valid_from, valid_to).

    An open end is None. ``absolute``: whether it means the same on any day, unlike "yesterday".
    """

    written: str
    start: int
    end: int
    valid_from: datetime | None
    valid_to: datetime | None
    absolute: bool

    @property
    def years(self) -> tuple[int | None, int | None]:
        """The first and the last year that it touches; an open end is None."""
        first = None if self.valid_from is None else self.valid_from.year
        if self.valid_to is None:
            return first, None
        at_new_year = self.valid_to == self.valid_to.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
        return first, max(self.valid_to.year - at_new_year, first or 0)


_BEFORE: Final = re.compile(
    r"\b(since|starting|from|until|till|through|up to|by|prior to|before|after)"
    r"(?: the)?(?: (?:start|beginning|end) of)?(?: the)? $",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(r" ?(?:to|until|till|through|and|[-–—]) ?(?:the )?", re.IGNORECASE)
_WORDS_BEFORE: Final = 40
"""Characters before a date that are searched for words that open a side of its period."""


def periods(question: str, as_of: datetime) -> tuple[AskedPeriod, ...]:
    """The times that a question names, in order, not overlapping, in the time zone of ``as_of``.

    * "2011-2017", "from March to May 2023", "between 2019 and 2021": from the first's start to the other's end.
    * "since 2020", "after May 2021", "before 2015", "until June": open on one side.
    * "last month", "two weeks ago", "yesterday": the whole calendar day, week (from Monday), month or year.
    * "the past three months": up to and including the day of asking.
    * "in March", "on Tuesday": the latest that has begun; "last March", "last spring": the latest that is over.
    """
    today = datetime(as_of.year, as_of.month, as_of.day)  # noqa: DTZ001 - a day of the calendar: the zone is added last
    found: list[tuple[Date, Date | None]] = []
    for date in dates(question, today):
        first, last = found[-1] if found else (None, None)
        if first and last is None and _spans(question, first, date):
            found[-1] = _same_year(first, date), date
        else:
            found.append((date, None))
    return tuple(_asked(question, first, last, as_of.tzinfo) for first, last in found)


def _spans(question: str, first: Date, second: Date) -> bool:
    """Whether the words between two dates, and before them, join them into one period."""
    joint = _RANGE.fullmatch(question, first.end, second.start)
    if joint is None or _naive(second) < _naive(_same_year(first, second)):
        return False
    return "and" not in joint[0].casefold() or question[: first.start].rstrip().casefold().endswith("between")


def _same_year(first: Date, second: Date) -> Date:
    """March of 2023 in "between March and May 2023"."""
    if not (first.yearless and second.absolute):
        return first
    start, last = first.period.start, second.period.start
    start = start.replace(year=max(1, last.year - (start.month > last.month)), day=min(start.day, 28))
    return attrs.evolve(first, period=period_from(start, first.period.precision))


def _naive(date: Date) -> datetime:
    return date.period.start.replace(tzinfo=None)  # the text may have an offset


def _asked(question: str, first: Date, last: Date | None, zone: tzinfo | None) -> AskedPeriod:
    valid_from: datetime | None = first.period.start
    valid_to = (last or first).period.end
    before = None if last else _BEFORE.search(question, max(0, first.start - _WORDS_BEFORE), first.start)
    match before[1].casefold() if before else "":
        case "since" | "starting" | "from":
            valid_to = None
        case "after":
            valid_from, valid_to = valid_to, None
        case "before" | "prior to":
            valid_from, valid_to = None, valid_from
        case "until" | "till" | "through" | "up to" | "by":
            valid_from = None
    end = (last or first).end
    return AskedPeriod(
        written=question[first.start : end],
        start=first.start,
        end=end,
        valid_from=_in_zone(valid_from, zone),
        valid_to=_in_zone(valid_to, zone),
        absolute=first.absolute or (last is not None and last.absolute),
    )


def _in_zone(moment: datetime | None, zone: tzinfo | None) -> datetime | None:
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=zone)
