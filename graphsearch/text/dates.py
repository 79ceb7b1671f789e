"""Dates in a text, resolved against the time of its memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Final, Protocol

import attrs

from graphsearch._support.lazy import require
from graphsearch.text.calendar import HOLIDAYS, CalendarPeriod, Precision, iso_period, natural_period, nearest_period


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


_MONTH: Final = (
    r"(?:Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?|July?|Aug(?:ust|\.)?|Sep(?:t?\.?"
    r"|tember)|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)(?![\w-])"
)
_DAY: Final = r"(?:[Mm]on|[Tt]ues|[Ww]ednes|[Tt]hurs|[Ff]ri|[Ss]atur|[Ss]un)day"
_NUMBER: Final = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of)"
_UNIT: Final = r"(?:day|week|fortnight|month|year)s?"
_HOLIDAY: Final = (
    r"(?:Christmas(?: Day| Eve)?|Boxing Day|New Year(?:['’]s)?(?: Day| Eve)?|Halloween|Valentine['’]s Day|May Day)"
)
_ORDINAL: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:1\d{3}|20\d{2})"
_STILL: Final = r"(?: ?(?:present|now|today)\b|\s*(?:$|[,;.)]))"
"""What follows the dash of an open period, as in "2019-" and "2019-present"."""
_ISO: Final = re.compile(r"(?<![\w./-])(?:\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}\S*)?)?|\d{4}/\d{2}/\d{2})(?![\w/-])")
_NATURAL: Final = re.compile(
    rf"(?<![\w.])(?:(?P<iso>{_ISO.pattern})|(?P<holiday>{_HOLIDAY}(?: {_YEAR}\b)?)|(?P<full>{_ORDINAL}(?: of)? "
    rf"{_MONTH}(?:,? {_YEAR}\b)?|{_MONTH} "
    rf"{_ORDINAL}\b(?!,? ?\d{{1,2}}\b)(?:,? {_YEAR}\b)?|{_MONTH},? {_YEAR}\b|Q[1-4],? {_YEAR}\b)"
    "|(?P<relative>(?:[Tt]he )?[Dd]ay before yesterday|[Yy]esterday|[Tt]oday|[Tt]onight|[Tt]omorrow|[Ll]ast night"
    "|[Tt]his (?:morning|afternoon|evening)|(?:[Tt]he )?(?:week|month|year) before last"
    f"|(?:[Ll]ast|[Nn]ext|[Tt]his|[Pp]ast) (?:{_DAY}|{_MONTH}|week(?:end)?|month|quarter|year)|(?:{_NUMBER}|A|One"
    f"|Two|Three) {_UNIT} ago)|(?P<ahead>[Ii]n {_NUMBER} {_UNIT})"
    rf"|(?P<lasting>[Ff]or (?:over |about |almost |nearly |the (?:past|last) )?(?P<length>{_NUMBER} {_UNIT})(?! ago))"
    rf"|(?P<day>{_DAY})|(?P<month>{_MONTH})"
    r"|(?P<nth>\d{1,2}(?:st|nd|rd|th)(?=[.,;:!?)]|\s*$| (?:and|but|so|when|as|onwards?)\b))"
    r"|(?<= of the )(?P<current>week|month|quarter|year)"
    rf"|(?P<year>{_YEAR}(?!-(?!{_YEAR}\b|{_STILL})|[\w,.]{{0,20}}\d)))(?!\w)"
)
_KINDS: Final = (*("iso", "holiday", "full", "relative", "ahead", "lasting", "day", "month", "nth", "current", "year"),)
# "has lived in Leeds for two years": the years up to now
_PERFECT: Final = re.compile(r"(?:\b(?:has|have)|['’]ve|['’]s been) [^,;.!?]*$")
# Every natural date contains one of these, so most sentences need no full search.
_CLUE: Final = re.compile(
    r"\d{4}|ago\b|day\b|(?:[Ll]ast|[Nn]ext|[Tt]his|[Pp]ast|[Ii]n|\d) |tomorrow|[JFMASOND][a-z]{2}|night\b|\dth\b|1st"
    r"|2nd|3rd|(?:week|month|year)s?\b|Boxing|Christm|Hallow|Valent"
    r"|of the (?:week|month|quarter|year)|before last"
)
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
_COUNTED: Final = re.compile(
    " ?(?:%|(?:lines?|people|words|users|files|tests|items|rows|dollars|euros|pounds|hours|minutes|days|miles|km"
    r"|meters|metres|feet|employees|members|memories|students|copies|seats|points|votes|kg|MB|GB)\b)"
)
_FUTURE: Final = re.compile(
    r"\b(?:will|going to|plans? to|upcoming)\b|'ll\b|(?:\b(?:is|are|am)|['’](?:s|re|m)) (?:joining|leaving|moving"
    r"|starting|switching|migrating|relocating|taking over|retiring|becoming)\b"
)
# "He joins the team on 1 June" is ahead as often as it is past.
_PRESENT_EVENT: Final = re.compile(
    r"\b(?:joins|leaves|starts|begins|moves|returns|retires|arrives|quits|ends|opens|closes)\b"
)
_CLAUSE_END: Final = re.compile(r"[,;:]| (?:and|but|while|after|before|when|who|which)\b")
_RANGE_OPEN: Final = re.compile(rf"(?<!\d){_YEAR} ?[-–—] ?$")
_STILL_OPEN: Final = re.compile(rf" ?[-–—]{_STILL}", re.IGNORECASE)
_RANGE: Final = re.compile(r"\s?(?:to|until|till|through|and|[-–—])\s?")


@attrs.frozen
class IsoDates:
    """Finds only ISO dates such as 2024-05-01 and 2024-05; needs no extra."""

    def find(self, text: str, at: datetime | None) -> Sequence[DateSpan]:
        """See `Dates`."""
        zone = at.tzinfo if at else UTC
        found = ((match, iso_period(match[0])) for match in _ISO.finditer(text))
        return _ranged(text, (_dated(text, match, period, zone, absolute=True) for match, period in found if period))


@attrs.frozen
class NaturalDates:
    """Finds English dates and ISO dates: "last Tuesday", "in March", "5 May 2023", "two weeks ago".

    A date without a year, or a weekday, is the latest one that is not after the memory's time; in a sentence about
    the future, the first one that is not before it. "Last Tuesday" is the latest one before the memory's day, "next
    Friday" the first one after it. A week starts on Monday. Ambiguous dates ("12/05/2023") and vague ones ("a few days
    ago", "last summer") are ignored.

    Raises `MissingExtraError` when the package behind the extra ``text`` is not installed.
    """

    def __attrs_post_init__(self) -> None:
        require("dateparser", extra="text", purpose="NaturalDates")

    def find(self, text: str, at: datetime | None) -> Sequence[DateSpan]:
        """See `Dates`."""
        if not _CLUE.search(text):
            return ()
        return _ranged(text, _natural_dates(text, at))


def _natural_dates(text: str, at: datetime | None) -> Iterator[DateSpan]:
    """Natural dates in order; whether one is in the future depends on the words since the date before it."""
    start = 0
    for match in _NATURAL.finditer(text):
        clause = _CLAUSE_END.search(text, match.end())
        until = clause.start() if clause else len(text)
        near = _PRESENT_EVENT.search(text, start, match.start()) is not None
        dated = _natural(text, match, at, future=_FUTURE.search(text, start, until) is not None, near=near)
        if dated:
            yield dated
        start = match.end()


def _natural(text: str, match: re.Match[str], at: datetime | None, *, future: bool, near: bool) -> DateSpan | None:
    kind = next(name for name in _KINDS if match[name])
    written = match[0]
    zone = at.tzinfo if at else UTC
    before = _BEFORE.search(text, max(0, match.start() - 40), match.start())
    if kind == "iso":
        period = iso_period(written)
    elif kind == "year":
        if not (before or _placed(text, match)) or _COUNTED.match(text, match.end()):
            return None
        period = iso_period(written)
    elif (kind in ("day", "month", "nth", "holiday") and (at is None or not (before or _begins(text, match)))) or (
        kind == "current" and not _PART.search(text, 0, match.start())
    ):
        return None
    elif kind == "lasting":
        if at is None or not _PERFECT.search(text, max(0, match.start() - 80), match.start()):
            return None
        period = natural_period(f"{match['length']} ago", at, future=False)
    else:
        needs_time = kind != "full" or not re.search(_YEAR, written)
        if needs_time and (at is None or (kind == "ahead" and not future)):
            return None
        word = before["word"].casefold() if before else ""
        when = nearest_period if near or word in _NEAREST else natural_period
        ahead = future or (word in _UNTIL and not _PAST.search(text, 0, match.start()))
        period = when(HOLIDAYS.get(written.casefold().replace("’", "'"), written), at, future=ahead)
    if period is None:
        return None
    return _dated(text, match, period, zone, absolute=kind in ("iso", "year") or bool(re.search(_YEAR, written)))


def _begins(text: str, match: re.Match[str]) -> bool:
    """Whether a weekday directly follows a verb: "she starts Monday"."""
    return match.lastgroup == "day" and _STARTS.search(text, 0, match.start()) is not None


def _placed(text: str, match: re.Match[str]) -> bool:
    """Whether a year is in brackets, ends a range, or starts an open one."""
    if _STILL_OPEN.match(text, match.end()):
        return True
    before, after = text[max(0, match.start() - 8) : match.start()], text[match.end() : match.end() + 8]
    return ("(" in before and ")" in after) or _RANGE_OPEN.search(before) is not None


def _dated(text: str, match: re.Match[str], period: CalendarPeriod, zone: tzinfo | None, *, absolute: bool) -> DateSpan:
    first = period.start
    if period.end and _LAST_OF.search(text, max(0, match.start() - 12), match.start()):
        first = period.end - timedelta(days=1)
    return DateSpan(
        start=match.start(),
        end=match.end(),
        valid_from=_in_zone(first, zone),
        valid_to=period.end and _in_zone(period.end, zone),
        precision=period.precision,
        role=Role.SINCE
        if match.groupdict().get("lasting") or _STILL_OPEN.match(text, match.end())
        else role_before(text, match.start()),
        absolute=absolute,
    )


def _in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _ranged(text: str, found: Iterable[DateSpan]) -> Sequence[DateSpan]:
    """Merge two dates into one period if the first is its start and the second its end."""
    merged: list[DateSpan] = []
    for dated in found:
        first = merged[-1] if merged else None
        if first and first.role is not Role.BETWEEN and _spans(text, first, dated):
            start = _same_year(first, dated)
            if start < dated.valid_from:
                merged[-1] = attrs.evolve(
                    first, end=dated.end, valid_from=start, valid_to=dated.valid_from, role=Role.BETWEEN
                )
                continue
        merged.append(dated)
    return merged


def _spans(text: str, first: DateSpan, second: DateSpan) -> bool:
    """Whether the words between and before two dates make them the ends of one period."""
    joint = _RANGE.fullmatch(text, first.end, second.start)
    return joint is not None and ("and" not in joint[0] or text[: first.start].rstrip().endswith("between"))


def _same_year(first: DateSpan, second: DateSpan) -> datetime:
    """The start of "March" in "between March and May 2023"."""
    if first.absolute or not second.absolute:
        return first.valid_from
    return first.valid_from.replace(year=second.valid_from.year, day=min(first.valid_from.day, 28))


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
    before = _BEFORE.search(text, max(0, start - 40), start)
    word = before["word"].casefold() if before else ""
    return Role.SINCE if word in _SINCE else Role.UNTIL if word in _UNTIL else Role.AT


_SMALL_NAME: Final = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|christmas|new year)"
)
_SMALL: Final = re.compile(rf"\b{_SMALL_NAME}\b")
_SMALL_AFTER: Final = re.compile(rf"\b(in|on|last|next|since|until|from) ({_SMALL_NAME})\b")


def capitalised_dates(text: str) -> str:
    """Capitalise the months and weekdays of a lower-case text, else those after a preposition; places stay the same."""
    if text.islower():
        return _SMALL.sub(lambda match: match[0].title(), text)
    return _SMALL_AFTER.sub(lambda match: f"{match[1]} {match[2].title()}", text)
