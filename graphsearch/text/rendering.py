"""Elements of a graph as safe lines of text: pure.

Text from the graph is data. Whoever stored a name may have meant it to be read as something else: as a heading, an
instruction, a line of its own. So what is rendered is one line, begins with "- ", shows every character it holds, and
has its arrow and its dash from here alone.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import Final

from graphsearch.model import Entity, Memory, Relation, Triplet

_UNNAMED: Final = "(unnamed)"

# Drawn as nothing although Unicode counts them as letters, marks or symbols; text can be hidden in them.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_DASHES = re.compile("-{2,}|[—―⸺⸻]")
_ANGLES: Final = str.maketrans("<>", "‹›")  # tags and arrows need the real ones
# What opens a heading, a list, a rule, a table or a block of code where a line or a list item begins.
_BLOCK_OPENING = re.compile(r"\A(?:[#*+=|~`-]+(?:\s+|$)|[`~]{3,}\s*)+")


# Plain ASCII of which nothing has to change: most names and facts, found in one look.
_PLAIN = re.compile(r"[^\x00-\x20\x7f-\U0010ffff#*+=|~`<>-][!-;=?-~]*(?: [!-;=?-~]+)*")


def safe_text(text: str) -> str:
    """A text on one line, without control, format, private or invisible characters, spaces folded.

    Angle brackets become ‹ and ›, and long dashes and runs of hyphens –, so that no arrow, dash or tag can be forged.
    Markdown that would open a block is taken from its beginning. Perhaps empty.
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
    """``- source --type--> target``, and where the relation has a fact, ``- source --type--> target — fact``."""
    fact = safe_text(triplet.relation.fact)
    line = short_triplet_line(triplet, dated=dated)
    return f"{line} — {fact}" if fact else line


def short_triplet_line(triplet: Triplet, *, dated: bool = False) -> str:
    """``- source --type--> target``; if ``dated`` with the period of the relation, where one is known."""
    line = f"- {entity_name(triplet.source)} --{safe_text(triplet.relation.type)}--> {entity_name(triplet.target)}"
    period = period_of(triplet.relation) if dated else ""
    return f"{line} ({period})" if period else line


def period_of(relation: Relation) -> str:
    """``2024-01-05 to 2025-07-01``, ``since 2024-01-05`` or ``until 2025-07-01``, in UTC; empty without either end."""
    start, end = (moment and day_of(moment) for moment in (relation.valid_from, relation.valid_to))
    if start and end:
        return f"{start} to {end}"
    return f"since {start}" if start else f"until {end}" if end else ""


def day_of(moment: datetime) -> str:
    """``2025-07-01``, in UTC."""
    return moment.astimezone(UTC).date().isoformat()


def memory_line(memory: Memory, *, until: datetime | None = None) -> str:
    """``- 2023-05-07 Caroline: text``, with the day in UTC if dated, and the speaker, else the subject, if any.

    ``- 2023-05-07 (until 2025-07-01) Caroline: text`` of one that does not hold any more. Empty for a memory without a
    text to show.
    """
    text = safe_text(memory.text)
    if not text:
        return ""
    day = f"{day_of(memory.occurred_at)} " if memory.occurred_at else ""
    day += f"(until {day_of(until)}) " if until else ""
    who = safe_text(memory.speaker) or safe_text(memory.subject)
    return f"- {day}{who}: {text}" if who else f"- {day}{text}"


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    return "" if unicodedata.category(character).startswith("C") else character
