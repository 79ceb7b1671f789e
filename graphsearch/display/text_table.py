"""Answers as short tables of text, for `print`. Pure; whatever is stored comes through `safe_text`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from graphsearch.display.answers import hidden
from graphsearch.model import ElementKind
from graphsearch.text.rendering import safe_text

WIDTH: Final = 118
"""Characters of a row."""
_CELL: Final = 28
"""Characters of a cell at most; the last column has what is left of the width."""
_GAP: Final = "  "


def answer_text(
    query: str,
    summary: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    reason: str,
    denied: Mapping[ElementKind, int],
    text: str = "",
) -> str:
    """The question, one line about the answer, ``text`` in full, and what was found, or the reason why nothing was."""
    line = "; ".join(filter(None, (summary, hidden(denied))))
    return "\n".join(
        filter(None, (_cut(safe_text(query), WIDTH), line, text, safe_text(reason) or text_table(head, rows)))
    )


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Aligned columns of at most `WIDTH` characters, cells cut where they are longer; empty without rows."""
    lines = [head, *([safe_text(cell) for cell in row] for row in rows)]
    if len(lines) == 1:
        return ""
    widths = [min(_CELL, max(map(len, column))) for column in zip(*lines, strict=True)][:-1]
    widths.append(WIDTH - sum(widths) - len(_GAP) * len(widths))
    return "\n".join(
        _GAP.join(_cut(cell, width).ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _cut(cell: str, width: int) -> str:
    return cell if len(cell) <= width else f"{cell[: width - 1]}…"
