"""Rendering of graph elements as safe lines of text.

Text from the graph is untrusted: a stored name may imitate a heading, an instruction or another line. Each rendered
element is therefore one line that begins with "- " and has no invisible characters, and its arrow and dash cannot
come from stored text.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta
from typing import Final

from graphsearch.model import Entity, Memory, Relation, Triplet

OBSERVATIONS: Final = "## Relevant Past Observations"
TRIPLETS: Final = "## Knowledge Graph Triplets"
NEWEST_FIRST: Final = f"{OBSERVATIONS} (newest first)"
IN_DOUBT: Final = f"{OBSERVATIONS} (no clear answer was found)"
HEADINGS: Final = (OBSERVATIONS, NEWEST_FIRST, IN_DOUBT, TRIPLETS)
"""The headings of the sections of a context block."""

_UNNAMED: Final = "(unnamed)"

# Invisible although Unicode counts them as letters, marks or symbols; text can be hidden in them.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_DASHES = re.compile("-{2,}|[—―⸺⸻]")
_ANGLES: Final = str.maketrans("<>", "‹›")  # tags and arrows need the real ones
# Markdown that opens a heading, list, rule, table or code block at the beginning of a line or list item.
_BLOCK_OPENING = re.compile(r"\A(?:[#*+=|~`-]+(?:\s+|$)|[`~]{3,}\s*)+")

_BRACKETS: Final = re.compile(r"[()]")


# ASCII text that needs no change: most names and facts.
_PLAIN = re.compile(r"[^\x00-\x20\x7f-\U0010ffff#*+=|~`<>-][!-;=?-~]*(?: [!-;=?-~]+)*")


def safe_text(text: str) -> str:
    """A text on one line, without control, format, private or invisible characters, whitespace collapsed.

    Angle brackets become ‹ and ›, and long dashes and runs of hyphens –, so that no arrow, dash or tag can be forged.
    Markdown that would open a block is removed from the beginning. The result may be empty.
    """
    if _PLAIN.fullmatch(text) and "--" not in text:
        return text
    if not text.isprintable():
        text = "".join(map(_shown, text))
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    shown = " ".join(text.split()).translate(_ANGLES)
    return _BLOCK_OPENING.sub("", _DASHES.sub("–", shown))


def entity_name(entity: Entity) -> str:
    """An entity's name as `safe_text`, never empty."""
    return safe_text(entity.name) or _UNNAMED


def triplet_line(triplet: Triplet, *, dated: bool = False) -> str:
    """``- source --type--> target``, or ``- source --type--> target — fact`` if the relation has a fact."""
    return with_fact(short_triplet_line(triplet, dated=dated), safe_text(triplet.relation.fact))


def with_fact(line: str, fact: str) -> str:
    """The line of a relation with its fact, if it has one; both are safe."""
    return f"{line} — {fact}" if fact else line


def short_triplet_line(triplet: Triplet, *, dated: bool = False) -> str:
    """``- source --type--> target``; if ``dated``, followed by the period of the relation, if known."""
    return _arrow(triplet.source, triplet.relation, triplet.target, dated=dated)


def relation_line(source: Entity, relation: Relation, target: Entity) -> str:
    """The line of a relation between two entities, with its period and its fact, if known."""
    return with_fact(_arrow(source, relation, target, dated=True), safe_text(relation.fact))


def _arrow(source: Entity, relation: Relation, target: Entity, *, dated: bool) -> str:
    line = f"- {entity_name(source)} --{safe_text(relation.type)}--> {entity_name(target)}"
    period = period_of(relation) if dated else ""
    return f"{line} ({period})" if period else line


def period_of(relation: Relation) -> str:
    """``2024-01-05 to 2025-07-01``, ``since 2024-01-05`` or ``until 2025-07-01``; empty without either end.

    Days are those that were stated, in the zone in which they were.
    """
    stated = (relation.valid_from, relation.valid_to)
    start, end = (
        moment and (day_of(moment) if moment == relation.supported_at else stated_day(moment)) for moment in stated
    )
    if start and end:
        return f"{start} to {end}"
    return f"since {start}" if start else f"until {end}" if end else ""


def day_of(moment: datetime) -> str:
    """``2025-07-01``, in UTC."""
    return moment.astimezone(UTC).date().isoformat()


_HALF_A_DAY: Final = timedelta(hours=12)
_EASTERNMOST: Final = timedelta(hours=14)


def stated_day(moment: datetime) -> str:
    """The day that begins at a moment, in the zone where it does; else as `day_of`.

    A stated day is kept as the instant of its midnight, and stores keep no zone. 22:00 in UTC is midnight in UTC+2, of
    the next day. West of UTC, midnight has the same date in both. Noon is taken for what it is, 11:00 for UTC+13.
    """
    utc = moment.astimezone(UTC)
    to_midnight = timedelta(days=1) - (utc - utc.replace(hour=0, minute=0, second=0, microsecond=0))
    whole = not to_midnight % timedelta(minutes=15)
    east = whole and to_midnight < _EASTERNMOST and to_midnight != _HALF_A_DAY
    return day_of(utc + to_midnight if east and utc.date() < date.max else utc)


def memory_line(memory: Memory, *, until: datetime | None = None, now: str = "") -> str:
    """``- 2023-05-07 Caroline: text``, with the speaker's day if dated, and the speaker, else the subject, if any.

    With ``until``, for a memory that no longer holds: ``- 2023-05-07 (until 2025-07-01; now Adyen) Caroline: text``,
    with the name of what holds ``now``, if known. Empty for a memory without text.
    """
    text = safe_text(memory.text)
    if not text:
        return ""
    day = f"{memory.occurred_at.date().isoformat()} " if memory.occurred_at else ""
    then = f"; now {_BRACKETS.sub('', safe_text(now))}" if now else ""
    day += f"(until {stated_day(until)}{then}) " if until else ""
    who = safe_text(memory.speaker) or safe_text(memory.subject)
    return f"- {day}{who}: {text}" if who else f"- {day}{text}"


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    return "" if unicodedata.category(character).startswith("C") else character
