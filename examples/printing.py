"""Printing for both acts of the demo."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from graphsearch.context import ContextBlock
from graphsearch.display.printing import hidden
from graphsearch.model import Principal


def title(text: str) -> None:
    """A heading."""
    print(f"\n{text}\n{'=' * len(text)}")


def progress(done: int, total: int, name: str) -> None:
    """Print a line that the next one overwrites, on a terminal only."""
    if sys.stderr.isatty():
        end = "\r" if done < total else "\r\033[K"
        print(f"\033[K  {done}/{total} {name[:60]}", end=end, file=sys.stderr, flush=True)


def counted(numbers: Mapping[str, int]) -> str:
    """Counts in a line, the largest first."""
    return ", ".join(f"{number} {name}" for name, number in sorted(numbers.items(), key=lambda item: -item[1]))


def cut(text: str, width: int) -> str:
    """A text on one line of a screen."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def show_block(principal: Principal, block: ContextBlock) -> None:
    """Print a block as its principal gets it, and its report to the caller."""
    denied = hidden(block.denied) or "nothing hidden"
    print(f"\nfor {principal.id}: {block.tokens} of {block.budget} tokens, {denied}")
    print("\n".join(f"  | {cut(line, 130)}" for line in block.text.splitlines()))
