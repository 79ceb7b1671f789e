"""The one grammar of English time expressions: what is written like a time, and the period that it names.

It is in ``times.txt``, and reads any case. Expressions without a definite date ("a few days ago", "recently") and dates
that can be read in two ways ("12/05/2023") are ignored. Texts (`graphsearch.text.dates`), stated facts and questions
(`graphsearch.query.asked_time`) decide which of the expressions are times where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

import attrs

from graphsearch.text import word_lists
from graphsearch.text.calendar import CalendarPeriod, Precision, containing, day_of, later, period_from

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS: Final[Mapping[str, int]] = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first month of a season in the northern hemisphere; it lasts three. "Winter 2023" starts in December 2023."""
_STEPS: Final[Mapping[str, int]] = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}
_COUNTS: Final = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_RELATIVE: Final = frozenset({"near", "rolling", "which", "ago", "ahead", "lasting", "current"})
_YEARLY: Final = frozenset({"day", "part", "month", "holiday", "weekday", "nth"})


@cache
def _grammar() -> Mapping[str, str]:
    """The patterns of ``times.txt`` by name; those of expressions have names in small letters."""
    found: dict[str, str] = {}
    for line in word_lists.data_lines("graphsearch.text", "times.txt"):
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
        return self.kind in ("iso_pair", "years") or (self.kind == "day" and len(_days_in(self.written)) > 1)

    @property
    def placed(self) -> bool:
        """Whether the words before it say that a time follows."""
        return self.lead not in ("", "the")

    @property
    def at_end(self) -> bool:
        """Whether the end of it is meant: "at the end of May"."""
        return "end of" in self.lead

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
                return self.placed and self.word != "at"
        return True

    def period(self, today: datetime, ahead: bool | None = False) -> CalendarPeriod | None:
        """The period that it names on a day; None if there is no such date.

        ``ahead``: whether a date without a year is the first that is not over, or else the latest that has begun;
        None: the nearer of both.
        """
        try:
            return _READERS[self.kind](self.written, _Seen(today, ahead))
        except (OverflowError, ValueError):  # 30 February, or out of the calendar
            return None


def find_expressions(text: str) -> Iterator[Expression]:
    """What a text has that is written like a time, in order, not overlapping."""
    lowered, last = f" {text}".lower().replace("\n", " "), 0
    if not pattern("CLUE").search(lowered):
        return
    if len(lowered) != len(text) + 1:
        lowered = f" {text}".replace("İ", "I").lower().replace("\n", " ")  # the one capital with two small letters
    for match in _any_expression().finditer(lowered):
        start, end = match.span(kind := match.lastgroup or "")
        joined = last > 0 and pattern("JOINT").fullmatch(lowered, last, start) is not None
        word, lead = lead_before(lowered, start)
        word = word or ("to" if joined else "")
        each = Expression(kind, start - 1, end - 1, match[kind], word, lead or word)
        if not _counts(text, each) and (joined or not _is_word(text, each)):
            yield each
            last = end


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
    """Whether the words before a number say that it numbers something: "version 2019", "in building 1850".

    So says a word for what has numbers, and a small word with a noun behind it that would otherwise need an article.
    """
    before = pattern("NUMBERING").search(text, max(0, start - 60), start)
    if before is None:
        return False
    word = before["word"].casefold()
    if word in word_lists.NUMBERED or word.removesuffix("s") in word_lists.NUMBERED:
        return True
    return pattern("NOUN_ALONE").search(before[0]) is not None and word not in _SEASONS and word[:3] not in _MONTHS


# -- two expressions that are one period ------------------------------------------------------------------------------


class Dated(NamedTuple):
    """An expression and the period that it names, naive unless an offset is written."""

    expression: Expression
    period: CalendarPeriod


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
    start, last = period.start.replace(tzinfo=None), second.period.start.replace(tzinfo=None)
    if one.kind in ("day", "month") and not one.dated and other.absolute:
        start = start.replace(year=max(1, last.year - (start.month > last.month)), day=min(start.day, 28))
        period = period_from(start, period.precision)
    return Dated(one, period) if start <= last else None


# -- what an expression names -----------------------------------------------------------------------------------------


class _Seen(NamedTuple):
    """The day from which an expression is seen, and whether it is ahead of it."""

    day: datetime
    ahead: bool | None

    def meant(self, found: list[CalendarPeriod]) -> CalendarPeriod:
        """The one of some ordered periods that is meant; a single one whatever the day."""
        past = next((each for each in reversed(found) if each.start <= self.day), None)
        coming = next((each for each in found if each.end and each.end > self.day), None)
        if self.ahead is None and past and coming:
            return past if self.day - past.start <= coming.start - self.day else coming
        chosen = found[0] if len(found) == 1 else past if self.ahead is False else coming
        if chosen is None:
            raise ValueError(found)
        return chosen

    def of_year(self, written: str, build: Callable[[int], CalendarPeriod]) -> CalendarPeriod:
        """The one that is meant of periods of which a year has at most one; that of a year, if one is written."""
        years = pattern("A_YEAR").findall(written)
        reach = 8 if "29" in written else 1  # years to the next 29 February, around 1900
        found = []
        for year in [_year(years[-1])] if years else range(self.day.year - reach, self.day.year + reach + 1):
            with suppress(ValueError):
                found.append(build(year))
        return self.meant(found)


def _iso(written: str, _: _Seen | None = None) -> CalendarPeriod:
    if len(written) > len("2024-05-01"):
        return period_from(datetime.fromisoformat(written.upper()), Precision.TIME)
    parts = [int(part) for part in re.split("[-/.]", written)]
    return period_from(day_of(*parts), (Precision.YEAR, Precision.MONTH, Precision.DAY)[len(parts) - 1])


def _iso_pair(written: str, _: _Seen) -> CalendarPeriod:
    first, last = written.split("/")
    start, end = _iso(first), _iso(first[: -len(last)] + last)
    if end.start < start.start:
        raise ValueError(written)
    return CalendarPeriod(start.start, end.end, Precision.DAY)


def _iso_week(written: str, _: _Seen) -> CalendarPeriod:
    year, week = sorted((int(number) for number in re.findall(r"\d+", written)), reverse=True)
    return period_from(datetime.fromisocalendar(year, week, 1), Precision.WEEK)


def _numeric(written: str, _: _Seen) -> CalendarPeriod:
    """13.07.2024, 13/07/2024 and 07/13/2024: with dots the day comes first, with slashes only one order may be."""
    first, second, year = re.split("[/.]", written)
    day, month = int(first), int(second)
    if "/" in written and day != month and max(day, month) <= len(_MONTHS):
        raise ValueError(written)
    if "/" in written and month > len(_MONTHS):
        day, month = month, day
    return period_from(day_of(_year(year), month, day), Precision.DAY)


def _years(written: str, _: _Seen) -> CalendarPeriod:
    """The years 2011 to 2017 of "2011-17"."""
    first, last = re.findall(r"\d+", written)
    number = int(first[: -len(last)] + last) - int(first) + 1
    if number < 2:  # noqa: PLR2004 - it goes backwards
        raise ValueError(written)
    return period_from(day_of(int(first)), Precision.YEAR, number)


def _day(written: str, seen: _Seen) -> CalendarPeriod:
    """The days of "3-5 March", or the one of "5 May" or "May 5th, 2023"."""
    days, month = _days_in(written), _month_in(written)
    if days[0] > days[-1]:
        raise ValueError(written)
    number = days[-1] - days[0] + 1
    return seen.of_year(written, lambda year: period_from(day_of(year, month, days[0]), Precision.DAY, number))


def _part(written: str, seen: _Seen) -> CalendarPeriod:
    """A quarter or half of a year."""
    quarters = 1 if "q" in written else 2
    digit = re.search("(?<=[qh])[1-4]|^[1-4](?=[a-z])", written)
    number = int(digit[0]) if digit else {"fi": 1, "se": 2, "th": 3}.get(written[:2], 4)
    month = 3 * quarters * (min(number, 4 // quarters) - 1) + 1
    return seen.of_year(written, lambda year: period_from(day_of(year, month), Precision.QUARTER, quarters))


def _month(written: str, seen: _Seen) -> CalendarPeriod:
    return seen.of_year(written, lambda year: _month_of(written, year))


def _holiday(written: str, seen: _Seen) -> CalendarPeriod:
    """A holiday with a fixed date."""
    days = {"chr": "25 dec", "box": "26 dec", "new": "1 jan", "hal": "31 oct", "val": "14 feb", "may": "1 may"}
    eve = {"chr": "24 dec", "new": "31 dec"} if " eve" in written else {}
    years = pattern("A_YEAR").findall(written)
    return _day(" ".join([(days | eve)[written[:3]], *(str(_year(year)) for year in years)]), seen)


def _weekday(written: str, seen: _Seen) -> CalendarPeriod:
    shift = (_DAYS.index(written[:3]) - seen.day.weekday()) % 7
    return seen.meant([period_from(seen.day + timedelta(shift + each), Precision.DAY) for each in (-7, 0)])


def _nth(written: str, seen: _Seen) -> CalendarPeriod:
    """Such a day of a month."""
    found = []
    for step in range(-2, 3):
        with suppress(ValueError):
            day = later(seen.day.replace(day=1), Precision.MONTH, step).replace(day=int(written[:-2]))
            found.append(period_from(day, Precision.DAY))
    return seen.meant(found)


def _near(written: str, seen: _Seen) -> CalendarPeriod:
    days = -2 if "before" in written else {"yesterday": -1, "tomorrow": 1}.get(written, 0)
    return period_from(seen.day + timedelta(days), Precision.DAY)


def _rolling(written: str, seen: _Seen) -> CalendarPeriod:
    """The days of "last two weeks" up to this day, or of "next 3 days" after it."""
    which, *count, unit = written.split()
    tomorrow = seen.day + timedelta(1)
    ends = sorted((tomorrow, _shifted(tomorrow, unit, (_STEPS[which] or -1) * _count(count))))
    return CalendarPeriod(ends[0], ends[1], Precision.DAY)


def _counted(written: str, seen: _Seen) -> CalendarPeriod:
    """The day, week, month or year that begins at the day of "two weeks ago", "in two weeks" or "for two weeks"."""
    *count, unit = re.sub("^(?:in|for)(?: over| about| almost| nearly)? | ago$", "", written).split()
    day = _shifted(seen.day, unit, _count(count) * (1 if written.startswith("in ") else -1))
    return period_from(day, _unit(unit)[0])


def _which(written: str, seen: _Seen) -> CalendarPeriod:
    """Such as "last week", "this March", "next Friday", "the week before last"."""
    which, _, unit = written.partition(" ")
    step = _STEPS.get(which, -2)
    unit = written.split()[-3] if step < -1 else unit
    if unit == "night":
        return period_from(seen.day + timedelta(step), Precision.DAY)
    if unit == "weekend":
        return period_from(containing(seen.day, Precision.WEEK).start + timedelta(7 * step + 5), Precision.DAY, 2)
    if unit in tuple(Precision):
        start = containing(seen.day, Precision(unit)).start
        return containing(later(start, Precision(unit), step), Precision(unit))
    if unit.endswith("day"):
        days = _DAYS.index(unit[:3]) - seen.day.weekday()
        return period_from(seen.day + timedelta((days % 7 - 7, days, days % 7 or 7)[step + 1]), Precision.DAY)
    known = [_month_of(unit, year) for year in range(max(1, seen.day.year - 2), min(9999, seen.day.year + 3))]
    if step > 0:
        return next(each for each in known if each.start > seen.day)
    if step < 0:
        return [each for each in known if each.end and each.end <= seen.day][-1]
    around = (each for each in known if each.end and each.start <= seen.day < each.end)
    return next(around, None) or next(each for each in known if each.start.year == seen.day.year)


_READERS: Final[Mapping[str, Callable[[str, _Seen], CalendarPeriod]]] = {
    "iso": _iso, "iso_pair": _iso_pair, "iso_week": _iso_week, "numeric": _numeric, "years": _years, "day": _day,
    "part": _part, "month": _month, "holiday": _holiday, "weekday": _weekday, "nth": _nth, "near": _near,
    "rolling": _rolling, "which": _which, "ago": _counted, "ahead": _counted, "lasting": _counted,
    "numeric_month": lambda written, _: period_from(day_of(int(written[-4:]), int(written[:-5])), Precision.MONTH),
    "decade": lambda written, _: period_from(day_of(int(written[:4])), Precision.YEAR, 10),
    "century": lambda written, _: period_from(day_of(100 * int(written[:2].strip("snrt")) - 99), Precision.YEAR, 100),
    "current": lambda written, seen: containing(seen.day, Precision(written)),
    "year": lambda written, _: period_from(day_of(_year(written.lstrip("'’"))), Precision.YEAR),
}


def _year(written: str) -> int:
    """2024 of '24, and 1998 of '98."""
    year = int(written)
    return year if year > 99 else year + (2000 if year < 70 else 1900)  # noqa: PLR2004 - a year of two digits


def _days_in(written: str) -> list[int]:
    return [int(number) for number in re.findall(r"(?<![\d'’])\d{1,2}(?!\d)", written)]


def _month_in(written: str) -> int:
    return next(_MONTHS.index(word[:3]) for word in re.split(r"[\W\d]+", written) if word[:3] in _MONTHS) + 1


def _month_of(written: str, year: int) -> CalendarPeriod:
    """The month, or the season, that an expression starts with."""
    season = _SEASONS.get(re.split(r"\W", written)[0])
    if season:
        return period_from(day_of(year, season), Precision.QUARTER)
    return period_from(day_of(year, _month_in(written)), Precision.MONTH)


def _count(words: list[str]) -> int:
    """The number of "3", "three", "a couple of" or "a"; one if none is written."""
    word = "two" if "couple" in words else words[0] if words else "one"
    return int(word) if word.isdecimal() else _COUNTS.index(word) if word in _COUNTS else 1


def _unit(written: str) -> tuple[Precision, int]:
    unit = written.removesuffix("s")
    return (Precision.WEEK, 2) if unit == "fortnight" else (Precision(unit), 1)


def _shifted(day: datetime, unit: str, number: int) -> datetime:
    precision, size = _unit(unit)
    return later(day, precision, size * number)
