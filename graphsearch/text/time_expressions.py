"""The one grammar of English time expressions: what is written like a time, and the period that it names.

It is in ``times.txt``, and reads any case. Expressions without a definite date ("a few days ago", "recently") and dates
that can be read in two ways ("12/05/2023") are ignored. Texts (`graphsearch.text.dates`), stated facts and questions
(`graphsearch.question.analysis`) decide which of the expressions are times where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from typing import Final, NamedTuple, TypeVar

import attrs

from graphsearch.text.calendar import CalendarPeriod, Precision, containing, day_of, later, period_from
from graphsearch.text.word_lists import data_lines

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS: Final[Mapping[str, int]] = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first month of a season in the northern hemisphere; it lasts three. "Winter 2023" starts in December 2023."""
_STEPS: Final[Mapping[str, int]] = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}
_COUNTS: Final = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_RELATIVE: Final = frozenset({"near", "rolling", "which", "ago", "ahead", "lasting", "current"})
_T = TypeVar("_T")
_YEARLY: Final = frozenset({"day", "part", "month", "holiday", "weekday", "nth"})


@cache
def _grammar() -> Mapping[str, str]:
    """The patterns of ``times.txt`` by name; those of expressions have names in small letters."""
    found: dict[str, str] = {}
    for line in data_lines("graphsearch.text", "times.txt"):
        name, _, written = line.partition(": ")
        written = re.sub("<([A-Z_]+)>", lambda match: f"(?:{found[match[1]]})", written)
        found[name] = f"{found[name]}|{written}" if name in found else written
    return found


@cache
def pattern(name: str) -> re.Pattern[str]:
    """A pattern of ``times.txt``."""
    return re.compile(_grammar()[name])


@cache
def _any_expression() -> re.Pattern[str]:
    """Every kind of expression behind a character that parts words, as the group of its name."""
    kinds = "|".join(f"(?P<{name}>{written})" for name, written in _grammar().items() if name.islower())
    return re.compile(rf"[^\w.$€£#/](?<!\d,)(?:{kinds})(?!\w)")


@attrs.frozen
class Expression:
    """Characters [start, end) of a text that are written like a time; ``written`` in lower case.

    ``lead``: the words before it that place it in time, such as "until the end of the"; ``word`` is the first of them.
    """

    kind: str
    start: int
    end: int
    written: str
    word: str = ""
    lead: str = ""

    @property
    def dated(self) -> bool:
        """Whether it has a year."""
        return self.kind not in _RELATIVE and pattern("A_YEAR").search(self.written) is not None

    @property
    def absolute(self) -> bool:
        """Whether it means the same on any day, unlike "yesterday"."""
        return self.kind not in _RELATIVE and (self.kind not in _YEARLY or self.dated)

    @property
    def is_range(self) -> bool:
        """Whether it names both ends of a period itself, as "2011-17" does."""
        return self.kind in ("years", "iso_days") or (self.kind == "day" and len(_days_in(self.written)) > 1)

    @property
    def placed(self) -> bool:
        """Whether the words before it say that a time follows."""
        return self.lead not in ("", "the", "for", "for the")

    def fits(self) -> bool:
        """Whether it is a time by the words before it, as far as texts and questions agree."""
        match self.kind:
            case "month" | "numeric":
                return self.placed or self.dated  # "12.10.24" may be a version
            case "holiday":
                return self.placed
            case "weekday" | "nth":
                return self.placed and self.word not in ("in", "at", "of", "during", "year", "fiscal")
            case "year":
                return self.placed and self.lead != "at"
        return True

    def period(self, today: datetime, ahead: bool | None = False) -> CalendarPeriod | None:
        """The period that it names on a day; None if there is no such date.

        ``ahead``: whether a date without a year is the first that is not over, or else the latest that has begun;
        None: the nearer of both.
        """
        try:
            if self.kind in _RELATIVE:
                return _relative(self.kind, self.written, today)
            if self.kind in _YEARLY:
                return _yearly(self.kind, self.written, today, ahead)
            return _fixed(self.kind, self.written)
        except (IndexError, OverflowError, StopIteration, ValueError):  # 30 February, or out of the calendar
            return None


def find_expressions(text: str) -> list[Expression]:
    """What a text has that is written like a time, in order, not overlapping."""
    lowered = f" {text}".lower().replace("\n", " ")
    found: list[Expression] = []
    if not pattern("CLUE").search(lowered):
        return found
    if len(lowered) != len(text) + 1:
        lowered = f" {text}".replace("İ", "I").lower().replace("\n", " ")  # the one capital with two small letters
    for match in _any_expression().finditer(lowered):
        start, end = match.span(kind := match.lastgroup or "")
        last = found[-1] if found and found[-1].fits() and not found[-1].is_range else None
        joined = last is not None and pattern("JOINT").fullmatch(lowered, last.end + 1, start) is not None
        word, lead = lead_before(lowered, start)
        word = word or ("to" if joined else "")
        each = Expression(kind, start - 1, end - 1, match[kind], word, lead or word)
        if not _counts(text, each) and (joined or not _is_word(text, each)):
            found.append(each)
    return found


def lead_before(lowered: str, start: int) -> tuple[str, str]:
    """The first of the words before a date that place it in time, and all of them."""
    lead = pattern("LEAD").search(lowered, max(0, start - 40), start)
    return (lead["word"] or "", lead[0].rstrip(" -")) if lead else ("", "")


def _is_word(text: str, each: Expression) -> bool:
    """Whether what could be a month in lower case is another word: "you may 5 times", "on the march"."""
    if not pattern("MONTHS_TOO").search(text, each.start, each.end) or each.dated:
        return False
    if each.kind == "which":
        return each.written == "this may" and text[each.end :].strip(" ?!.,;") != ""
    if each.kind == "day":
        numbered = re.search("[0-9](?:st|nd|rd|th)", each.written) or pattern("ENDED").match(text, each.end)
        return not (numbered or pattern("OF_MONTHS").search(each.lead))
    return each.lead.endswith("the") or not pattern("OF_MONTHS").search(each.lead)


def _counts(text: str, each: Expression) -> bool:
    """Whether a number counts or measures what follows it, or numbers something."""
    if each.kind == "years":
        return is_numbering(text, each.start)
    return each.kind in ("day", "month", "year") and pattern("COUNTED").match(text, max(0, each.end - 2)) is not None


def is_numbering(text: str, start: int) -> bool:
    """Whether the words before a number say that it numbers something: "version 2019", "in building 1850"."""
    return pattern("NUMBERING").search(text, max(0, start - 60), start) is not None


# -- two expressions that are one period ------------------------------------------------------------------------------


class Dated(NamedTuple):
    """An expression and the period that it names, naive unless an offset is written."""

    expression: Expression
    period: CalendarPeriod

    @property
    def first(self) -> datetime:
        """The start of its period, without an offset."""
        return self.period.start.replace(tzinfo=None)


def join_ranges(text: str, found: Iterable[Dated]) -> list[tuple[Dated, Dated | None]]:
    """Dates in order; two of them together if the first is the start of a period and the second its end."""
    pairs: list[tuple[Dated, Dated | None]] = []
    for dated in found:
        first, last = pairs[-1] if pairs else (None, None)
        if first and last is None and (start := _joined(text, first, dated)):
            pairs[-1] = start, dated
        else:
            pairs.append((dated, None))
    return pairs


def _joined(text: str, first: Dated, second: Dated) -> Dated | None:
    """The first of two dates that the words between them, and before them, join into one period.

    It has the year of the second: "between March and May 2023".
    """
    (one, period), other = first, second.expression
    joint = pattern("JOINT").fullmatch(text, one.end, other.start)
    if joint is None or one.is_range or ("and" in joint[0].casefold() and one.word != "between"):
        return None
    start, last = first.first, second.first
    if one.kind in ("day", "month") and not one.dated and other.absolute:
        start = start.replace(year=max(1, last.year - (start.month > last.month)), day=min(start.day, 28))
        period = period_from(start, period.precision)
    return Dated(one, period) if start <= last else None


# -- what an expression names -----------------------------------------------------------------------------------------


def _fixed(kind: str, written: str) -> CalendarPeriod:
    """The period of an expression that means the same on any day."""
    numbers = [int(number) for number in re.findall(r"\d+", written)]
    match kind:
        case "iso" if len(written) > len("2024-05-01"):
            return period_from(datetime.fromisoformat(written.upper()), Precision.TIME)
        case "iso" | "numeric_month":
            numbers = numbers[::-1] if kind == "numeric_month" else numbers
            return period_from(day_of(*numbers), (Precision.YEAR, Precision.MONTH, Precision.DAY)[len(numbers) - 1])
        case "iso_days":  # the days of "2024-05-03/05"
            return _days(numbers[0], numbers[1], written[len("2024-05-") :])
        case "iso_week":
            return period_from(datetime.fromisocalendar(max(numbers), min(numbers), 1), Precision.WEEK)
        case "numeric":  # with dots the day comes first, with slashes only one order may be
            day, month, year = numbers
            if "/" in written and day != month and max(day, month) <= len(_MONTHS):
                raise ValueError(written)
            day, month = (month, day) if "/" in written and month > len(_MONTHS) else (day, month)
            return period_from(day_of(_year(year), month, day), Precision.DAY)
        case "years":  # the last of "2011-17" is 2017
            first, last = re.findall(r"\d+", written)
            number = int(first[: -len(last)] + last) - numbers[0] + 1
            if number <= 1:
                raise ValueError(written)
            return period_from(day_of(numbers[0]), Precision.YEAR, number)
        case "decade" | "century":
            size = 10 if kind == "decade" else 100
            return period_from(day_of(numbers[0] if kind == "decade" else 100 * numbers[0] - 99), Precision.YEAR, size)
    return period_from(day_of(_year(numbers[0])), Precision.YEAR)


def _yearly(kind: str, written: str, today: datetime, ahead: bool | None) -> CalendarPeriod:
    """The period of an expression of which each year, month or week has one."""
    if kind == "weekday":
        shift = (_DAYS.index(written[:3]) - today.weekday()) % 7
        return _meant([period_from(today + timedelta(shift + week), Precision.DAY) for week in (-7, 0)], today, ahead)
    if kind == "nth":
        months = [later(today.replace(day=1), Precision.MONTH, step) for step in range(-2, 3)]
        return _meant(_possible(lambda month: _days(month.year, month.month, written), months), today, ahead)
    years = [_year(int(year)) for year in pattern("A_YEAR").findall(written)][-1:]
    reach = 8 if "29" in written else 1  # years to the next 29 February, around 1900
    nearby = years or range(today.year - reach, today.year + reach + 1)
    if kind == "part":
        quarters = 1 if "q" in written else 2
        digit = re.search("(?<=[qh])[1-4]|^[1-4](?=[a-z])", written)
        number = int(digit[0]) if digit else {"fi": 1, "se": 2, "th": 3}.get(written[:2], 4)
        month = 3 * quarters * (min(number, 4 // quarters) - 1) + 1
        found = _possible(lambda year: period_from(day_of(year, month), Precision.QUARTER, quarters), nearby)
    elif kind == "month":
        found = _possible(lambda year: _month_of(written, year), nearby)
    else:
        days = {"chr": "25 dec", "box": "26 dec", "new": "1 jan", "hal": "31 oct", "val": "14 feb", "may": "1 may"}
        eve = {"chr": "24 dec", "new": "31 dec"} if " eve" in written else {}
        day = written if kind == "day" else (days | eve)[written[:3]]
        found = _possible(lambda year: _days(year, _month_in(day), day), nearby)
    return _meant(found, today, ahead)


def _possible(build: Callable[[_T], CalendarPeriod], values: Iterable[_T]) -> list[CalendarPeriod]:
    """What is built of the values for which the calendar has it."""
    found = []
    for value in values:
        with suppress(ValueError):
            found.append(build(value))
    return found


def _meant(found: list[CalendarPeriod], today: datetime, ahead: bool | None) -> CalendarPeriod:
    """The one of some ordered periods that is meant on a day; a single one whatever the day."""
    past = next((each for each in reversed(found) if each.start <= today), None)
    coming = next((each for each in found if each.end and each.end > today), None)
    if ahead is None and past and coming:
        return past if today - past.start <= coming.start - today else coming
    chosen = found[0] if len(found) == 1 else past if ahead is False else coming
    if chosen is None:
        raise ValueError(found)
    return chosen


def _relative(kind: str, written: str, today: datetime) -> CalendarPeriod:
    """The period of an expression that is counted from a day."""
    first, *rest = written.split()
    match kind:
        case "near":
            days = -2 if "before" in written else {"yesterday": -1, "tomorrow": 1}.get(written, 0)
            return period_from(today + timedelta(days), Precision.DAY)
        case "current":
            return containing(today, Precision(written))
        case "rolling":  # up to this day, or after it
            tomorrow, (precision, number) = today + timedelta(1), _length(rest)
            ends = sorted((tomorrow, later(tomorrow, precision, number * (_STEPS[first] or -1))))
            return CalendarPeriod(ends[0], ends[1], Precision.DAY)
        case "which" if written.endswith("before last"):
            return _which(-2, written.split()[-3], today)
        case "which":
            return _which(_STEPS[first], rest[0], today)
    length = re.sub("^(?:in|for)(?: over| about| almost| nearly)? | ago$", "", written)
    precision, number = _length(length.split())
    return period_from(later(today, precision, number if kind == "ahead" else -number), precision)


def _which(step: int, unit: str, today: datetime) -> CalendarPeriod:
    """The last (-1), this (0) or next (1) night, weekend, week, month, quarter, year, weekday, month or season."""
    if unit == "night":
        return period_from(today + timedelta(step), Precision.DAY)
    if unit == "weekend":
        return period_from(containing(today, Precision.WEEK).start + timedelta(7 * step + 5), Precision.DAY, 2)
    if unit in tuple(Precision):
        return containing(later(containing(today, Precision(unit)).start, Precision(unit), step), Precision(unit))
    if unit.endswith("day"):
        days = _DAYS.index(unit[:3]) - today.weekday()
        return period_from(today + timedelta((days % 7 - 7, days, days % 7 or 7)[step + 1]), Precision.DAY)
    known = _possible(lambda year: _month_of(unit, year), range(today.year - 2, today.year + 3))
    if step > 0:
        return next(each for each in known if each.start > today)
    if step < 0:
        return [each for each in known if each.end and each.end <= today][-1]
    return _meant(known, today, ahead=None)


def _length(words: list[str]) -> tuple[Precision, int]:
    """The unit and the number of "3 weeks", "a couple of months" or "year"."""
    *count, unit = words
    word = "two" if "couple" in count else count[0] if count else "one"
    number = int(word) if word.isdecimal() else _COUNTS.index(word) if word in _COUNTS else 1
    unit = unit.removesuffix("s")
    return (Precision.WEEK, 2 * number) if unit == "fortnight" else (Precision(unit), number)


def _year(year: int) -> int:
    """2024 of '24, and 1998 of '98."""
    return year if year > 99 else year + (2000 if year < 70 else 1900)  # noqa: PLR2004 - a year of two digits


def _days_in(written: str) -> list[int]:
    return [int(number) for number in re.findall(r"(?<![\d'’])\d{1,2}(?!\d)", written)]


def _days(year: int, month: int, written: str) -> CalendarPeriod:
    """The days of "3-5 March", or the one of "5 May" or "May 5th, 2023"."""
    first, *_, last = _days_in(written) * 2
    if first > last:
        raise ValueError(written)
    return period_from(day_of(year, month, first), Precision.DAY, last - first + 1)


def _month_in(written: str) -> int:
    return next(_MONTHS.index(word[:3]) for word in re.split(r"[\W\d]+", written) if word[:3] in _MONTHS) + 1


def _month_of(written: str, year: int) -> CalendarPeriod:
    """The month, or the season, that an expression starts with."""
    season = _SEASONS.get(re.split(r"\W", written)[0])
    if season:
        return period_from(day_of(year, season), Precision.QUARTER)
    return period_from(day_of(year, _month_in(written)), Precision.MONTH)
