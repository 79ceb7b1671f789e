"""Dates in a text, resolved against the time of its memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Final, Protocol

import attrs

from graphsearch.text.calendar import Precision
from graphsearch.text.time_expressions import Dated, Expression, Prefer, find_expressions, is_numbering, join_ranges


class Role(StrEnum):
    """The meaning that the words before a date give to it."""

    AT = "at"
    SINCE = "since"
    UNTIL = "until"
    BETWEEN = "between"


@attrs.frozen(kw_only=True)
class DateSpan:
    """A date in a text: characters [start, end), and the period [valid_from, valid_to) that it names.

    ``valid_to`` is None only if it would be beyond the year 9999. For `Role.BETWEEN` the period runs from the start of
    the first date to the start of the second. ``absolute``: its meaning does not depend on the time of the memory, as
    that of "yesterday" does.
    """

    start: int
    end: int
    valid_from: datetime
    valid_to: datetime | None
    precision: Precision
    role: Role = Role.AT
    absolute: bool = False


class Dates(Protocol):
    """Finds dates in sentences."""

    def find(self, text: str, at: datetime | None) -> Sequence[DateSpan]:
        """The dates in a sentence of a memory that occurred ``at`` a time, in order and without overlaps.

        They are in the time zone of ``at``. Without that time only absolute dates are found, in UTC.
        """
        ...


_STILL: Final = r"(?: ?(?:present|now|today)\b|\s*(?:$|[,;.)]))"
"""What follows the dash of an open period, as in "2019-" and "2019-present"."""
# "has lived in Leeds for two years": the years up to now
_PERFECT: Final = re.compile(r"(?:\b(?:has|have)|['’]ve|['’]s been) [^,;.!?]*$")
_BEFORE: Final = re.compile(
    r"\b(?P<word>in|on|at|of|since|from|until|till|through|to|by|before|after|during|between|and|around|about|as "
    "of|effective|starting|beginning|early|mid|late)(?: the)?(?: (?:about|around|early|mid|late|the|beginning"
    "|start|end|summer|spring|fall|winter|of)){0,4}[ -](?:in |on )?$",
    re.IGNORECASE,
)
_PART: Final = re.compile(r"\b(?:end|start|beginning|middle) of the $")
_LAST_OF: Final = re.compile(r"\bend of (?:the )?$", re.IGNORECASE)
_STARTS: Final = re.compile(r"\b(?:start|begin|leav|join|mov|arriv|finish)(?:e?s|ing|e)? $")
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|used to|led|ran|held|stood|kept|sat|(?<!is )(?<!are )(?<!am )(?<!'s )(?<!be )[a-z]{2,}ed)\b"
)
_NEAREST: Final = frozenset({"from", "as of", "effective", "starting", "beginning"})
"""Words before a date without a year that mean the nearest such date: beginnings are announced or recent."""
_SINCE: Final = frozenset({"since", "as of", "effective", "starting", "beginning", "from"})
_UNTIL: Final = frozenset({"until", "till", "through", "before"})
_FUTURE: Final = re.compile(
    r"\b(?:will|going to|plans? to|upcoming)\b|'ll\b|(?:\b(?:is|are|am)|['’](?:s|re|m)) (?:joining|leaving|moving"
    r"|starting|switching|migrating|relocating|taking over|retiring|becoming)\b"
)
# "He joins the team on 1 June" is ahead as often as it is past.
_PRESENT_EVENT: Final = re.compile(
    r"\b(?:joins|leaves|starts|begins|moves|returns|retires|arrives|quits|ends|opens|closes)\b"
)
_CLAUSE_END: Final = re.compile(r"[,;:]| (?:and|but|while|after|before|when|who|which)\b")
_RANGE_OPEN: Final = re.compile(r"(?<!\d)(?:1\d{3}|20\d{2}) ?[-–—] ?$")
_STILL_OPEN: Final = re.compile(rf" ?[-–—]{_STILL}", re.IGNORECASE)
_ISO: Final = frozenset({"iso", "iso_pair", "iso_week"})
_NEED_PLACE: Final = frozenset({"weekday", "month", "nth", "holiday", "short_year", "year"})
"""Kinds of expressions that are times in a text only behind a word such as "in"."""
_WORDS_TOO: Final = re.compile(r"\b(?:may|march|mar|sun|jan)\b")
"""Months that are other words, or names, in lower case."""
_PLACE_OF_WORDS: Final = re.compile(
    r"\b(?:in|on|since|until|till|from|during|before|after|by|early|mid|late|between|last|next|of)(?: the)?[ -]$",
    re.IGNORECASE,
)
_SEASON: Final = re.compile("spring|summer|autumn|fall|winter")
_FOR_THE: Final = re.compile(r"\bfor the $", re.IGNORECASE)


@attrs.frozen
class IsoDates:
    """Finds only ISO dates such as 2024-05-01 and 2024-05."""

    def find(self, text: str, at: datetime | None) -> Sequence[DateSpan]:
        """See `Dates`."""
        return _spans(text, at, [each for each in find_expressions(text) if each.kind in _ISO])


@attrs.frozen
class NaturalDates:
    """Finds English dates and ISO dates: "last Tuesday", "in March", "5 May 2023", "two weeks ago", "13.07.2024".

    A date without a year, or a weekday, is the latest one that is not after the memory's time; in a sentence about
    the future, the first one that is not before it. "Last Tuesday" is the latest one before the memory's day, "next
    Friday" the first one after it. A week starts on Monday. Ambiguous dates ("12/05/2023") and vague ones ("a few days
    ago", "last summer") are ignored.
    """

    def find(self, text: str, at: datetime | None) -> Sequence[DateSpan]:
        """See `Dates`."""
        return _spans(text, at, find_expressions(text))


def _spans(text: str, at: datetime | None, written: Iterable[Expression]) -> Sequence[DateSpan]:
    pairs = join_ranges(text, _read(text, at, written))
    return [_dated(text, first, last, at.tzinfo if at else UTC) for first, last in pairs]


def _read(text: str, at: datetime | None, written: Iterable[Expression]) -> Iterator[Dated]:
    """The dates of a text; whether one is in the future depends on the words since the date before it."""
    today = datetime(*(at.timetuple()[:3] if at else (2000, 1, 1)))  # noqa: DTZ001 - the zone is added last
    start = 0
    for each in written:
        if (at is None and not each.absolute) or not _is_time(text, each):
            continue
        clause = _CLAUSE_END.search(text, each.end)
        future = _FUTURE.search(text, start, clause.start() if clause else len(text)) is not None
        if each.kind == "ahead" and not future:
            continue
        word = _word_before(text, each.start)
        prefer: Prefer = "future" if future or _lies_ahead(text, each, word) else "past"
        if prefer == "past" and (word in _NEAREST or _PRESENT_EVENT.search(text, start, each.start)):
            prefer = "nearest"
        if period := each.period(today, prefer, counted_whole=False):
            yield Dated(each, period)
        start = each.end


def _is_time(text: str, each: Expression) -> bool:
    """Whether what is written like a time is one where it stands."""
    before = _BEFORE.search(text, max(0, each.start - 40), each.start)
    if each.kind in ("century", "decade") or _SEASON.search(each.written):
        return False
    if each.kind in ("lasting", "rolling"):
        lasts = each.kind == "lasting" or (_FOR_THE.search(text, 0, each.start) and each.written[0] in "pl")
        return bool(lasts and _PERFECT.search(text, max(0, each.start - 80), each.start))
    if each.kind == "current":
        return _PART.search(text, 0, each.start) is not None
    if each.kind == "which" and (each.written == "this may" or each.written.startswith("previous")):
        return text[each.start :].startswith(("This May", "this May"))
    if each.kind == "part" and not each.dated:
        return before is not None and each.written[0] in "qh"
    if each.kind == "numeric" and not each.dated and before is None:
        return False  # a version: 12.10.24
    if each.kind == "years":
        return not is_numbering(text, each.start)
    if not each.dated and _WORDS_TOO.search(text, each.start, each.end):
        return _PLACE_OF_WORDS.search(text, 0, each.start) is not None
    if each.kind not in _NEED_PLACE:
        return True
    return before is not None or _begins(text, each) or (each.kind == "year" and _placed(text, each))


def _lies_ahead(text: str, each: Expression, word: str) -> bool:
    return word in _UNTIL and not _PAST.search(text, 0, each.start)


def _begins(text: str, each: Expression) -> bool:
    """Whether a weekday directly follows a verb: "she starts Monday"."""
    return each.kind == "weekday" and _STARTS.search(text, 0, each.start) is not None


def _in_brackets(text: str, each: Expression) -> bool:
    return "(" in text[max(0, each.start - 8) : each.start] and ")" in text[each.end : each.end + 8]


def _placed(text: str, each: Expression) -> bool:
    """Whether a year is in brackets, ends a range, or starts an open one."""
    open_end = _STILL_OPEN.match(text, each.end) is not None
    return open_end or _in_brackets(text, each) or _RANGE_OPEN.search(text[: each.start][-8:]) is not None


def _dated(text: str, first: Dated, last: Dated | None, zone: tzinfo | None) -> DateSpan:
    written, period = first.expression, first.period
    start, end, role = period.start, period.end, role_before(text, written.start)
    if last is not None:
        end, role = last.period.start, Role.BETWEEN
    elif written.is_range and end is not None:
        end = end - timedelta(days=1) if period.precision is Precision.DAY else end.replace(year=end.year - 1)
        role = Role.BETWEEN
    elif written.kind in ("lasting", "rolling") or _STILL_OPEN.match(text, written.end):
        role = Role.SINCE
    elif end is not None and _LAST_OF.search(text, max(0, written.start - 12), written.start):
        start = end - timedelta(days=1)
    return DateSpan(
        start=written.start,
        end=(last or first).expression.end,
        valid_from=_in_zone(start, zone),
        valid_to=end and _in_zone(end, zone),
        precision=period.precision,
        role=role,
        absolute=written.absolute,
    )


def _in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


_SAME: Final = re.compile(r"\b(?:that|the) (?:very )?(?:same )?(?:day|date|week|month|year)\b", re.IGNORECASE)
_MEANT: Final = re.compile(r"that|same|very", re.IGNORECASE)


def repeated_dates(text: str, last: DateSpan) -> Sequence[DateSpan]:
    """References of a sentence to the last date before it: "from that day", "the same month"."""
    return [
        attrs.evolve(last, start=match.start(), end=match.end(), role=role_before(text, match.start()), absolute=False)
        for match in _SAME.finditer(text)
        if _MEANT.search(match[0])
    ]


def role_before(text: str, start: int) -> Role:
    """The role that the words before a date give to it."""
    word = _word_before(text, start)
    return Role.SINCE if word in _SINCE else Role.UNTIL if word in _UNTIL else Role.AT


def _word_before(text: str, start: int) -> str:
    before = _BEFORE.search(text, max(0, start - 40), start)
    return before["word"].casefold() if before else ""
