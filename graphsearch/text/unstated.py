"""Parts of a text that its author does not state: what is quoted, and what machines wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

Ranges = Sequence[tuple[int, int]]

_QUOTED: Final = re.compile(
    r"(?<![\w\d])\"(?=\S)[^\"\n]{1,1000}\"|“[^“”]{1,1000}”|«[^«»]{1,1000}»|„[^„“”]{1,1000}[“”]"
    r"|(?<!\w)[‘'](?=[^\s'‘’])[^'‘’\n\"]{1,300}(?:(?<=\w)['’](?=\w)[^'‘’\n\"]{1,300}){0,5}['’](?!\w)"
)
_LOG_LEVEL: Final = r"\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|CRITICAL|NOTICE)\]?(?=[\s:\d])"
_STAMP: Final = r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
_MACHINE: Final = re.compile(
    rf"^[ \t]*(?:>|{_LOG_LEVEL}|{_STAMP}[^\n]*? {_LOG_LEVEL}|Traceback \(most recent|File \"[^\"\n]+\", line \d"
    r"|at [\w.$<>]+\("
    r"|(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning)\b:|(?:\$|>>>|In \[\d+\]:) \S"
    r"|[{\[]? ?\"[\w -]{1,60}\" ?: ?[\"\d\[{tfn-]"
    r"|(?:diff --git|index [0-9a-f]{7}|@@ |[+-]{3} [ab]/))[^\n]*",
    re.MULTILINE,
)
_HINT: Final = re.compile(r"[\"“”«„‘’']")


def quotations(text: str) -> Ranges:
    """The ranges between quotation marks of two words or more, in order."""
    if not _HINT.search(text):
        return ()
    return [match.span() for match in _QUOTED.finditer(text) if " " in match[0].strip()]


def machine_lines(text: str) -> Ranges:
    """The lines of logs, traces, records, prompts and diffs, and those quoted from another message, in order."""
    return [match.span() for match in _MACHINE.finditer(text)]


_FENCE: Final = re.compile(r"^[ \t]{0,3}(```+|~~~+)[^\n]*(?:\n|\Z)", re.MULTILINE)
_INK: Final = re.compile(r"\S+")


def blank_code(text: str) -> str:
    """Put blanks in place of fenced code, so that the places of all else stay as they are."""
    pieces, at = [], 0
    for start, end in _fenced(text):
        pieces += [text[at:start], _INK.sub(lambda match: " " * len(match[0]), text[start:end])]
        at = end
    return "".join((*pieces, text[at:])) if at else text


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of fenced code; a fence that is not closed reaches to the end."""
    start, fence = 0, ""
    for match in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if not fence:
            start, fence = match.start(), match[1]
        elif match[1].startswith(fence):
            yield start, match.end()
            fence = ""
    if fence:
        yield start, len(text)


def is_within(ranges: Ranges, start: int, end: int) -> bool:
    """Whether [start, end) is inside one of the ranges."""
    return any(first <= start and end <= last for first, last in ranges)
