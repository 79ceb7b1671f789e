"""Parts of a text that its author does not state: what machines wrote, and code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

Ranges = Sequence[tuple[int, int]]

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
_FENCE: Final = re.compile(r"^[ \t]{0,3}(```+|~~~+)[^\n]*", re.MULTILINE)


def machine_lines(text: str) -> Ranges:
    """The lines of logs, traces, records, prompts and diffs, and those quoted from another message, in order."""
    return [match.span() for match in _MACHINE.finditer(text)]


def code_blocks(text: str) -> Ranges:
    """The ranges of fenced code, in order; a fence that is never closed reaches to the end."""
    if "```" not in text and "~~~" not in text:
        return ()
    found: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]):
            found.append((opened.start(), fence.end()))
            opened = None
    return found if opened is None else [*found, (opened.start(), len(text))]
