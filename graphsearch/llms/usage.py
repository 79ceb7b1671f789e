"""What answers took: tokens, and money by the prices that were handed in."""

from __future__ import annotations

from typing import Final, TypeGuard

import attrs

from graphsearch.model import validation as check

_MILLION: Final = 1_000_000
_MOST: Final = 10**12
"""No answer takes more tokens."""


@attrs.frozen(kw_only=True)
class Prices:
    """What a million tokens cost, in any one currency; ``cached`` is for input that the vendor had in its cache.

    Without ``cached`` it costs what other input costs. Raises `InvalidInputError` for a price below 0.
    """

    input: float
    output: float
    cached: float | None = None

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "prices",
            check.number("input", self.input, 0),
            check.number("output", self.output, 0),
            None if self.cached is None else check.number("cached", self.cached, 0),
        )

    def cost(self, tokens: Tokens) -> float:
        """What some tokens cost, in the currency of the prices."""
        cached = self.input if self.cached is None else self.cached
        fresh = tokens.input - tokens.cached
        return (fresh * self.input + tokens.cached * cached + tokens.output * self.output) / _MILLION


@attrs.frozen(kw_only=True)
class Tokens:
    """The counts that a vendor told with one answer; ``cached`` of the ``input`` came out of its cache."""

    input: int
    output: int
    cached: int = 0


@attrs.frozen(kw_only=True)
class Usage:
    """What one or more answers took.

    ``input_tokens`` count all input, ``cached_tokens`` the part of it that the vendor had in its cache. ``cost`` is in
    the currency of the prices, and None as soon as one answer had no price or told no counts. ``unreported`` answers
    told no counts: the tokens are then those of the others.
    """

    answers: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    unreported: int = 0
    cost: float | None = 0.0

    @classmethod
    def of(cls, tokens: Tokens | None, prices: Prices | None) -> Usage:
        """What one answer took; without counts, or without prices, its cost is not known."""
        if tokens is None:
            return cls(answers=1, unreported=1, cost=None)
        return cls(
            answers=1,
            input_tokens=tokens.input,
            cached_tokens=tokens.cached,
            output_tokens=tokens.output,
            cost=None if prices is None else prices.cost(tokens),
        )

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            answers=self.answers + other.answers,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            unreported=self.unreported + other.unreported,
            cost=None if self.cost is None or other.cost is None else self.cost + other.cost,
        )


def counts(input: object, output: object, cached: object = 0) -> Tokens | None:
    """Counts as a vendor told them; None unless all of them are whole numbers that can be counts."""
    if not (_is_count(input) and _is_count(output) and _is_count(cached)) or cached > input:
        return None
    return Tokens(input=input, output=output, cached=cached)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST
