"""Widening: a search of which hidden elements were filtered out is repeated twice as wide, a few times."""

from __future__ import annotations

from typing import Final

ROUNDS: Final = 4
"""Most rounds of a search, each twice as wide, until enough of its hits are visible."""


def widest(limit: int) -> int:
    """The limit of the last round, each round being twice as wide as the one before."""
    return limit << (ROUNDS - 1)
