"""Answers as short texts and tables, which `print` shows, and notebooks too. Pure.

Stored text passes through `safe_text`, so that none of it moves a cursor or hides what stands beside it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from graphsearch.model import ElementKind
from graphsearch.text.rendering import safe_text


class Displayed(ABC):
    """A value that `print` shows as text, and notebooks, by ``_repr_mimebundle_``, as that text or a fuller one."""

    __slots__ = ()

    @abstractmethod
    def __str__(self) -> str:
        """The value as it is printed; pure, and made when it is asked for."""

    def _notebook(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        return {"text/plain": self._notebook()}


def print_listing(
    question: str,
    *about: str,
    head: Sequence[str],
    rows: Iterable[tuple[float, Sequence[str]]],
    reason: str = "",
    above: Sequence[str] = (),
    below: Sequence[str] = (),
) -> str:
    """A question, a line about its answer, and a table of scores and cells, or the ``reason`` why there is none.

    ``above`` and ``below`` are lines around the table.
    """
    table = reason or text_table(("score", *head), ((f"{score:.4f}", *cells) for score, cells in rows))
    lines = (cut(safe_text(question), WIDTH), "; ".join(filter(None, about)), *above, table, *below)
    return "\n".join(filter(None, lines))


def hidden(denied: Mapping[ElementKind, int]) -> str:
    """``3 hidden by policy (2 entity, 1 relation)``, for the caller; empty where nothing was."""
    counts = ", ".join(f"{count} {kind.value}" for kind, count in denied.items() if count)
    return f"{sum(denied.values())} hidden by policy ({counts})" if counts else ""


WIDTH: Final = 118
"""Characters of a row."""
_CELL: Final = 28
"""Characters of a cell at most; the last column has what is left of the width."""
_GAP: Final = "  "


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Aligned columns of at most `WIDTH` characters, cells cut where they are longer; empty without rows."""
    lines = [head, *([safe_text(cell) for cell in row] for row in rows)]
    if len(lines) == 1:
        return ""
    widths = [min(_CELL, max(map(len, column))) for column in zip(*lines, strict=True)][:-1]
    widths.append(WIDTH - sum(widths) - len(_GAP) * len(widths))
    return "\n".join(
        _GAP.join(cut(cell, width).ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def cut(cell: str, width: int) -> str:
    """A text of at most ``width`` characters."""
    return cell if len(cell) <= width else f"{cell[: width - 1]}…"
