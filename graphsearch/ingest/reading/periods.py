"""The period of what a clause states: of its tense, the phase of its frame, and its date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from graphsearch.ingest.frames import Phase, words
from graphsearch.ingest.reading.clauses import Clause, Clauses
from graphsearch.ingest.reading.phrases import AUXILIARY, BE, BREAK, COMMA, JOINER, STOP, VERB, has_any
from graphsearch.text.dates import DateSpan, Role

Period = tuple[datetime | None, datetime | None, bool]
"""Start, end, and whether it is a change."""
_LONG_AGO: Final = timedelta(days=60)
_BEGINNINGS: Final = frozenset({"marry", "wed"})
"""Verbs of what holds whose past says when it began."""
_OVER: Final = frozenset({"longer", "anymore", "stopped"})
_NEAR: Final = 8
"""Units between a clause and a date behind it."""


def read_period(
    clause: Clause, phase: Phase, frame_type: str, sentence: Clauses, dates: Sequence[DateSpan], at: datetime | None
) -> Period | None:
    """Read start and end of what a clause states; None if it states nothing.

    What is over has an end: without a date and a time of the memory it states nothing.
    """
    date = find_date(clause, sentence, dates)
    start = date.valid_from if date else None
    tense = clause.tense
    changes = phase in ("opens", "closes")
    if date and start and at and not date.absolute and changes and tense in ("present", "progressive", "future"):
        start = start.replace(year=start.year + 1) if at - start > _LONG_AGO else start  # "takes over on 1 December"
    ahead = start is not None and (at is None or start > at)
    if clause.negated:
        over = not _OVER.isdisjoint(sentence.lows) or ("any" in sentence.lows and "more" in sentence.lows)
        end = start or at
        return (None, end, True) if phase == "holds" and over and end else None
    if tense == "future" or (tense == "progressive" and changes):
        if start is None or (tense == "future" and not ahead):
            return None
        phase = "opens" if phase == "holds" else phase
    if phase == "event":
        return (start or at, None, False) if tense in ("past", "perfect") else None
    if changes and tense == "present" and date is None and not has_any(sentence.lows, "recently"):
        return None  # "I move to Leeds in the summer"
    if phase == "opens" and date is None and tense != "present":
        behind = sentence.lows[clause.reach :]
        long_ago = has_any(behind, "earlier") or (frame_type == "lives_in" and not has_any(sentence.lows, "recently"))
        return (None, None, False) if long_ago else (at, None, True)
    if phase == "opens":
        return start or at, date.valid_to if date and date.role is Role.BETWEEN else None, True
    if phase == "closes":
        return (None, start or at, True) if start or at else None
    if phase == "done" or (clause.word in _BEGINNINGS and tense == "past"):
        return (None if ahead else start, None, False) if tense in ("past", "perfect") else None
    if date and date.role is Role.UNTIL:
        return None, start, False
    if date and date.role is Role.BETWEEN:
        return start, date.valid_to, False
    if tense == "past" and not (date and date.role is Role.SINCE):
        end = date.valid_to if date else at
        return (start, end, False) if end else None
    return start if date and (not ahead or date.role is Role.SINCE) else None, None, False


def find_date(clause: Clause, sentence: Clauses, dates: Sequence[DateSpan]) -> DateSpan | None:
    """Find the date of a clause: the next one after it in it, else one at the head of its sentence or just before it."""
    if clause.word == "·":
        return None
    units = sentence.units
    place = units[clause.place].start
    for each in dates:
        if each.start < place or each.role is Role.BORN:
            continue
        between = [at for at in range(clause.reach, len(units)) if units[at].start < each.start]
        between = between[1 if clause.noun and between and units[between[0]].bits & BE else 0 :]
        while between and units[between[-1]].low in words("since"):
            between.pop()
        parted = any(units[at].bits & (JOINER | STOP | BREAK) and units[at].low not in ("(", ":") for at in between)
        if not parted and len(between) <= _NEAR and not any(units[at].bits & (VERB | AUXILIARY) for at in between):
            return each
        break
    before = [each for each in dates if each.end <= place]
    if clause.noun or not before:
        return None
    date = before[-1]
    lead = [unit for unit in units[: clause.place] if unit.end <= date.start][:-1]  # without "from", "starting"
    while lead and not lead[-1].bits & (BREAK | JOINER):
        if lead[-1].bits & (VERB | AUXILIARY | COMMA):
            return None
        lead.pop()
    inside = [unit for unit in units[: clause.place] if unit.start >= date.end]
    return None if any(unit.bits & BREAK or unit.low in ("and", "but") for unit in inside) else date
