"""The time that a question asks about: the present, unless it names a time or asks about the whole past."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import attrs

from graphsearch.query.periods import AskedPeriod, periods

BEGINNING: Final = timedelta(days=1)
"""The start of the whole past: shortly after the first moment of the calendar."""

_EVER: Final = re.compile(
    r"\b(?:ever|over (?:the years|time)|used to|so far|at any (?:time|point)|throughout|past and present|in the past"
    r"|previous(?:ly)?|former(?:ly)?|histor(?:y|ic|ical|ically)|all[- ]time|to date|until now|up to now"
    r"|over the course)\b",
    re.IGNORECASE,
)
# "where has Tom lived", "which houses have they worked for": the past until now; not "which plan has it", "has to"
_PERFECT: Final = re.compile(
    r"\b(?:has|have|['’]ve)(?!\s+to\b)(?:\s+[^\s?]+){0,5}?\s+"
    r"(?:\w{2,}ed|been|become|begun|built|chosen|come|done|fallen|given|gone|grown|had|held|known|led|left|lost|made|met"
    r"|owned|paid|run|seen|sat|shown|spent|stood|taken|taught|told|won|worn|written)\b",
    re.IGNORECASE,
)
_PRESENT: Final = re.compile(
    r"\b(?:(?:right )?now|nowadays|current(?:ly)?|today(?:['’]s)?|tonight|these days|at the moment|at present|presently"
    r"|still|any ?more)\b",
    re.IGNORECASE,
)
_UNREAD: Final = "x"
_INSTANT: Final = timedelta(microseconds=1)


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


PRESENT: Final = AskedTime()


def asked_time(question: str, now: datetime, names: Iterable[tuple[int, int]] = ()) -> AskedTime:
    """The time that a question asks about, given the moment at which it is asked.

    A period asks for what held at any moment of it; several periods, for the one that spans them. "Ever" and the
    present perfect ask for everything until now, unless the question has "now" or "today". Characters [start, end) of
    ``names`` are not read as times: "Euro 2024".
    """
    for start, end in names:
        question = question[:start] + _UNREAD * (end - start) + question[end:]
    found = periods(question, now)
    spans = tuple((each.start, each.end) for each in found)
    if not all(map(_is_today, found)):
        first, last = _ends(found, now)
        written = ", ".join(each.written for each in found)
        return AskedTime(as_of=last, since=first, written=written, spans=spans)
    beginning = datetime.min.replace(tzinfo=now.tzinfo) + BEGINNING
    ever = tuple(_EVER.finditer(question))
    within = [each.span() for each in ever]  # "until now" asks for the past
    present = [each.span() for each in _PRESENT.finditer(question)]
    if apart := tuple(each for each in present if not any(start < each[1] <= end for start, end in within)):
        return AskedTime(spans=apart)
    if ever:
        return AskedTime(since=beginning, written=ever[0][0], spans=tuple(within))
    if perfect := _PERFECT.search(question):
        return AskedTime(since=beginning, written=perfect[0])
    return PRESENT


def _is_today(period: AskedPeriod) -> bool:
    """Whether a period is "today" or "tonight", with no word that opens a side of it: the present."""
    opened = period.valid_from is None or period.valid_to is None
    return not opened and _PRESENT.fullmatch(period.written) is not None


def _ends(found: tuple[AskedPeriod, ...], now: datetime) -> tuple[datetime | None, datetime]:
    """The first and the last moment of all periods; None if they are one moment."""
    opened = any(each.valid_from is None for each in found)
    earliest = min((each.valid_from for each in found if each.valid_from), default=None)
    first = datetime.min.replace(tzinfo=now.tzinfo) + BEGINNING if opened else earliest
    closing = [each.valid_to - _INSTANT for each in found if each.valid_to]
    last = max(closing) if len(closing) == len(found) else max([now, *closing])
    # What has not ended yet is asked for as far as it is known: until now.
    if first is not None and first <= now < last:
        last = now
    return (None if first is None or first >= last else first), last
