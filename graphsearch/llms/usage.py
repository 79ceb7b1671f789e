"""Usage of language models: tokens, their cost by given prices, and meters that count the calls in a block of code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeGuard

import attrs

from graphsearch.model import validation as check

_MILLION: Final = 1_000_000
_MOST: Final = 10**12
"""Upper bound for plausible token counts."""


@attrs.frozen(kw_only=True)
class Prices:
    """Prices of a million tokens, in any one currency; ``cached`` is for input from the vendor's cache.

    ``cached`` defaults to the price of other input. Raises `InvalidInputError` for a price below 0.
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
        """The cost of some tokens, in the currency of the prices."""
        cached = self.input if self.cached is None else self.cached
        fresh = tokens.input - tokens.cached
        return (fresh * self.input + tokens.cached * cached + tokens.output * self.output) / _MILLION


@attrs.frozen(kw_only=True)
class Tokens:
    """The counts that a vendor reported with one answer; ``cached`` of the ``input`` came from its cache."""

    input: int
    output: int
    cached: int = 0


@attrs.frozen(kw_only=True)
class Usage:
    """The usage of one or more answers.

    ``input_tokens`` counts all input, ``cached_tokens`` the part of it from the vendor's cache. ``cost`` is in the
    currency of the prices, and None if any answer had no price or no counts. ``unreported`` is the number of answers
    without counts, which the tokens do not include.
    """

    answers: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    unreported: int = 0
    cost: float | None = 0.0

    @classmethod
    def of(cls, tokens: Tokens | None, prices: Prices | None) -> Usage:
        """The usage of one answer; without counts or prices its cost is unknown."""
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
        """The sum of both."""
        return Usage(
            answers=self.answers + other.answers,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            unreported=self.unreported + other.unreported,
            cost=None if self.cost is None or other.cost is None else self.cost + other.cost,
        )


def token_counts(input: object, output: object, cached: object = 0) -> Tokens | None:
    """The counts of a vendor; None unless all of them are plausible whole numbers."""
    if not (_is_count(input) and _is_count(output) and _is_count(cached)) or cached > input:
        return None
    return Tokens(input=input, output=output, cached=cached)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


@attrs.frozen
class Call:
    """One answer of a model, used or not, and its usage."""

    model: str
    usage: Usage


class Meter:
    """Counts calls."""

    def __init__(self) -> None:
        self._calls: list[Call] = []

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls so far, oldest first."""
        return tuple(self._calls)

    @property
    def total(self) -> Usage:
        """The usage of all calls."""
        return sum((call.usage for call in self._calls), Usage())

    def add(self, call: Call) -> None:
        """Count a call."""
        self._calls.append(call)


_RUNNING: ContextVar[tuple[Meter, ...]] = ContextVar("running meters", default=())


@contextmanager
def metered() -> Iterator[Meter]:
    """Count every call in the block, also by tasks started in it. Can be nested: the outer meter counts all."""
    meter = Meter()
    token = _RUNNING.set((*_RUNNING.get(), meter))
    try:
        yield meter
    finally:
        _RUNNING.reset(token)


def record(call: Call) -> None:
    """Report a call to the running meters; for custom language models, since the adapters here call it themselves."""
    for meter in _RUNNING.get():
        meter.add(call)
