"""The one grammar of English time expressions: what is written like a time, and the period that it names.

Pure rules, without any extra. Expressions without a definite date ("a few days ago", "recently") and dates that are
read in two ways ("12/05/2023") are ignored. Texts (`graphsearch.text.dates`) and questions
(`graphsearch.query.asked_time`) decide which of the expressions are times where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

import attrs

from graphsearch.text import word_lists
from graphsearch.text.calendar import (
    HOLIDAYS,
    CalendarPeriod,
    Precision,
    first_day,
    iso_period,
    months_later,
    period_from,
)

Prefer = Literal["past", "future", "nearest"]
"""Which occurrence of a date without a year is meant: the latest that has begun, the first not over, or the nearer."""


@attrs.frozen
class Expression:
    """Characters [start, end) of a text that are written like a time; ``written`` in lower case.

    ``absolute``: it means the same on any day, unlike "yesterday". ``yearless``: a month or a day without its year.
    """

    kind: str
    start: int
    end: int
    written: str

    @property
    def absolute(self) -> bool:
        """Whether it means the same on any day."""
        return self.kind in _FIXED or self.dated

    @property
    def dated(self) -> bool:
        """Whether it has a year."""
        return _ANY_YEAR.search(self.written) is not None

    @property
    def yearless(self) -> bool:
        """Whether it is a month or a day of one, without its year."""
        return self.kind in ("day_month", "days", "month") and not self.dated

    @property
    def is_range(self) -> bool:
        """Whether it names both ends of a period itself, as "2011-17" does."""
        return self.kind in ("iso_pair", "years", "days")

    def period(self, today: datetime, prefer: Prefer = "past", *, counted_whole: bool = True) -> CalendarPeriod | None:
        """The period that it names on a day; None if there is no such date.

        ``counted_whole``: "two weeks ago" is that whole week, from Monday; otherwise the week that began on that day.
        """
        try:
            if self.kind in _FIXED:
                return _FIXED[self.kind](self.written)
            if self.kind in _YEARLESS:
                return _YEARLESS[self.kind](self.written, today, prefer)
            if self.kind in ("ago", "ahead"):
                return _counted(self.written, today, whole=counted_whole)
            return _RELATIVE[self.kind](self.written, today)
        except (OverflowError, ValueError):  # 30 February, or out of the calendar
            return None


@attrs.frozen
class Dated:
    """An expression and the period that it names, naive unless an offset is written."""

    expression: Expression
    period: CalendarPeriod

    @property
    def first(self) -> datetime:
        """The start of its period, without an offset."""
        return self.period.start.replace(tzinfo=None)


MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
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
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
}
_PARTS: Final[Mapping[str, int]] = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3} | dict.fromkeys(
    ("fourth", "4th", "last", "final"), 4
)

_MONTH: Final = (
    r"(?:(?:january|february|march|april|may|june|july|august|september|october|november|december)(?![\w-])"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)(?![\w-])\.?)"
)
_DAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SEASON: Final = "(?:spring|summer|autumn|fall|winter)"
_UNIT: Final = "(?:day|week|fortnight|month|quarter|year)s?"
_COUNT: Final = rf"(?:\d{{1,4}}|a couple(?: of)?|{'|'.join(_NUMBERS)})"
_ORDINAL: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_PLAIN_YEAR: Final = r"(?:1\d{3}|20\d{2})(?![\w-]{0,20}\d|[.,]\d)"
_YEAR: Final = rf"(?:{_PLAIN_YEAR}|['’]\d\d(?!\w))"
_OF_YEAR: Final = rf"(?:(?: of|,)? {_YEAR})"
_DASH: Final = "[-–—]"
_TO: Final = rf"(?: ?{_DASH} ?| ?& ?| (?:to|and|until|till|through) (?:the )?)"
_ISO_DAY: Final = r"\d{4}-\d{2}-\d{2}"
_MONTH_NAME: Final = re.compile(rf"\b({'|'.join(MONTHS)})")
_PART: Final = re.compile("[qh]([1-4])")
_ANY_YEAR: Final = re.compile(r"\b\d{4}\b|['’]\d\d\b")

_EXPRESSION: Final = re.compile(
    r"(?<![\w.$€£#/])(?<!\d,)(?:"
    rf"(?P<iso_pair>{_ISO_DAY}/(?:(?:\d{{4}}-)?\d{{2}}-)?\d{{2}}(?![\w/-]))"
    r"|(?P<iso_week>\d{4}-?w\d{2}(?![\w-])|(?:calendar )?week \d{1,2}(?:,| of)? (?:1\d{3}|20\d{2}))"
    r"|(?P<iso>(?<!-)(?:\d{4}-(?:0\d|1[0-2])(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?)?"
    r"|\d{4}([/.])\d{2}\4\d{2})(?![\w/-]))"
    r"|(?P<numeric>\d{1,2}([/.])\d{1,2}\6(?:\d{4}|\d{2})(?![\w/-]|\.\d))"
    r"|(?P<numeric_month>(?:0?[1-9]|1[0-2])/(?:1\d|20)\d{2}(?![\w/-]))"
    rf"|(?P<years>(?<!-)(?:1\d{{3}}|20\d{{2}})(?: ?{_DASH} ?|/)(?:(?:1\d|20)\d{{2}}|\d{{2}})(?![\w/-]|[.,]\d))"
    rf"|(?P<days>{_ORDINAL}{_TO}{_ORDINAL}(?: of)? {_MONTH}{_OF_YEAR}?"
    rf"|{_MONTH} {_ORDINAL}{_TO}{_ORDINAL}(?![\d:]){_OF_YEAR}?)"
    rf"|(?P<day_month>{_ORDINAL}(?: of)? {_MONTH}{_OF_YEAR}?|{_MONTH} (?:the )?{_ORDINAL}(?![\d:.]\d|\d){_OF_YEAR}?)"
    rf"|(?P<month_year>{_MONTH}{_OF_YEAR})"
    rf"|(?P<season_year>{_SEASON}{_OF_YEAR})"
    rf"|(?P<part>(?:q[1-4]|h[12])(?:[ -]{_YEAR}|{_OF_YEAR})?(?![\w-])|(?:{'|'.join(_PARTS)}) (?:quarter|half)"
    rf"{_OF_YEAR}|(?:1\d{{3}}|20\d{{2}})[ -]?(?:q[1-4]|h[12])(?![\w-]))"
    r"|(?P<decade>(?:1\d|20)\d0s)"
    r"|(?P<century>(?:[1-9]|1\d|2[01])(?:st|nd|rd|th)[ -]century)"
    rf"|(?P<holiday>(?:christmas(?: day| eve)?|boxing day|new year(?:['’]s)?(?: day| eve)?|halloween"
    rf"|valentine['’]s day|may day)(?: {_YEAR})?)"
    rf"|(?P<near>{'|'.join(_NEAR_DAYS)})"
    rf"|(?P<rolling>(?:{'|'.join(_STEPS)}) {_COUNT} {_UNIT}|past {_UNIT})"
    r"|(?P<before_last>(?:the )?(?:week|month|year) before last)"
    rf"|(?P<which>(?:{'|'.join(_STEPS)}) (?:week(?:end)?|month|quarter|year|night|{_SEASON}|{_DAY}|{_MONTH}))"
    rf"|(?P<ago>{_COUNT} {_UNIT} ago)"
    rf"|(?P<ahead>in {_COUNT} {_UNIT})"
    rf"|(?P<lasting>for (?:over |about |almost |nearly )?{_COUNT} {_UNIT})"
    rf"|(?P<weekday>{_DAY})"
    rf"|(?P<month>(?:{_SEASON}|{_MONTH})(?!(?: of|,)? \d))"
    r"|(?P<nth>\d{1,2}(?:st|nd|rd|th)(?=[.,;:!?)]|\s*$| (?:and|but|so|to|when|as|onwards?)\b))"
    r"|(?<= of the )(?P<current>week|month|quarter|year)"
    r"|(?P<short_year>['’]\d\d)"
    rf"|(?P<year>(?<!\d )(?<!\d-){_PLAIN_YEAR})"
    r")(?!\w)",
    re.IGNORECASE,
)
# Every expression has one of these words, so that most texts need no second pass.
_CLUE: Final = re.compile(
    rf"\d|day\b|ago\b|tomorrow|tonight|night\b|(?:week|weekend|month|quarter|year)s?\b|morning|afternoon|evening"
    rf"|christmas|new year|halloween|\b(?:{_SEASON}|{_MONTH})",
    re.IGNORECASE,
)
# What follows the number of a count, a length or a price: "in 1500 lines".
_COUNTED: Final = re.compile(
    r" ?(?:%|[€£$]|(?:[kKMGT]B|k?[bB]its?|bytes|[km]?Hz|ms|lines?|people|words|users|files|tests|items|rows|tokens"
    r"|requests|hours|minutes|seconds|days|weeks|months|years|miles|km|kg|metres|meters|feet|dollars|euros|pounds|EUR"
    r"|USD|GBP|CHF|employees|members|memories|students|copies|seats|points|votes|customers|units|pixels|rpm|steps"
    r"|calories|kcal|watts?|times|m)\b)| \d{3}"
)
_HUNDREDS: Final = re.compile(r"\d\d00 (?!is\b|was\b|has\b|does\b)[a-z]+s\b")
"""A round number of things: "1900 tickets"."""
# The word before a number that it is the number of, and a word before that which no article parts from it.
_LAST_WORD: Final = re.compile(r"\b(?:(?P<before>[A-Za-z]+) )?(?P<word>[A-Za-z]+)\.? $")
_WITHOUT_ARTICLE: Final = frozenset(
    {"in", "at", "on", "under", "with", "to", "per", "via", "using", "through", "inside"}
)
_OF_TIME: Final = frozenset({"year", "fiscal", "season", "early", "mid", "late", "the", "about", "around", "circa"})


def find_expressions(text: str) -> Iterator[Expression]:
    """What a text has that is written like a time, in order, not overlapping."""
    if not _CLUE.search(text):
        return
    for match in _EXPRESSION.finditer(text):
        kind = match.lastgroup or ""
        start, end = match.span(kind)
        each = Expression(kind, start, end, match[kind].casefold())
        if not ((kind.endswith("year") or each.yearless) and is_counted(text, end)):
            yield each


def is_counted(text: str, end: int) -> bool:
    """Whether a number up to ``end`` counts or measures what follows it."""
    return _COUNTED.match(text, end) is not None or _HUNDREDS.match(text, max(0, end - 4)) is not None


def is_numbering(text: str, start: int) -> bool:
    """Whether the words before a number say that it numbers something: "version 2019", "in building 1850".

    So says a word for what has numbers, and a small word with a noun behind it that would otherwise need an article.
    """
    before = _LAST_WORD.search(text, max(0, start - 60), start)
    if before is None:
        return False
    word = before["word"].casefold()
    if word in word_lists.NUMBERED or word.removesuffix("s") in word_lists.NUMBERED:
        return True
    plain = before["word"].islower() and word not in _OF_TIME and word not in _SEASONS and word[:3] not in MONTHS
    return plain and (before["before"] or "").casefold() in _WITHOUT_ARTICLE


_JOINT: Final = re.compile(rf"(?:\s?{_DASH}\s?| (?:to|until|till|through|and) )(?:the )?", re.IGNORECASE)


def join_ranges(text: str, found: Iterable[Dated]) -> list[tuple[Dated, Dated | None]]:
    """Dates in order; two of them together if the first is the start of a period and the second its end."""
    pairs: list[tuple[Dated, Dated | None]] = []
    for dated in found:
        first, last = pairs[-1] if pairs else (None, None)
        if first and last is None and not first.expression.is_range and _spans(text, first, dated):
            pairs[-1] = _with_year(first, dated), dated
        else:
            pairs.append((dated, None))
    return pairs


def _spans(text: str, first: Dated, second: Dated) -> bool:
    """Whether the words between two dates, and before them, join them into one period."""
    joint = _JOINT.fullmatch(text, first.expression.end, second.expression.start)
    if joint is None or second.first < _with_year(first, second).first:
        return False
    return "and" not in joint[0].casefold() or text[: first.expression.start].rstrip().casefold().endswith(
        ("between", "between the")
    )


def _with_year(first: Dated, second: Dated) -> Dated:
    """March of 2023 in "between March and May 2023"."""
    if not first.expression.yearless or not second.expression.absolute:
        return first
    start, last = first.period.start, second.period.start
    start = start.replace(year=max(1, last.year - (start.month > last.month)), day=min(start.day, 28))
    return attrs.evolve(first, period=period_from(start, first.period.precision))


# -- expressions with a meaning that does not depend on the day, in lower case -----------------------------------------


def _iso_pair(written: str) -> CalendarPeriod:
    first, last = written.split("/")
    start, end = iso_period(first), iso_period(first[: -len(last)] + last)
    if start is None or end is None or end.start < start.start:
        raise ValueError(written)
    return CalendarPeriod(start.start, end.end, Precision.DAY)


def _iso_week(written: str) -> CalendarPeriod:
    year, week = sorted((int(number) for number in re.findall(r"\d+", written)), reverse=True)
    return period_from(datetime.fromisocalendar(year, week, 1), Precision.WEEK)


def _years(written: str) -> CalendarPeriod:
    """The years 2011 to 2017 of "2011-17"."""
    first, last = re.findall(r"\d+", written)
    year, other = int(first), int(first[: 4 - len(last)] + last)
    if other <= year:
        raise ValueError(written)
    return CalendarPeriod(_day(year), _day(other + 1), Precision.YEAR)


def _numeric(written: str) -> CalendarPeriod:
    """13.07.2024, 13/07/2024 and 07/13/2024: with dots the day comes first, with slashes only one order may be."""
    first, second, year = (int(number) for number in re.split("[/.]", written))
    if "/" in written and first != second and max(first, second) <= len(MONTHS):
        raise ValueError(written)
    day, month = (second, first) if "/" in written and second > len(MONTHS) else (first, second)
    return period_from(_day(_full_year(year), month, day), Precision.DAY)


def _century(written: str) -> CalendarPeriod:
    number = int(written.partition("century")[0].rstrip(" -stndrh"))
    return CalendarPeriod(_day(100 * number - 99), _day(100 * number + 1), Precision.YEAR)


# -- expressions of which each year, month or week has one ------------------------------------------------------------


def _days(written: str, today: datetime, prefer: Prefer) -> CalendarPeriod:
    """The days of "3-5 March", or the one of "5 May" or "May 5th, 2023"."""
    month = MONTHS.index(_MONTH_NAME.findall(written)[0]) + 1
    days = [int(number) for number in re.findall(r"(?<![\d'’])\d{1,2}(?!\d)", written)]
    if not days[0] <= days[-1]:
        raise ValueError(written)
    years = [_year_in(written)] if _ANY_YEAR.search(written) else range(today.year - 8, today.year + 9)
    found = [
        CalendarPeriod(first, period_from(last, Precision.DAY).end, Precision.DAY)
        for year in years
        if (first := _day_if_any(year, month, days[0])) and (last := _day_if_any(year, month, days[-1]))
    ]
    return _preferred(found, today, prefer)


def _part(written: str, today: datetime, prefer: Prefer) -> CalendarPeriod:
    """A quarter or half of a year."""
    months = 3 if "q" in written else 6
    letter = _PART.search(written)
    part = min(int(letter[1]) if letter else _PARTS[written.split(maxsplit=1)[0]], 12 // months)
    years = [_year_in(written)] if _ANY_YEAR.search(written) else range(today.year - 1, today.year + 2)
    starts = [_day(year, months * (part - 1) + 1) for year in years]
    return _preferred(
        [CalendarPeriod(start, months_later(start, months), Precision.QUARTER) for start in starts], today, prefer
    )


def _month(written: str, today: datetime, prefer: Prefer) -> CalendarPeriod:
    """A month or season."""
    return _preferred([_month_of_year(written, year) for year in _years_around(today)], today, prefer)


def _holiday(written: str, today: datetime, prefer: Prefer) -> CalendarPeriod:
    name = re.sub(r" (?:\d{4}|['’]\d\d)$", "", written).replace("’", "'")
    return _days(HOLIDAYS[name] + written[len(name) :], today, prefer)


def _weekday(written: str, today: datetime, prefer: Prefer) -> CalendarPeriod:
    ahead = (_DAYS.index(written[:3]) - today.weekday()) % 7
    found = [period_from(today + timedelta(days=ahead + shift), Precision.DAY) for shift in (-7, 0)]
    return _preferred(found, today, prefer)


def _nth(written: str, today: datetime, prefer: Prefer) -> CalendarPeriod:
    """Such a day of a month."""
    first, number = today.replace(day=1), int(written.rstrip("stndrh"))
    months = [months_later(first, step) for step in range(-2, 3)]
    days = [day for month in months if (day := _day_if_any(month.year, month.month, number))]
    return _preferred([period_from(day, Precision.DAY) for day in days], today, prefer)


def _preferred(found: list[CalendarPeriod], today: datetime, prefer: Prefer) -> CalendarPeriod:
    """The one of some ordered periods that is meant on a day; a single one whatever the day."""
    if len(found) == 1:
        return found[0]
    past = next((each for each in reversed(found) if each.start <= today), None)
    ahead = next((each for each in found if each.end and each.end > today), None)
    if prefer == "nearest" and past and ahead:
        return past if today - past.start <= ahead.start - today else ahead
    chosen = past if prefer == "past" else ahead
    if chosen is None:
        raise ValueError(found)
    return chosen


# -- expressions that depend on the day ----------------------------------------------------------------------------


def _rolling(written: str, today: datetime) -> CalendarPeriod:
    which, *count, unit = written.removeprefix("the ").split()
    steps = (_STEPS[which] or -1) * (_count(count) if count else 1)
    tomorrow = today + timedelta(days=1)
    if steps > 0:
        return CalendarPeriod(tomorrow, _shifted(tomorrow, unit, steps), Precision.DAY)
    return CalendarPeriod(_shifted(tomorrow, unit, steps), tomorrow, Precision.DAY)


def _counted(written: str, today: datetime, *, whole: bool) -> CalendarPeriod:
    """The period of "two weeks ago" or "in two weeks"."""
    *count, unit = written.removeprefix("in ").removesuffix(" ago").split()
    day = _shifted(today, unit, _count(count) * (-1 if written.endswith("ago") else 1))
    return _whole(day, unit) if whole else period_from(day, _precision(unit))


def _which(written: str, today: datetime) -> CalendarPeriod:
    which, _, unit = written.partition(" ")
    step = _STEPS[which]
    if unit == "night":
        return period_from(today + timedelta(days=step), Precision.DAY)
    if unit == "weekend":
        saturday = _whole(today, "week").start + timedelta(days=7 * step + 5)
        return CalendarPeriod(saturday, saturday + timedelta(days=2), Precision.DAY)
    if unit in ("week", "month", "quarter", "year"):
        return _steps(step, unit, today)
    if unit.endswith("day"):
        days = _DAYS.index(unit[:3]) - today.weekday()
        shift = {-1: days % 7 - 7, 0: days, 1: days % 7 or 7}[step]
        return period_from(today + timedelta(days=shift), Precision.DAY)
    return _chosen([_month_of_year(unit, year) for year in _years_around(today)], step, today)


def _steps(step: int, unit: str, today: datetime) -> CalendarPeriod:
    """The week, month, quarter or year some steps from that of a day."""
    return _whole(_shifted(_whole(today, unit).start, unit, step), unit)


def _chosen(known: list[CalendarPeriod], step: int, today: datetime) -> CalendarPeriod:
    """The latest of some ordered periods that is over; the one of this year; or the first in the future."""
    if step < 0:
        return [each for each in known if each.end and each.end <= today][-1]
    if step > 0:
        return next(each for each in known if each.start > today)
    around = (each for each in known if each.end and each.start <= today < each.end)
    return next(around, None) or next(each for each in known if each.start.year == today.year)


_FOR: Final = re.compile("^for (?:over |about |almost |nearly )?")
_FIXED: Final[Mapping[str, Callable[[str], CalendarPeriod | None]]] = {
    "iso": lambda written: iso_period(written.upper() if "t" in written else written.replace(".", "-")),
    "iso_pair": _iso_pair,
    "iso_week": _iso_week,
    "numeric": _numeric,
    "numeric_month": lambda written: period_from(_day(int(written[-4:]), int(written[:-5])), Precision.MONTH),
    "years": _years,
    **dict.fromkeys(("month_year", "season_year"), lambda written: _month_of_year(written, _year_in(written))),
    "decade": lambda written: CalendarPeriod(_day(int(written[:4])), _day(int(written[:4]) + 10), Precision.YEAR),
    "century": _century,
    **dict.fromkeys(("short_year", "year"), lambda written: period_from(_day(_year_in(written)), Precision.YEAR)),
}
_YEARLESS: Final[Mapping[str, Callable[[str, datetime, Prefer], CalendarPeriod]]] = {
    "day_month": _days,
    "days": _days,
    "part": _part,
    "month": _month,
    "holiday": _holiday,
    "weekday": _weekday,
    "nth": _nth,
}
_RELATIVE: Final[Mapping[str, Callable[[str, datetime], CalendarPeriod]]] = {
    "rolling": _rolling,
    "which": _which,
    "before_last": lambda written, today: _steps(-2, written.removeprefix("the ").split()[0], today),
    "lasting": lambda written, today: _counted(f"{_FOR.sub('', written)} ago", today, whole=False),
    "near": lambda written, today: period_from(today + timedelta(days=_NEAR_DAYS[written]), Precision.DAY),
    "current": lambda written, today: _whole(today, written),
}


# -- the calendar -------------------------------------------------------------------------------------------------


def _day(year: int, month: int = 1, day: int = 1) -> datetime:
    return datetime(year, month, day)  # noqa: DTZ001 - a day of the calendar: the zone is added last


def _day_if_any(year: int, month: int, day: int) -> datetime | None:
    try:
        return _day(year, month, day)
    except ValueError:
        return None


def _years_around(today: datetime) -> range:
    return range(max(1, today.year - 2), min(9999, today.year + 3))


def _year_in(written: str) -> int:
    return _full_year(int(re.findall(r"\d{4}|(?<=['’])\d\d", written)[-1]))


def _full_year(year: int) -> int:
    """2024 of '24, and 1998 of '98."""
    return year if year > 99 else year + (2000 if year < 70 else 1900)  # noqa: PLR2004 - a year of two digits


def _month_of_year(written: str, year: int) -> CalendarPeriod:
    """The month, or the season, that an expression starts with."""
    season = _SEASONS.get(re.split(r"\W", written)[0])
    if season:
        return CalendarPeriod(_day(year, season), months_later(_day(year, season), 3), Precision.QUARTER)
    return period_from(_day(year, MONTHS.index(written[:3]) + 1), Precision.MONTH)


def _count(words: list[str]) -> int:
    """The number of "3", "three" or "a couple of"."""
    number = 2 if "couple" in words else words[0]
    return number if isinstance(number, int) else int(number) if number.isdecimal() else _NUMBERS[number]


def _shifted(day: datetime, unit: str, number: int) -> datetime:
    unit = unit.removesuffix("s")
    if unit in ("day", "week", "fortnight"):
        return day + timedelta(days=number * {"day": 1, "week": 7, "fortnight": 14}[unit])
    return months_later(day, number * {"month": 1, "quarter": 3, "year": 12}[unit])


def _precision(unit: str) -> Precision:
    unit = unit.removesuffix("s")
    return Precision.WEEK if unit == "fortnight" else Precision(unit)


def _whole(day: datetime, unit: str) -> CalendarPeriod:
    """The day, week (from Monday), month, quarter or year that a day is in."""
    precision = _precision(unit)
    monday = day - timedelta(days=day.weekday())
    return period_from(monday if precision is Precision.WEEK else first_day(day, precision), precision)
