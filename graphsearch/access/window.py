"""How far a search goes on whose hits are partly hidden."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from graphsearch.model import Vector

ROUNDS: Final = 4
"""Most rounds of a search of which hidden hits are filtered out, each twice as wide, until enough are visible."""


def widest(limit: int) -> int:
    """The limit of the last round, each round being twice as wide as the one before."""
    return limit << (ROUNDS - 1)


Embed: TypeAlias = Callable[[Sequence[str]], Awaitable[Vector]]
"""Embeds texts as documents; one row of length 1 for each."""
