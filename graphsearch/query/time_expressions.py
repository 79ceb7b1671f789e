"""Single time expressions in a question, parsed by rules.

Fast enough for every question, and available without any extra. English only; expressions without a definite date ("a
few days ago", "recently") are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

import attrs

from graphsearch.text.calendar import CalendarPeriod, Precision, first_day, iso_period, months_later, period_from


@attrs.frozen
class Date:
    """The characters [start, end) of a question, and the period that they name, without a time zone.

    ``absolute``: whether it means the same on any day, unlike "yesterday". ``yearless``: a month or a day without year.
    """

    start: int
    end: int
    period: CalendarPeriod
    absolute: bool
    yearless: bool


_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS: Final[Mapping[str, int]] = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first month of a season in the northern hemisphere; it lasts three. "Winter 2023" starts in December 2023."""
_NUMBERS: Final[Mapping[str, int]] = {
    word: number
    for number, words in enumerate(
        ("a an one", "two couple", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        1,
    )
    for word in words.split()
}
_STEPS: Final[Mapping[str, int]] = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}
_NEAR_DAYS: Final[Mapping[str, int]] = {
    "the day before yesterday": -2,
    "day before yesterday": -2,
    "yesterday": -1,
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
}

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SEASON: Final = "(?:spring|summer|autumn|fall|winter)"
_UNIT: Final = "(?:day|week|month|quarter|year)s?"
_COUNT: Final = rf"(?:\d{{1,4}}|{'|'.join(_NUMBERS)})"
_YEAR: Final = r"(?:1\d{3}|20\d{2})(?!(?!-\d{4}(?![\w-]))[\w-]{0,20}\d)"
_WHICH: Final = f"(?:{'|'.join(_STEPS)})"
# After these words any number is a year, and "may" a month.
_PLACED: Final = "in|during|since|from|of|until|till|through|by|before|after|between|and|to|year|early|mid|late"

_EXPRESSION: Final = re.compile(
    r"(?<![\w.$€£#/])(?:"
    r"(?P<iso>(?<!-)\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?)?(?![\w-]))"
    r"|(?P<years>(?<!-)(?:1\d{3}|20\d{2})[–—/]\d{2}(?![\w-]))"
    rf"|(?P<day_month>\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? {_YEAR})?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?!\d|:)(?:,? {_YEAR})?)"
    rf"|(?P<month_year>{_MONTH}(?: of|,)? {_YEAR})"
    rf"|(?P<season_year>{_SEASON}(?: of|,)? {_YEAR})"
    rf"|(?P<quarter>q[1-4],? {_YEAR})"
    r"|(?P<decade>(?:1\d|20)\d0s)"
    r"|(?P<century>(?:[1-9]|1\d|2[01])(?:st|nd|rd|th)[ -]century)"
    rf"|(?P<rolling>{_WHICH} {_COUNT} {_UNIT}|past {_UNIT})"
    rf"|(?P<which>{_WHICH} (?:week(?:end)?|month|quarter|year|night|{_SEASON}|{_DAY}|{_MONTH}))"
    rf"|(?P<ago>{_COUNT}(?: of)? {_UNIT} ago)"
    rf"|(?P<near>{'|'.join(_NEAR_DAYS)})"
    rf"|(?:on|since|until|till|by|before|after) (?P<weekday>{_DAY})"
    rf"|(?:{_PLACED}) (?:the )?(?:(?P<month>(?:{_SEASON}|{_MONTH})(?!(?: of|,)? \d))|(?P<placed_year>{_YEAR}))"
    rf"|(?P<year>(?=1[5-9]|20){_YEAR})"
    r")(?!\w)",
    re.IGNORECASE,
)
# Every expression has one of these words, so that most questions need no second pass.
_CLUE: Final = re.compile(rf"\d|day\b|ago\b|tomorrow|tonight|\b(?:{_WHICH}|{_SEASON}|{_MONTH})", re.IGNORECASE)
_COUNTED: Final = re.compile(
    r" ?(?:%|(?:[kKMG]B|ms|lines?|people|words|users|files|tests|items|rows|tokens|requests|hours|minutes|seconds|days"
    r"|weeks|months|years|miles|km|dollars|euros|pounds|employees|members|students|copies|points|votes)\b)"
)


def dates(question: str, today: datetime) -> Iterator[Date]:
    """The dates in a question asked on a day, in order, not overlapping; impossible dates are skipped."""
    if not _CLUE.search(question):
        return
    for match in _EXPRESSION.finditer(question):
        kind = match.lastgroup or ""
        start, end = match.span(kind)
        if kind.endswith("year") and _COUNTED.match(question, end):
            continue
        written = match[kind].casefold()
        try:
            period = _FIXED[kind](written) if kind in _FIXED else _RELATIVE[kind](written, today)
        except (OverflowError, ValueError):  # 30 February, or before the year 1
            continue
        yearless = kind in ("day_month", "month") and not re.search(_YEAR, written)
        absolute = kind in _FIXED or (kind == "day_month" and not yearless)
        yield Date(start, end, period, absolute, yearless)


# -- parsers of one kind of expression, in lower case, with a meaning that does not depend on the day ------------------


def _iso(written: str) -> CalendarPeriod:
    return iso_period(written.upper()) or _years(written)


def _years(written: str) -> CalendarPeriod:
    """The years 2011 to 2017 of "2011-17"."""
    first, last = int(written[:4]), int(written[:2] + written[5:7])
    if len(written) != len("2011-17") or last <= first:
        raise ValueError(written)
    return CalendarPeriod(_day(first), _day(last + 1), Precision.YEAR)


def _month_year(written: str) -> CalendarPeriod:
    return _month_of_year(written, int(written[-4:]))


def _quarter(written: str) -> CalendarPeriod:
    return period_from(_day(int(written[-4:]), 3 * int(written[1]) - 2), Precision.QUARTER)


def _decade(written: str) -> CalendarPeriod:
    return CalendarPeriod(_day(int(written[:4])), _day(int(written[:4]) + 10), Precision.YEAR)


def _century(written: str) -> CalendarPeriod:
    number = int(written.partition("century")[0].rstrip(" -stndrh"))
    return CalendarPeriod(_day(100 * number - 99), _day(100 * number + 1), Precision.YEAR)


def _year(written: str) -> CalendarPeriod:
    return period_from(_day(int(written)), Precision.YEAR)


# -- parsers of expressions that depend on the day -----------------------------------------------------------------


def _day_month(written: str, today: datetime) -> CalendarPeriod:
    """The day of "5 May" or "May 5th, 2023"; without a year the latest that is not in the future."""
    day, *year = (int(number) for number in re.findall(r"\d+", written))
    month = _MONTHS.index(re.findall(r"[a-z]{3,}", written)[0][:3]) + 1
    if year:
        return period_from(_day(year[0], month, day), Precision.DAY)
    eight_years = (today.year - back for back in range(9))  # a span of years in which 29 February occurs
    known = [found for each in eight_years if (found := _day_if_any(each, month, day)) and found <= today]
    if not known:
        raise ValueError(written)
    return period_from(known[0], Precision.DAY)


def _rolling(written: str, today: datetime) -> CalendarPeriod:
    which, *count, unit = written.split()
    steps = (_STEPS[which] or -1) * (_count(count[0]) if count else 1)
    tomorrow = today + timedelta(days=1)
    if steps > 0:
        return CalendarPeriod(tomorrow, _shifted(tomorrow, unit, steps), Precision.DAY)
    return CalendarPeriod(_shifted(tomorrow, unit, steps), tomorrow, Precision.DAY)


def _ago(written: str, today: datetime) -> CalendarPeriod:
    number, *_, unit, _ago = written.split()
    return _whole(_shifted(today, unit, -_count(number)), unit)


def _which(written: str, today: datetime) -> CalendarPeriod:
    which, _, unit = written.partition(" ")
    step = _STEPS[which]
    if unit == "night":
        return period_from(today + timedelta(days=step), Precision.DAY)
    if unit == "weekend":
        saturday = _whole(today, "week").start + timedelta(days=7 * step + 5)
        return CalendarPeriod(saturday, saturday + timedelta(days=2), Precision.DAY)
    if unit in ("week", "month", "quarter", "year"):
        return _whole(_shifted(_whole(today, unit).start, unit, step), unit)
    if unit.endswith("day"):
        days = _DAYS.index(unit[:3]) - today.weekday()
        shift = {-1: days % 7 - 7, 0: days, 1: days % 7 or 7}[step]
        return period_from(today + timedelta(days=shift), Precision.DAY)
    return _chosen([_month_of_year(unit, year) for year in range(today.year - 2, today.year + 3)], step, today)


def _chosen(known: list[CalendarPeriod], step: int, today: datetime) -> CalendarPeriod:
    """The latest of some ordered periods that is over; the one of this year; or the first in the future."""
    if step < 0:
        return [each for each in known if each.end and each.end <= today][-1]
    if step > 0:
        return next(each for each in known if each.start > today)
    around = (each for each in known if each.end and each.start <= today < each.end)
    return next(around, None) or next(each for each in known if each.start.year == today.year)


def _near(written: str, today: datetime) -> CalendarPeriod:
    return period_from(today + timedelta(days=_NEAR_DAYS[written]), Precision.DAY)


def _weekday(written: str, today: datetime) -> CalendarPeriod:
    """The latest day of that name, today or before."""
    back = (today.weekday() - _DAYS.index(written[:3])) % 7
    return period_from(today - timedelta(days=back), Precision.DAY)


def _month(written: str, today: datetime) -> CalendarPeriod:
    """The latest month or season of that name that has begun."""
    known = [_month_of_year(written, year) for year in (today.year, today.year - 1)]
    return next(each for each in known if each.start <= today)


_FIXED: Final[Mapping[str, Callable[[str], CalendarPeriod]]] = {
    "iso": _iso,
    "years": _years,
    "month_year": _month_year,
    "season_year": _month_year,
    "quarter": _quarter,
    "decade": _decade,
    "century": _century,
    "year": _year,
    "placed_year": _year,
}
_RELATIVE: Final[Mapping[str, Callable[[str, datetime], CalendarPeriod]]] = {
    "day_month": _day_month,
    "rolling": _rolling,
    "which": _which,
    "ago": _ago,
    "near": _near,
    "weekday": _weekday,
    "month": _month,
}


# -- the calendar -------------------------------------------------------------------------------------------------


def _day(year: int, month: int = 1, day: int = 1) -> datetime:
    return datetime(year, month, day)  # noqa: DTZ001 - a day of the calendar: the zone is added last


def _day_if_any(year: int, month: int, day: int) -> datetime | None:
    try:
        return _day(year, month, day)
    except ValueError:
        return None


def _month_of_year(written: str, year: int) -> CalendarPeriod:
    """The month, or the season, that an expression starts with."""
    season = _SEASONS.get(re.split(r"\W", written)[0])
    if season:
        return CalendarPeriod(_day(year, season), months_later(_day(year, season), 3), Precision.QUARTER)
    return period_from(_day(year, _MONTHS.index(written[:3]) + 1), Precision.MONTH)


def _count(written: str) -> int:
    return int(written) if written.isdecimal() else _NUMBERS[written]


def _shifted(day: datetime, unit: str, number: int) -> datetime:
    unit = unit.removesuffix("s")
    if unit in ("day", "week"):
        return day + timedelta(days=number * (7 if unit == "week" else 1))
    return months_later(day, number * {"month": 1, "quarter": 3, "year": 12}[unit])


def _whole(day: datetime, unit: str) -> CalendarPeriod:
    """The day, week (from Monday), month, quarter or year that a day is in."""
    precision = Precision(unit.removesuffix("s"))
    monday = day - timedelta(days=day.weekday())
    return period_from(monday if precision is Precision.WEEK else first_day(day, precision), precision)
