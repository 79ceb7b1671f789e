"""Usage of language models: tokens, their cost by prices, meters that count calls, and budgets that limit them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeGuard, TypeVar

import attrs

from graphsearch.errors import BudgetExhaustedError
from graphsearch.llms.function import AskFunction, as_llm
from graphsearch.llms.structured import ask_for_data
from graphsearch.model import validation as check
from graphsearch.protocols import LLM, TokenCounter

_MILLION: Final = 1_000_000
_MOST: Final = 10**12
"""Upper bound for plausible token counts."""


@attrs.frozen(kw_only=True)
@check.checked("prices", input=check.within(0), output=check.within(0), cached=check.within(0))
class Prices:
    """Prices of a million tokens, in any one currency; ``cached`` is for input from the vendor's cache.

    ``cached`` defaults to the price of other input. Raises `InvalidInputError` for a price below 0.
    """

    input: float
    output: float
    cached: float | None = None

    def cost(self, used: Usage) -> float:
        """The cost of the tokens that were used, in the currency of the prices."""
        cached = self.input if self.cached is None else self.cached
        fresh = used.input_tokens - used.cached_tokens
        return (fresh * self.input + used.cached_tokens * cached + used.output_tokens * self.output) / _MILLION


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

    def priced(self, prices: Prices | None) -> Usage:
        """The usage of one answer with its cost, which is unknown without counts or prices."""
        return attrs.evolve(self, cost=None if prices is None or self.unreported else prices.cost(self))

    def __add__(self, other: Usage) -> Usage:
        """The sum of both."""
        both = {name: (one, getattr(other, name)) for name, one in attrs.asdict(self).items()}
        sums: dict[str, Any] = {name: None if None in each else sum(each) for name, each in both.items()}
        return Usage(**sums)


def token_counts(input: object, output: object, cached: object = 0) -> Usage | None:
    """The counts of a vendor; None unless all of them are plausible whole numbers."""
    if not (is_count(input) and is_count(output) and is_count(cached)) or cached > input:
        return None
    return Usage(answers=1, input_tokens=input, cached_tokens=cached, output_tokens=output)


def is_count(value: object) -> TypeGuard[int]:
    """Whether a value can be a number of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


@attrs.frozen
class Call:
    """One answer of a model, used or not, and its usage."""

    model: str
    usage: Usage


@attrs.define(eq=False)
class Meter:
    """Counts calls, oldest first."""

    calls: list[Call] = attrs.field(factory=list, init=False)

    @property
    def total(self) -> Usage:
        """The usage of all calls."""
        return sum((call.usage for call in self.calls), Usage())


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
        meter.calls.append(call)


class ByteCounter:
    """Counts one token for each byte of UTF-8: an upper bound for every tokenizer that falls back to bytes.

    The tokenizers of well-known models do, and make about a quarter as many tokens of English text. Where the
    difference matters, pass a counter for the model, such as `graphsearch.context.TiktokenCounter`.
    """

    def count(self, text: str) -> int:
        """Number of bytes; a lone surrogate counts as the three bytes that it would take."""
        return len(text.encode(errors="surrogatepass"))


def fitting_lines(
    lines: Sequence[str],
    prompt: Callable[[Sequence[int]], str],
    schema: Mapping[str, Any],
    budget: int,
    counter: TokenCounter,
) -> list[int]:
    """The indexes of the lines that fit a prompt, in order; a line that does not fit is skipped.

    ``prompt`` makes the whole prompt with the lines at some indexes. ``budget`` is in tokens, for the prompt and the
    JSON ``schema`` of the answer. Raises `InvalidInputError` if the prompt does not fit without any line.
    """

    def whole(indexes: Sequence[int]) -> int:
        return counter.count(prompt(indexes)) + counter.count(json.dumps(schema))

    needed, kept = whole(()), list[int]()
    check.refuse(
        "question",
        None if needed <= budget else f"it needs {needed} of the {budget} tokens of a prompt: ask in fewer words",
    )
    for index, line in enumerate(lines):
        cost = counter.count(line + "\n")
        if needed + cost <= budget:
            kept.append(index)
            needed += cost
    while whole(kept) > budget:  # the tokens of the lines need not add up to those of the whole
        kept.pop()
    return kept


ANSWER_TOKENS: Final = 4_096
"""Default estimate of the tokens of an answer."""
_AROUND: Final = 32
"""Tokens that protocols add to a prompt: roles, separators, the name of the answer's format."""

Answer = TypeVar("Answer")


@attrs.define
class _Spending:
    """The tokens that a call counts as: what it reserved, until more is known."""

    tokens: int


@attrs.define(eq=False, kw_only=True)
@check.checked("budget", calls=check.within(0), tokens=check.within(0), answer_tokens=check.within(1))
class Budget:
    """A limit on ``calls`` and on ``tokens``, of prompts and answers together; None is no limit.

    Each call first reserves what it may need, the tokens of the prompt, by ``counter``, plus ``answer_tokens``, and
    releases what it did not need afterwards, so that concurrent calls never exceed the budget; a call waits while
    running ones may still release enough. The limit on tokens holds if no answer is longer than ``answer_tokens``: give
    the model the same ``max_tokens``.

    A call is one prompt; retries of an adapter after connection failures count once. A budget can be shared by several
    models in one event loop. ``spent_calls`` counts calls, ``spent_tokens`` the tokens of finished ones, as the
    models reported them, else as counted here. Raises `InvalidInputError` for limits below 0.
    """

    calls: int | None = None
    tokens: int | None = None
    answer_tokens: int = ANSWER_TOKENS
    counter: TokenCounter = attrs.field(factory=ByteCounter)
    spent_calls: int = attrs.field(default=0, init=False)
    spent_tokens: int = attrs.field(default=0, init=False)
    _reserved: int = attrs.field(default=0, init=False)
    _released: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)

    @asynccontextmanager
    async def call(self, prompt: str) -> AsyncIterator[_Spending]:
        """Reserve what a call may need; on exit what it is spending, as the caller has corrected it, counts as spent.

        Raises `BudgetExhaustedError` if less than that is left.
        """
        needed = self.counter.count(prompt) + _AROUND + self.answer_tokens
        while (
            self.tokens is not None and self.spent_tokens + self._reserved + needed > self.tokens and self._calls_left()
        ):
            if not self._reserved:
                raise BudgetExhaustedError(
                    f"of the budget of {self.tokens} tokens {self.spent_tokens} are spent, and a call may need {needed}"
                )
            await self._released.wait()
        if not self._calls_left():
            raise BudgetExhaustedError(f"the budget of {self.calls} calls of language models is spent")
        self.spent_calls += 1
        self._reserved += needed
        spending = _Spending(needed)
        try:
            yield spending
        finally:
            self._reserved -= needed
            self.spent_tokens += spending.tokens
            self._released.set()
            self._released = asyncio.Event()

    def _calls_left(self) -> bool:
        return self.calls is None or self.spent_calls < self.calls


class BudgetedLLM:
    """A language model that keeps to a budget, and answers with text and with data.

    Raises `BudgetExhaustedError`, before the request, if the budget does not allow a call, and what the model raises.
    The tokens of a call are those that the model reported to `metered`; without a report, prompt and answer are
    counted, and a failed call counts as all that it reserved.
    """

    def __init__(self, llm: LLM | AskFunction, budget: Budget) -> None:
        self._llm = as_llm(llm)
        self.name = str(getattr(self._llm, "name", ""))
        self.budget = budget

    async def ask(self, text: str) -> str:
        """The model's answer to a prompt."""
        return await self._within(text, lambda: self._llm.ask(text), str)

    async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The model's answer as data, by `graphsearch.llms.structured.ask_for_data`."""
        prompt = f"{text}\n{json.dumps(schema)}"
        return await self._within(prompt, lambda: ask_for_data(self._llm, text, schema), json.dumps)

    async def _within(
        self, prompt: str, ask: Callable[[], Awaitable[Answer]], written: Callable[[Answer], str]
    ) -> Answer:
        async with self.budget.call(prompt) as spending:
            answer = None
            with metered() as meter:
                try:
                    answer = await ask()
                    return answer
                finally:
                    total = meter.total
                    if total.answers and not total.unreported:
                        spending.tokens = total.input_tokens + total.output_tokens
                    elif answer is not None:
                        count = self.budget.counter.count
                        spending.tokens = count(prompt) + count(written(answer))
