"""Token budgets, and choosing the lines that fit one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from graphsearch.context.novelty import ShownLines
from graphsearch.protocols import TokenCounter


class WorkType(StrEnum):
    """The type of work of a session."""

    BUG_FIX = "bug_fix"
    FEATURE = "feature"
    REFACTOR = "refactor"
    CHORE = "chore"
    UNKNOWN = "unknown"


DEFAULT_BUDGETS: Final[Mapping[WorkType, int]] = MappingProxyType(
    {
        WorkType.BUG_FIX: 750,
        WorkType.FEATURE: 400,
        WorkType.REFACTOR: 600,
        WorkType.CHORE: 0,
        WorkType.UNKNOWN: 500,
    }
)
"""Tokens by type of work; 0 turns the block off."""


def compose(heading: str, lines: Sequence[str]) -> str:
    """The text of a section; empty without lines."""
    return "\n".join((heading, *lines)) if lines else ""


def pack(
    lines: Sequence[str],
    budget: int,
    counter: TokenCounter,
    *,
    heading: str,
    order: Sequence[int] | None = None,
    kept: Sequence[int] = (),
    shown_text: str = "",
) -> tuple[int, ...]:
    """The indexes of the lines that fit under a heading, best first, or in the print ``order`` given.

    A line that does not fit, or that adds nothing to the lines before it and to the text ``shown_text``, is skipped and
    the next one tried; none is cut. The heading and the line breaks count. The lines ``kept`` are placed first. Lines
    are counted one by one, which need not add up to the whole: so the whole is counted in the end, and lines are
    dropped from the end until it fits.
    """
    chosen = list(kept)
    shown = ShownLines([*shown_text.splitlines(), *(lines[index] for index in kept)])
    spent = counter.count(heading + "\n") + sum(counter.count(lines[index] + "\n") for index in kept)
    for index, line in enumerate(lines):
        if index not in kept and spent + counter.count(line) <= budget and not shown.holds(line):
            chosen.append(index)
            shown.add(line)
            spent += counter.count(line + "\n")
    printed = _in_order(chosen, order)
    while chosen and counter.count(compose(heading, [lines[index] for index in printed])) > budget:
        chosen.pop()
        printed = _in_order(chosen, order)
    return tuple(printed)


def _in_order(chosen: Sequence[int], order: Sequence[int] | None) -> list[int]:
    return sorted(chosen) if order is None else [index for index in order if index in chosen]
