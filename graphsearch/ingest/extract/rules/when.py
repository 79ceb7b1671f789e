"""The period of a relation stated by a sentence, from the dates and tense of the sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from graphsearch.ingest.extract.rules.masked_sentence import DATE, FIRST_DATE, NAME
from graphsearch.ingest.extract.rules.patterns import Phase
from graphsearch.text.dates import DateSpan, Role

Interval = tuple[datetime | None, datetime | None]
"""Start and end of a period; None means open."""

EVENTS: Final = frozenset({Phase.OPENS, Phase.CLOSES})
_NAME: Final = re.compile(NAME)
_DATE: Final = re.compile(DATE)
_SUBJECT_CHANGE: Final = (
    rf",? (?:which|who|whom|whose|where) |,? (?:and|but|while|whereas|then) {NAME}(?:'s)? (?!at\b|in\b|on\b|for\b"
    rf"|since\b|from\b|with\b|to\b|until\b"
    r"|of\b)[a-z]|,? (?:and|but|while|whereas) (?:he|she|they|we|it)\b|\. "
)
_FAR: Final = 60
"""Maximum characters between a lasting relation and its date."""
_CLAUSES: Final = {True: re.compile(_SUBJECT_CHANGE), False: re.compile(f";|{_SUBJECT_CHANGE}")}
# "has run Saltroad for two years", and still does
_PERFECT: Final = re.compile(r"(?: (?:has|have)|'ve) ")
_LASTING: Final = re.compile(r" for (?:[a-z]+ |\d+ )?(?:years?|months?|weeks?|ages|decades?|ever)\b")
_WAS: Final = re.compile(r" (?:was|were) ")


def when(
    match: re.Match[str], phase: Phase, dates: Sequence[DateSpan], at: datetime | None
) -> tuple[Phase, Interval | None]:
    """The phase of a match and its period; None if it is at no known time.

    ``phase`` is that of the pattern; words such as "was", "will" and "no longer" change it. ``dates`` are those of the
    sentence, ``at`` is the time of its memory.
    """
    groups = match.groupdict()
    dated = _date_of(match, dates, event=phase in EVENTS)
    if groups.get("closed") and phase is not Phase.OPENS:
        phase = Phase.CLOSES
    elif phase is Phase.HOLDS and _WAS.search(match[0]):
        phase = Phase.ENDED
    elif phase is Phase.ENDED and _PERFECT.search(match[0]) and _LASTING.match(match.string, match.end()):
        phase = Phase.HOLDS
    if groups.get("future"):
        return _ahead(phase, dated, at)
    return phase, _PERIODS[phase](dated, at)


def _ahead(phase: Phase, dated: DateSpan | None, at: datetime | None) -> tuple[Phase, Interval | None]:
    """A relation in the future counts only with a future date."""
    start = dated.valid_from if dated and (at is None or (dated.valid_to or dated.valid_from) > at) else None
    if phase is Phase.CLOSES:
        return phase, (None, start) if start else None
    return Phase.OPENS, (start, None) if start else None


def _date_of(match: re.Match[str], dates: Sequence[DateSpan], *, event: bool) -> DateSpan | None:
    """The date of a match: one within it, else the next one after it in its clause, else one before it there.

    A date at the beginning of a sentence applies to all its clauses, and a date in a clause to all events with the
    same subject: "Ada left Acme last month and joined Globex".
    """
    if not dates:
        return None
    found = _DATE.search(match.string, match.start(), match.end()) or _behind(match, event) or _before(match, event)
    return dates[ord(found[0]) - FIRST_DATE] if found else None


def _behind(match: re.Match[str], event: bool) -> re.Match[str] | None:
    masked, end = match.string, match.end()
    date = _DATE.search(masked, end)
    if date is None or _CLAUSES[event].search(masked, end - 1, date.start()):  # "… and Bob" may open a clause
        return None
    # "Ada, the head of Acme, moved in May": the date is not that of the headship.
    far = date.start() - end > _FAR or "(" in masked[end : date.start()]
    noun = "noun" in match.groupdict() and "," in masked[end : date.start()]
    return date if event or not (far or noun) else None


def _before(match: re.Match[str], event: bool) -> re.Match[str] | None:
    masked, start = match.string, match.start()
    date = None
    for date in _DATE.finditer(masked, 0, start):  # noqa: B007 - the last one
        pass
    if date is None or not _NAME.search(masked, 0, date.start()):
        return date
    if masked[: date.start()].endswith(" of ") and ":" in masked[date.end() : start]:
        return None  # "my list of December: …" lists what holds now
    far = start - date.end() > _FAR or ")" in masked[date.end() : start]
    return None if _CLAUSES[event].search(masked, date.end(), match.end()) or (far and not event) else date


def _holds(dated: DateSpan | None, at: datetime | None) -> Interval:
    if dated is None:
        return None, None
    if dated.role is Role.BETWEEN:
        return dated.valid_from, dated.valid_to
    if dated.role is Role.UNTIL:
        return None, dated.valid_from
    # "Ada works with Bob on the launch next month" states no start.
    past = at is None or dated.valid_from <= at
    return (dated.valid_from, None) if past or dated.role is Role.SINCE else (None, None)


def _done(dated: DateSpan | None, at: datetime | None) -> Interval:
    if dated is None or dated.role is Role.UNTIL:
        return None, None
    return (dated.valid_from if at is None or dated.valid_from <= at else None), None


def _ended(dated: DateSpan | None, at: datetime | None) -> Interval:
    if dated is None:
        return None, at
    if dated.role is Role.SINCE:
        return dated.valid_from, None
    return _holds(dated, at) if dated.role is Role.UNTIL else (dated.valid_from, dated.valid_to)


def _opens(dated: DateSpan | None, at: datetime | None) -> Interval:
    if dated is None:
        return at, None
    return dated.valid_from, dated.valid_to if dated.role is Role.BETWEEN else None


def _closes(dated: DateSpan | None, at: datetime | None) -> Interval | None:
    end = dated.valid_from if dated else at
    return None if end is None else (None, end)


_PERIODS: Final = {
    Phase.HOLDS: _holds,
    Phase.DONE: _done,
    Phase.ENDED: _ended,
    Phase.OPENS: _opens,
    Phase.CLOSES: _closes,
}
