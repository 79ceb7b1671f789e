"""Periods of the calendar, without a time zone."""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import attrs


class Precision(StrEnum):
    """The unit of the calendar that a date is given in."""

    TIME = "time"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


@attrs.frozen
class CalendarPeriod:
    """The period [start, end), naive unless an offset was written; an end beyond the year 9999 is None."""

    start: datetime
    end: datetime | None
    precision: Precision

    @property
    def last_day(self) -> datetime:
        """The first moment of its last day, as far as the calendar has one."""
        lasts = self.end is not None and self.end - self.start > timedelta(days=1)
        return self.end - timedelta(days=1) if self.end and lasts else self.start


_MONTHS: Final = {Precision.MONTH: 1, Precision.QUARTER: 3, Precision.YEAR: 12}
_DAYS: Final = {Precision.TIME: 0, Precision.DAY: 1, Precision.WEEK: 7}


def day_of(year: int, month: int = 1, day: int = 1) -> datetime:
    """The first moment of a day; raise ValueError if the calendar has no such day."""
    return datetime(year, month, day)  # noqa: DTZ001 - a day of the calendar: the zone is added last


def period_from(start: datetime, precision: Precision, number: int = 1) -> CalendarPeriod:
    """The period of so many days, weeks, months, quarters or years that begins at ``start``."""
    try:
        return CalendarPeriod(start, later(start, precision, number), precision)
    except (OverflowError, ValueError):
        return CalendarPeriod(start, None, precision)


def containing(day: datetime, precision: Precision) -> CalendarPeriod:
    """The day, week (from Monday), month, quarter or year that contains a day."""
    months = _MONTHS.get(precision)
    if months:
        start = day.replace(day=1, month=day.month - (day.month - 1) % months)
    else:
        start = day - timedelta(days=day.weekday() if precision is Precision.WEEK else 0)
    return period_from(start, precision)


def later(start: datetime, precision: Precision, number: int) -> datetime:
    """The moment so many units later; the last day of a month that has no such day."""
    months = _MONTHS.get(precision)
    if not months:
        return start + timedelta(days=_DAYS[precision] * number)
    year, month = divmod(start.year * 12 + start.month - 1 + months * number, 12)
    return start.replace(year=year, month=month + 1, day=min(start.day, monthrange(year, month + 1)[1]))
