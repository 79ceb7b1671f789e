"""The periods that a question names, and the time that it asks about.

Periods are resolved relative to the moment of asking. A question asks about the present, unless it names a period or
asks about the whole past.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import MAXYEAR, MINYEAR, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.model import View
from graphsearch.text.calendar import containing
from graphsearch.text.dates import in_zone, midnight
from graphsearch.text.time_expressions import Dated, Expression, find_expressions, is_numbering, join_ranges, pattern


@attrs.frozen(kw_only=True)
class AskedPeriod:
    """A time in a question: its characters [start, end), and the period [valid_from, valid_to).

    An open end is None.
    """

    written: str
    start: int
    end: int
    valid_from: datetime | None
    valid_to: datetime | None

    @property
    def years(self) -> tuple[int | None, int | None]:
        """The first and the last year that it touches; an open end is None."""
        first = None if self.valid_from is None else self.valid_from.year
        if self.valid_to is None:
            return first, None
        at_new_year = self.valid_to == self.valid_to.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
        return first, max(self.valid_to.year - at_new_year, first or 0)


_FIRST_YEAR: Final = 1500
"""Smaller numbers are years only behind such words."""


def periods(question: str, as_of: datetime) -> tuple[AskedPeriod, ...]:
    """The times that a question names, in order, not overlapping, in the time zone of ``as_of``.

    * "2011-2017", "from March to May 2023", "between 2019 and 2021": from the first's start to the other's end.
    * "since 2020", "after May 2021", "before 2015", "until June": open on one side.
    * "last month", "two weeks ago", "yesterday": the whole calendar day, week (from Monday), month or year.
    * "the past three months": up to and including the day of asking.
    * "in March", "on Tuesday": the latest that has begun; "last March", "last spring": the latest that is over.

    Years at the ends of the calendar are no times.
    """
    today = midnight(as_of)
    dates = [
        Dated(each, containing(period.start, period.precision) if each.kind == "ago" else period)
        for each in find_expressions(question)
        if _is_time(question, each) and (period := each.period(today))
    ]
    asked = (_asked(question, first, last, as_of.tzinfo) for first, last in join_ranges(question, dates))
    return tuple(each for each in asked if _in_calendar(each.valid_from) and _in_calendar(each.valid_to))


def _is_time(question: str, each: Expression) -> bool:
    """Whether what is written like a time is one where it stands in a question."""
    match each.kind:
        case "year" if each.written.isdigit() and int(each.written) >= _FIRST_YEAR and not each.placed:
            return not is_numbering(question, each.start)
        case "part":
            return each.dated or (
                each.written[0] in "qh" and (each.lead not in ("", "the") or question[each.start] == "Q")
            )
        case "ahead" | "lasting" | "current":
            return False
    return each.fits() or (each.word == "for" and each.kind in ("month", "holiday", "year"))


def _in_calendar(moment: datetime | None) -> bool:
    """Whether a moment is one in any time zone, with others before it and after it."""
    return moment is None or MINYEAR < moment.year < MAXYEAR


def _asked(question: str, first: Dated, last: Dated | None, zone: tzinfo | None) -> AskedPeriod:
    start, end = first.expression.start, (last or first).expression.end
    valid_from: datetime | None = first.period.start
    valid_to = (last or first).period.end
    match "" if last or first.expression.is_range else first.expression.word:
        case "since" | "starting" | "from":
            valid_to = None
        case "after":
            valid_from, valid_to = valid_to, None
        case "before" | "prior to":
            valid_from, valid_to = None, valid_from
        case "until" | "till" | "through" | "up to" | "by":
            valid_from = None
    return AskedPeriod(
        written=question[start:end],
        start=start,
        end=end,
        valid_from=valid_from and in_zone(valid_from, zone),
        valid_to=valid_to and in_zone(valid_to, zone),
    )


class History(StrEnum):
    """How a question asks for what was."""

    NONE = ""
    ALL = "all"
    """For everything until now: "ever", the present perfect."""
    PAST = "past"
    """For what is over: "previous", "used to"."""
    BEFORE = "before"
    """For what came before something: "before Adyen", "predecessor"."""
    AFTER = "after"
    """For what came after something."""
    DONE = "done"
    """For what was done, whether it lasts or not: "who did Bob meet?"; in no order of time."""
    LIST = "list"
    """For all there are, now or ever: "all of her employers"."""


@attrs.frozen(kw_only=True)
class AskedTime:
    """The time that an answer is for: what held at ``as_of``, or with ``since`` at any moment from then on.

    ``written`` are the words that name it; if there are none, both moments are None: the present.
    """

    as_of: datetime | None = None
    since: datetime | None = None
    written: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    """The characters [start, end) of the question that name a time: they ask for no relation and name no entity."""
    history: History = History.NONE
    pivot: int | None = None
    """Where the name begins that `History.BEFORE` and `History.AFTER` refer to, if it stands behind that word."""

    def view(self, given: View) -> View:
        """A view of the same at the time that is asked about."""
        since = beginning(given.as_of) if self.history else self.since
        if self.as_of is None and since is None:
            return given
        return attrs.evolve(given, as_of=self.as_of or given.as_of, since=since or given.since)


PRESENT: Final = AskedTime()


def asked_time(
    question: str, now: datetime, names: Iterable[tuple[int, int]] = (), *, as_of: datetime | None = None
) -> AskedTime:
    """The time that a question asks about, given the moment at which it is asked.

    With a moment ``as_of`` that the caller asks for, only a history counts.

    A period asks for what held at any moment of it; several periods, for the one that spans them. "Ever" and the
    present perfect ask for everything until now, unless the question has "now" or "today". Characters [start, end) of
    ``names`` are not read as times: "Euro 2024".
    """
    time = _asked_time(question, now, names)
    return PRESENT if as_of is not None and not time.history else time


def _asked_time(question: str, now: datetime, names: Iterable[tuple[int, int]]) -> AskedTime:
    for start, end in names:
        question = question[:start] + "x" * (end - start) + question[end:]
    found = periods(question, now)
    spans = tuple((each.start, each.end) for each in found)
    if not all(map(_is_today, found)):
        first, last = _ends(found, now)
        written = ", ".join(each.written for each in found)
        return AskedTime(as_of=last, since=first, written=written, spans=spans)
    ever = tuple(pattern("EVER").finditer(question))
    within = [each.span() for each in ever]  # "until now" asks for the past
    present = [each.span() for each in pattern("NOW").finditer(question)]
    if apart := tuple(each for each in present if not any(start < each[1] <= end for start, end in within)):
        return AskedTime(spans=apart)
    if ever:
        return _history(question, ever, beginning(now))
    if perfect := pattern("HAS_DONE").search(question):
        return AskedTime(since=beginning(now), written=perfect[0], history=History.ALL)
    if did := pattern("DID").search(question):
        return AskedTime(since=beginning(now), written=did[0], history=History.DONE)
    return AskedTime(history=History.LIST) if pattern("ALL_OF").search(question) else PRESENT


def _history(question: str, ever: Sequence[re.Match[str]], since: datetime) -> AskedTime:
    """What history some words ask for, and where the name begins that it is seen from."""
    spans = tuple(each.span() for each in ever)
    asked = AskedTime(since=since, written=ever[0][0], spans=spans, history=History(ever[0].lastgroup or "all"))
    for each in ever:
        if each.lastgroup in ("before", "after"):
            small = each[0].casefold() in ("before", "prior to", "after")  # not "predecessor", "took over"
            name = pattern("ARTICLE").match(question, each.end()) if small else None
            kind = "past" if small and name is None else each.lastgroup
            return attrs.evolve(asked, history=History(kind), pivot=name.end() if name else None)
    return asked


def beginning(now: datetime) -> datetime:
    """The start of the whole past: a day after the first moment of the calendar."""
    return datetime.min.replace(tzinfo=now.tzinfo) + timedelta(days=1)


def _is_today(period: AskedPeriod) -> bool:
    """Whether a period is "today" or "tonight", with no word that opens a side of it: the present."""
    opened = period.valid_from is None or period.valid_to is None
    return not opened and pattern("NOW").fullmatch(period.written) is not None


def _ends(found: tuple[AskedPeriod, ...], now: datetime) -> tuple[datetime | None, datetime]:
    """The first and the last moment of all periods; None if they are one moment."""
    opened = any(each.valid_from is None for each in found)
    earliest = min((each.valid_from for each in found if each.valid_from), default=None)
    first = beginning(now) if opened else earliest
    closing = [each.valid_to - timedelta(microseconds=1) for each in found if each.valid_to]
    last = max(closing) if len(closing) == len(found) else max([now, *closing])
    # What has not ended yet is asked for as far as it is known: until now.
    if first is not None and first <= now < last:
        last = now
    return (None if first is None or first >= last else first), last
