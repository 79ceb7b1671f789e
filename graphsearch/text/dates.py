"""Dates in a text, resolved against the time of its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Final, Protocol

import attrs

from graphsearch.text.calendar import Precision
from graphsearch.text.time_expressions import Dated, Expression, find_expressions, join_ranges, lead_before, pattern


class Role(StrEnum):
    """The meaning that the words before a date give to it."""

    AT = "at"
    SINCE = "since"
    UNTIL = "until"
    BETWEEN = "between"
    BORN = "born"
    """The day of a birth or death, which bounds nothing else that a sentence states."""


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
    expressions: tuple[Expression, ...] = attrs.field(default=(), eq=False, repr=False)

    def towards(self, at: datetime | None, ahead: bool | None) -> DateSpan:
        """This date where its clause is ``ahead`` of a memory ``at`` a time, or past; as it is where that is unknown.

        Only a date without a year depends on it: ahead, "on 1 December" is the first one that is not over.
        """
        if at is None or ahead is None or self.absolute or not self.expressions:
            return self
        today = midnight(at)
        dates = [Dated(each, period) for each in self.expressions if (period := each.period(today, ahead))]
        last = dates[1] if len(dates) > 1 else None
        if len(dates) < len(self.expressions) or (last and last.first < dates[0].first):
            return self
        turned = _span((dates[0], last), self.role, at.tzinfo)
        return attrs.evolve(self, valid_from=turned.valid_from, valid_to=turned.valid_to)


class Dates(Protocol):
    """Finds dates in texts."""

    def find(self, text: str, at: datetime | None) -> Sequence[DateSpan]:
        """The dates in a sentence or text of a memory that occurred ``at`` a time, in order and without overlaps.

        They are in the time zone of ``at``. Without that time only absolute dates are found, in UTC.
        """
        ...


@attrs.frozen
class IsoDates:
    """Finds only ISO dates such as 2024-05-01 and 2024-05."""

    def find(self, text: str, at: datetime | None) -> Sequence[DateSpan]:
        """See `Dates`."""
        return _find(text, at, [each for each in find_expressions(text) if each.kind.startswith("iso")])


@attrs.frozen
class NaturalDates:
    """Finds English dates and ISO dates: "last Tuesday", "in March", "5 May 2023", "two weeks ago", "13.07.2024".

    A date without a year, or a weekday, is the latest one that is not after the memory's time; in a sentence about
    the future, the first one that is not over. "Last Tuesday" is the latest one before the memory's day, "next
    Friday" the first one after it. A week starts on Monday, and seasons are those of the northern hemisphere. Ambiguous
    dates ("12/05/2023") and vague ones ("a few days ago") are ignored.
    """

    def find(self, text: str, at: datetime | None) -> Sequence[DateSpan]:
        """See `Dates`."""
        return _find(text, at, find_expressions(text))


_NEAR: Final = 160
"""Characters around a date in which its sentence is looked for."""
_ROLES: Final[Mapping[str, Role]] = {
    **dict.fromkeys(("since", "as of", "as from", "effective", "starting", "beginning", "from"), Role.SINCE),
    **dict.fromkeys(("until", "till", "through", "up to", "before", "prior to"), Role.UNTIL),
}


def _find(text: str, at: datetime | None, written: Sequence[Expression]) -> Sequence[DateSpan]:
    pairs = join_ranges(text, _resolve(text, at, written)) if written else ()
    return [_span(pair, _role(text, *pair), at.tzinfo if at else UTC) for pair in pairs]


def _resolve(text: str, at: datetime | None, written: Sequence[Expression]) -> list[Dated]:
    today, last, ahead = midnight(at or datetime.min.replace(tzinfo=UTC)), 0, None
    found: list[Dated] = []
    for each in written:
        before = pattern("SENTENCE_END").split(text[max(0, each.start - _NEAR) : each.start])[-1]
        if (at is None and not each.absolute) or not _is_time(each, text, before):
            continue
        joined = found and pattern("JOINT").fullmatch(text, last, each.start)
        if not joined:
            since_last = before[max(0, last - each.start + len(before)) :]
            ahead = None if each.absolute else _is_ahead(each, text, before, since_last)
        period = each.period(today, ahead)
        if joined and period and period.start.replace(tzinfo=None) < found[-1].first:
            period = each.period(today, ahead=True)  # a period ends after it starts
        if period and (ahead or each.kind != "ahead"):
            found.append(Dated(each, period))
        last = each.end
    return found


def _is_ahead(each: Expression, text: str, before: str, since_last: str) -> bool | None:
    """Whether a date is ahead by the words before it, those since the last date, and its clause; None if it may be."""
    after = text[each.end : each.end + _NEAR]
    clause_end = pattern("CLAUSE_END").search(after)
    clause = since_last + after[: clause_end.start() if clause_end else None]
    if pattern("FUTURE").search(clause):
        return True
    role = _ROLES.get(each.word)
    if role is Role.UNTIL and not pattern("PAST").search(before):
        return True
    if each.word == "since":
        return False
    return None if each.word == "by" or role is Role.SINCE or pattern("PRESENT").search(clause) else False


def _is_time(each: Expression, text: str, before: str) -> bool:
    """Whether what is written like a time is one where it stands in a text."""
    match each.kind:
        case "century" | "decade":
            return False
        case "lasting" | "rolling":
            lasts = each.kind == "lasting" or (each.lead.endswith("for the") and each.written[0] in "pl")
            return lasts and pattern("PERFECT").search(before) is not None
        case "current":
            return each.lead.endswith(" of the")
        case "which":
            return not each.written.startswith("previous")
        case "part":
            return each.dated or (each.placed and each.written[0] in "qh")
        case "weekday" if pattern("MOVES").search(before):
            return True
        case "year" if each.written[0].isdigit():
            bracketed = "(" in text[max(0, each.start - 8) : each.start] and ")" in text[each.end : each.end + 8]
            open_ended = pattern("STILL").match(text, each.end) or pattern("OPENED").search(before[-8:])
            return each.fits() or bracketed or open_ended is not None
    season = each.kind == "month" and not each.dated and pattern("SEASON").match(each.written)
    return each.fits() and not (season and not each.lead.endswith("the"))


def _role(text: str, first: Dated, last: Dated | None) -> Role:
    written = first.expression
    if pattern("BORN").search(text, max(0, written.start - _NEAR), written.start):
        return Role.BORN
    if last is not None or written.is_range:
        return Role.BETWEEN
    if written.kind in ("lasting", "rolling") or pattern("STILL").match(text, written.end):
        return Role.SINCE
    return _ROLES.get(written.word, Role.AT)


def _span(pair: tuple[Dated, Dated | None], role: Role, zone: tzinfo | None) -> DateSpan:
    first, last = pair
    written, period = first.expression, first.period
    start, end = period.start, period.end
    if last is not None:
        end = last.period.start
    elif written.is_range and end is not None:
        end = end - timedelta(days=1) if period.precision is Precision.DAY else end.replace(year=end.year - 1)
    elif "end of" in written.lead:
        start = period.last_day
    return DateSpan(
        start=written.start,
        end=(last or first).expression.end,
        valid_from=in_zone(start, zone),
        valid_to=end and in_zone(end, zone),
        precision=period.precision,
        role=role,
        absolute=written.absolute,
        expressions=(written, last.expression) if last else (written,),
    )


def midnight(at: datetime) -> datetime:
    """The start of a day, naive as the calendar is."""
    return at.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)


def in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    """A moment of the calendar in a zone; one with a zone is left as it is."""
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def repeated_dates(text: str, last: DateSpan) -> Sequence[DateSpan]:
    """References of a sentence to the last date before it: "from that day", "the same month"."""
    lowered, span = text.lower(), attrs.evolve(last, absolute=False)
    found = [(match, lead_before(lowered, match.start())[0]) for match in pattern("SAME").finditer(text)]
    return [
        attrs.evolve(span, start=match.start(), end=match.end(), role=_ROLES.get(word, Role.AT))
        for match, word in found
    ]
