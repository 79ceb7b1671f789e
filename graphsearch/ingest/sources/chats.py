"""Chats that are written as text, such as an export of WhatsApp, as the turns of transcripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from graphsearch.ingest.sources.exports import Turns

MIN_TURNS: Final = 3
"""Fewest turns of a chat."""
_DAY: Final = r"(\d{4})-(\d\d)-(\d\d)|(\d\d?)[/.](\d\d?)[/.](\d{4}|\d\d)"
_CLOCK: Final = r"(\d\d?):(\d\d)(?::(\d\d))?+(?:\s?+([AaPp])\.?[Mm]\.?)?+"
_STAMP: Final = re.compile(rf"\u200e?+\[?+(?:{_DAY}),?+[ T]++{_CLOCK}(?:\]|[ ]-)?+\s++")
_SAID: Final = re.compile(r"\u200e?+([^\s:][^:\n]{0,59}):[ \t]++(\S.*+)")
_NOON: Final = 12


def chat_turns(text: str) -> Turns:
    """The turns of a text that is a chat; none of any other text.

    A turn is a line "[12/10/2026, 09:15:22] Name: text" or "2026-10-12 09:15 Name: text", or in a text that does not
    begin with a time "Name: text"; lines below that are none go on with it. In a chat most lines are turns, and each
    speaker has two of them on average. Times are read as UTC. Of "4/5/2026" the order is the one in which every
    day of the text exists and none is before the one above it; where both orders do, the times are unknown.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    stamps = [_STAMP.match(line) for line in lines]
    is_timed = bool(lines and stamps[0])
    found: list[tuple[re.Match[str] | None, str, list[str]]] = []
    for line, stamp in zip(lines, stamps, strict=True):
        said = _SAID.fullmatch(line, stamp.end() if stamp else 0) if stamp or not is_timed else None
        if said:
            found.append((stamp, said[1], [said[2]]))
        elif not (found or is_timed):
            return []  # it begins with something else
        elif found and not stamp:  # with a time, but without a speaker, it is a notice of the program
            found[-1][2].append(line)
    speakers = {speaker for _, speaker, _ in found}
    if len(found) < max(MIN_TURNS, 2 * len(speakers)) or 2 * len(found) <= len(lines):
        return []
    moments = iter(_moments([stamp for stamp, *_ in found if stamp]))
    return [
        {"speaker": speaker, "content": "\n".join(said), "time": next(moments) if stamp else None}
        for stamp, speaker, said in found
    ]


def _moments(stamps: Sequence[re.Match[str]]) -> list[datetime | None]:
    """When each was, if only one order of day and month fits all."""
    fitting: list[list[datetime]] = []
    for day_first in (True, False):
        with suppress(ValueError):
            moments = [_moment(stamp, day_first=day_first) for stamp in stamps]
            if all(one <= other for one, other in pairwise(moments)) and moments not in fitting:
                fitting.append(moments)
    return [*fitting[0]] if len(fitting) == 1 else [None] * len(stamps)


def _moment(stamp: re.Match[str], *, day_first: bool) -> datetime:
    """The time of a stamp; `ValueError` if there is none."""
    year, month, day, one, other, late, hour, minute, second, half = stamp.groups()
    if late:
        year = late if len(late) > len("26") else f"20{late}"
        month, day = (other, one) if day_first else (one, other)
    hours = int(hour) % _NOON + _NOON * (half in "pP") if half else int(hour)
    return datetime(int(year), int(month), int(day), hours, int(minute), int(second or 0), tzinfo=UTC)
