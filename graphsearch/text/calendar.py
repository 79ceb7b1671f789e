"""Calendar periods named by single time expressions, without a time zone."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import cache, lru_cache
from threading import Lock
from types import MappingProxyType, ModuleType
from typing import Final

import attrs

from graphsearch._support.lazy import load


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
_WHICH: Final = {"last": -1, "past": -1, "this": 0, "next": 1}
_RELATIVE: Final = re.compile(r"(last|past|this|next) (week|weekend|month|quarter|year|\w+)", re.IGNORECASE)
_CHANGED: Final = re.compile(r"\ba couple of\b|[.,]", re.IGNORECASE)
_SHIFTED: Final = re.compile(r"\bago$|^in (?:\d|an?\b|\w+ (?:day|week|month|year)s?$)", re.IGNORECASE)
_BEFORE_LAST: Final = re.compile(r"(?:the )?(week|month|year) before last", re.IGNORECASE)
_NTH: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)", re.IGNORECASE)
_LOCK: Final = Lock()


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


def nearest_period(written: str, at: datetime | None, *, future: bool) -> CalendarPeriod | None:
    """As `natural_period`, but choose the nearest occurrence before or after ``at``; the next one if ``future``."""
    next_one = natural_period(written, at, future=True)
    last_one = natural_period(written, at, future=False)
    if future or at is None or next_one is None or last_one is None:
        return next_one
    now = datetime(at.year, at.month, at.day)  # noqa: DTZ001 - periods are naive
    return last_one if now - last_one.start <= next_one.start - now else next_one


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


def natural_period(written: str, at: datetime | None, *, future: bool) -> CalendarPeriod | None:
    """The period of an English time expression relative to ``at``; None if it names none.

    ``future`` chooses between the last and the next occurrence of a recurring date such as March. ``at`` is needed
    unless the expression has a year.
    """
    base = at.date() if at else date(2000, 1, 1)
    return _natural_period(written.casefold(), base, future)


@lru_cache(maxsize=8192)
def _natural_period(written: str, base: date, future: bool) -> CalendarPeriod | None:  # dateparser takes 0.3 ms
    try:
        relative = _RELATIVE.fullmatch(written)
        if relative:
            return _relative(_WHICH[relative[1]], relative[2], base)
        if before_last := _BEFORE_LAST.fullmatch(written):
            return _relative(-2, before_last[1], base)
        if nth := _NTH.fullmatch(written):
            return _nth(int(nth[1]), base, future=future)
        if written in ("week", "month", "quarter", "year"):
            return _relative(0, written, base)
        return _parsed(written, base, future=future)
    except (OverflowError, ValueError):  # before the year 1 or after 9999
        return None


def _relative(which: int, unit: str, base: date) -> CalendarPeriod | None:
    today = datetime(base.year, base.month, base.day)  # noqa: DTZ001
    monday = today - timedelta(days=today.weekday())
    match unit:
        case "week":
            return period_from(monday + timedelta(days=7 * which), Precision.WEEK)
        case "weekend":
            saturday = monday + timedelta(days=7 * which + 5)
            return CalendarPeriod(saturday, saturday + timedelta(days=2), Precision.DAY)
        case "night" | "morning" | "afternoon" | "evening":
            return period_from(today + timedelta(days=which), Precision.DAY)
        case "month" | "quarter" | "year":
            precision = Precision(unit)
            return period_from(months_later(first_day(today, precision), which * _MONTHS[precision]), precision)
    named = _parsed(unit, base, future=which > 0)
    if named is None:
        return None
    if which == 0:
        this_week = monday + timedelta(days=named.start.weekday())
        return period_from(this_week, Precision.DAY) if named.precision is Precision.DAY else named
    # "Last March" in March is that of last year; likewise weekdays.
    if named.start <= today and (named.end is None or today < named.end):
        step = named.precision is Precision.MONTH
        start = months_later(named.start, 12 * which) if step else named.start + timedelta(days=7 * which)
        return period_from(start, named.precision)
    return named


def _nth(day: int, base: date, *, future: bool) -> CalendarPeriod | None:
    """The last such day of a month up to ``base``, or the next one from it on."""
    first = datetime(base.year, base.month, 1)  # noqa: DTZ001
    for month in range(3) if future else range(0, -3, -1):
        found = months_later(first, month)
        if day > monthrange(found.year, found.month)[1]:
            continue
        found = found.replace(day=day)
        if found.date() >= base if future else found.date() <= base:
            return period_from(found, Precision.DAY)
    return None


def _parsed(written: str, base: date, *, future: bool) -> CalendarPeriod | None:
    written = _CHANGED.sub(lambda match: "2" if match[0][0] == "a" else " ", written)
    parser = _dateparser().DateDataParser(
        languages=["en"],
        settings={
            "RELATIVE_BASE": datetime(base.year, base.month, base.day),  # noqa: DTZ001
            "PREFER_DATES_FROM": "future" if future else "past",
            "PREFER_DAY_OF_MONTH": "current",
            "PREFER_MONTH_OF_YEAR": "current",
        },
    )
    with _LOCK:  # the parser keeps state that threads would share
        found = parser.get_date_data(written)
    if found.date_obj is None:
        return None
    day = found.date_obj.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    precision = Precision(found.period)
    return period_from(day if _SHIFTED.search(written) else first_day(day, precision), precision)


@cache
def _dateparser() -> ModuleType:
    return load("dateparser.date", extra="text", purpose="NaturalDates")


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
