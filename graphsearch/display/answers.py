"""The parts that the pages of all answers share, and answers as short tables of text. Pure.

Text that is stored passes through `safe_text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from graphsearch.display.markup import Html, bar, element, quiet, table
from graphsearch.model import ElementKind, ScorePart, Triplet
from graphsearch.text.rendering import entity_name, safe_text


def answer(query: str, summary: str, found: Html, *, reason: str, denied: Mapping[ElementKind, int]) -> list[Html]:
    """The question, one line about the answer, and what was found, or the reason why nothing was."""
    line = "; ".join(filter(None, (summary, hidden(denied))))
    return [element("b", query), quiet(line), quiet(reason) if reason else found]


def triplet_table(found: tuple[Triplet, ...]) -> Html:
    """A table of triplets, best first, each score with its parts."""
    rows = (
        (
            bar(each.score, sum_of(each.parts)),
            entity_name(each.source),
            element("code", safe_text(each.relation.type)),
            entity_name(each.target),
            each.relation.fact,
        )
        for each in found
    )
    return table(["score", "source", "relation", "target", "fact"], rows)


def hidden(denied: Mapping[ElementKind, int]) -> str:
    """``hidden: 2 entity, 1 relation``; empty where nothing was."""
    counts = ", ".join(f"{count} {kind.value}" for kind, count in denied.items() if count)
    return f"hidden: {counts}" if counts else ""


def sum_of(parts: Iterable[ScorePart]) -> str:
    """``proximity 0.4000 + importance 0.1000 + feedback 0.0500``: what a score adds up from."""
    return " + ".join(f"{part.name} {part.contribution:.4f}" for part in parts)


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
