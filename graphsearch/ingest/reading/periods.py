"""The period of what a clause states: of its tense, the phase of its frame, and its date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from graphsearch.claims.folding import EARLIEST
from graphsearch.ingest.frames.table import Frame, words
from graphsearch.ingest.reading.clauses import OVER, Clause, Clauses
from graphsearch.ingest.reading.phrases import (
    AUXILIARY,
    BE,
    BREAK,
    COMMA,
    JOINER,
    PREPOSITION,
    STOP,
    VERB,
    Unit,
    has_any,
)
from graphsearch.text.dates import DateSpan, Role

Period = tuple[datetime | None, datetime | None, bool]
"""Start, end, and whether it is a change. What began at a time that is not said starts at `EARLIEST`."""
_BEGINNINGS: Final = frozenset({"marry", "wed"})
"""Verbs of what holds whose past says when it began."""
_OVER: Final = OVER | {"anymore"}
_DONE: Final = frozenset({"past", "perfect"})
_STAYS: Final = frozenset({"lives_in", "works_at"})
"""What one may have done in several places, so that having done it does not say that one still does."""
_NEAR: Final = 8
"""Units between a clause and a date behind it."""
_FAR: Final = 30
"""Units between a clause and a date before it."""


def read_period(
    clause: Clause, frame: Frame, sentence: Clauses, dates: Sequence[DateSpan], at: datetime | None
) -> Period | None:
    """Read start and end of what a clause states; None if it states nothing.

    What is over has an end: without a date and a time of the memory it states nothing.
    """
    phase, tense = clause.turns or frame.phase, clause.tense
    changes = phase in ("opens", "closes")
    announced = changes and tense in ("present", "progressive")
    ahead = True if announced or tense == "future" else False if tense in _DONE else None
    date = find_date(clause, sentence, dates)
    date = date and date.towards(at, ahead)
    start = date.valid_from if date else None
    is_ahead = start is not None and (at is None or start > at)
    if clause.negated:
        over = not _OVER.isdisjoint(sentence.lows) or ("any" in sentence.lows and "more" in sentence.lows)
        end = start or at
        return (None, end, True) if phase == "holds" and over and end else None
    if tense == "future" or announced:  # "I move to Leeds in the summer"
        if not is_ahead and (tense == "future" or not (start or has_any(sentence.lows, "recently"))):
            return None
        phase = "opens" if phase == "holds" else phase
    if phase in ("event", "done"):
        day = start or at if phase == "event" else start if not is_ahead else None
        return (day, None, False) if tense in _DONE else None
    if phase == "opens":
        return _opened(clause, frame, sentence, date, at)
    if phase == "closes":
        return (None, start or at, True) if start or at else None
    return _held(clause, frame, sentence, date, at, is_ahead=is_ahead)


def read_status_period(clause: Clause, sentence: Clauses, dates: Sequence[DateSpan]) -> Period | None:
    """Read when a status holds; None for one that held for a while: "was postponed for a day"."""
    if clause.tense == "past" and sentence.low(clause.reach) == "for":
        return None
    date = find_date(clause, sentence, dates)
    if date is None or date.role is Role.UNTIL:
        return None, date.valid_from if date else None, False
    return date.valid_from, date.valid_to if date.role is Role.BETWEEN else None, False


def _opened(
    clause: Clause, frame: Frame, sentence: Clauses, date: DateSpan | None, at: datetime | None
) -> Period | None:
    after = sentence.lows[clause.reach :]
    if clause.tense in _DONE and has_any(after, "staying") and not (date and date.role is Role.BETWEEN):
        return None  # "joined in 1985 and stayed for twenty-five years"
    if date:
        return date.valid_from, date.valid_to if date.role is Role.BETWEEN else None, True
    if has_any(after, "earlier"):  # "moved to Leeds when I was nine"
        return EARLIEST, None, False
    if frame.type == "lives_in" and not has_any(sentence.lows, "recently"):
        return EARLIEST, None, False
    return at, None, True


def _held(
    clause: Clause, frame: Frame, sentence: Clauses, date: DateSpan | None, at: datetime | None, *, is_ahead: bool
) -> Period | None:
    past, start = clause.tense == "past", date.valid_from if date else None
    if not past and has_any(sentence.lows, "departed"):
        return None  # "Bo Lund, head of Acme, who died on Friday"
    if past and clause.word in _BEGINNINGS:
        return None if is_ahead else start, None, False
    if date and date.role is Role.UNTIL:
        return None, start, False
    if date and date.role is Role.BETWEEN:
        return start, date.valid_to, False
    since = date is not None and date.role is Role.SINCE
    always = date is None and _began_earlier(clause, sentence)
    if clause.tense == "perfect" and date is None and frame.type in _STAYS and not always:
        return None  # "I've lived in Leeds and York"
    if always and (not past or "since" in sentence.lows[clause.reach :]):
        return EARLIEST, None, False
    if past and not since:
        if date is None and has_any(sentence.lows[clause.reach : clause.reach + _NEAR], "endings"):
            return None  # "until the war"
        end = date.valid_to if date else at
        return (start, end, False) if end else None
    if is_ahead and not since and clause.tense != "progressive":
        return None, None, False
    return start or (EARLIEST if clause.tense == "perfect" else None), None, False


def _began_earlier(clause: Clause, sentence: Clauses) -> bool:
    """Whether a clause says that it holds for long: "all my life", "since I was nine", "still"."""
    near = sentence.lows[max(0, clause.place - _NEAR) : clause.reach + _NEAR]
    always = has_any(near, "always") or {"all", "life"} <= {*near}
    return always or "since" in sentence.lows[clause.reach : clause.reach + _FAR]


def find_date(clause: Clause, sentence: Clauses, dates: Sequence[DateSpan]) -> DateSpan | None:
    """Find the date of a clause: the next one behind it, else one at the head of its sentence or just before it."""
    if clause.word == "·" or not dates:
        return None
    place = sentence.units[clause.place].start
    after = next((each for each in dates if each.start >= place and each.role is not Role.BORN), None)
    if after and _is_reached(clause, sentence, after):
        return after
    before = next((each for each in reversed(dates) if each.end <= place and each.role is not Role.BORN), None)
    led = before and (clause.turns or not clause.noun) and _leads_to(clause, sentence, before)
    return before if led else None


def _is_reached(clause: Clause, sentence: Clauses, date: DateSpan) -> bool:
    """Whether nothing but the words of its own clause is before a date behind it."""
    units = sentence.units[clause.reach : clause.reach + _NEAR + _NEAR]
    between = [unit for unit in units if unit.start < date.start]
    if clause.noun and between and between[0].bits & BE:
        between = between[1:]
    while between and between[-1].low in words("since"):
        between.pop()
    parting = JOINER | STOP | BREAK | VERB | AUXILIARY
    return len(between) <= _NEAR and not any(
        each.bits & parting and each.low not in ("(", ":", "as") for each in between
    )


def _leads_to(clause: Clause, sentence: Clauses, date: DateSpan) -> bool:
    """Whether a date before a clause begins it: "in March Bo joined", "Bo last week joined", "in May and joined"."""
    units = sentence.units[max(0, clause.place - _FAR) : clause.place]
    inside = [unit for unit in units if unit.start >= date.end]
    if [unit.low for unit in inside if unit.low not in ("then", ",")] == ["and"]:
        return clause.tense == "past"
    lead = [unit for unit in units if unit.end <= date.start]
    while lead and (lead[-1].bits & PREPOSITION or lead[-1].low in words("since")):
        lead.pop()
    begins = bool(lead) and bool(lead[-1].bits & COMMA)  # "he left in May, after that he joined"
    while lead and not begins and not lead[-1].bits & (BREAK | JOINER):
        if lead.pop().bits & (VERB | AUXILIARY | COMMA):
            return False
    return not any(_parts(unit) for unit in inside)


def _parts(unit: Unit) -> bool:
    """Whether a unit begins another clause: "in 1946 Bo joined Acme, where he worked with"."""
    return bool(unit.bits & BREAK) or unit.low in ("and", "but", "where", "when", "who", "which")
