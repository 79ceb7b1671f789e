"""Periods of the calendar, without a time zone."""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
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


_MONTHS: Final = {Precision.MONTH: 1, Precision.QUARTER: 3, Precision.YEAR: 12}
_DAYS: Final = {Precision.TIME: 0, Precision.DAY: 1, Precision.WEEK: 7}

HOLIDAYS: Final = MappingProxyType(
    {
        **dict.fromkeys(("christmas", "christmas day"), "25 december"),
        **dict.fromkeys(("new year", "new year's", "new year's day", "new year day"), "1 january"),
        **dict.fromkeys(("new year's eve", "new year eve"), "31 december"),
        "christmas eve": "24 december",
        "boxing day": "26 december",
        "halloween": "31 october",
        "valentine's day": "14 february",
        "may day": "1 may",
    }
)
"""Holidays with a fixed date, by their English names."""


def iso_period(written: str) -> CalendarPeriod | None:
    """The period of an ISO date, month, year or time; None if it is not in the calendar."""
    parts = written[:10].replace("/", "-").split("-")
    try:
        start = datetime(*(int(part) for part in (*parts, "1", "1")[:3]))  # type: ignore[arg-type]  # noqa: DTZ001
        precision = (Precision.YEAR, Precision.MONTH, Precision.DAY)[len(parts) - 1]
        if len(written) > len("2024-05-01"):
            start, precision = datetime.fromisoformat(written), Precision.TIME
    except ValueError:
        return None
    return period_from(start, precision)


def first_day(day: datetime, precision: Precision) -> datetime:
    """The first day of the month, quarter or year that contains a day."""
    match precision:
        case Precision.MONTH:
            return day.replace(day=1)
        case Precision.QUARTER:
            return day.replace(day=1, month=day.month - (day.month - 1) % 3)
        case Precision.YEAR:
            return day.replace(day=1, month=1)
    return day


def period_from(start: datetime, precision: Precision) -> CalendarPeriod:
    """The period of a precision that begins at ``start``."""
    try:
        months = _MONTHS.get(precision)
        end = months_later(start, months) if months else start + timedelta(days=_DAYS[precision])
    except (OverflowError, ValueError):
        return CalendarPeriod(start, None, precision)
    return CalendarPeriod(start, end, precision)


def months_later(start: datetime, months: int) -> datetime:
    """The same day ``months`` later, or the last day of that month if it has no such day."""
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    return start.replace(year=year, month=month + 1, day=min(start.day, monthrange(year, month + 1)[1]))
