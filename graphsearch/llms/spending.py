"""What may be spent on language models, and a language model that keeps to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import attrs

from graphsearch.errors import BudgetExhaustedError
from graphsearch.llms.counting import ByteCounter
from graphsearch.llms.data import ask_for_data
from graphsearch.llms.metering import Meter, metered
from graphsearch.model import validation as check
from graphsearch.protocols import LLM, TokenCounter

ANSWER_TOKENS: Final = 4_096
"""What an answer is taken to need, unless told otherwise."""
_AROUND: Final = 32
"""Tokens that protocols add around a question: roles, separators, the name of the answer's format."""

Answer = TypeVar("Answer")


@attrs.define(eq=False)
class _Held:
    """What one call has taken out of a budget."""

    tokens: int


class Budget:
    """What may be spent: ``calls`` and ``tokens``, of questions and answers together; None is no limit.

    Each call takes out, before it is made, what it may need: the tokens of the question, by ``counter``, and
    ``answer_tokens``. It gives back what it did not need, so that calls at the same time never spend more than there
    is; one that has to wait for what others may give back waits. The limit of tokens holds if no answer is longer than
    ``answer_tokens``: give the model the same ``max_tokens``.

    A call is one question: what an adapter tries again for the sake of the connection counts once. May be shared by
    several models, in one event loop. Raises `InvalidInputError` for limits below 0.
    """

    def __init__(
        self,
        *,
        calls: int | None = None,
        tokens: int | None = None,
        answer_tokens: int = ANSWER_TOKENS,
        counter: TokenCounter | None = None,
    ) -> None:
        check.refuse(
            "budget",
            None if calls is None else check.number("calls", calls, 0),
            None if tokens is None else check.number("tokens", tokens, 0),
            check.number("answer_tokens", answer_tokens, 1),
        )
        self.calls = calls
        self.tokens = tokens
        self._answer_tokens = answer_tokens
        self._counter = counter or ByteCounter()
        self._asked = 0
        self._spent = 0
        self._held: list[_Held] = []
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def spent_calls(self) -> int:
        """Calls that were made."""
        return self._asked

    @property
    def spent_tokens(self) -> int:
        """Tokens of the calls that are over, as the models told them, else as they were counted here."""
        return self._spent

    def count(self, text: str) -> int:
        """Tokens of a text, by the budget's counter."""
        return self._counter.count(text)

    @asynccontextmanager
    async def call(self, question: str) -> AsyncIterator[_Held]:
        """Hold what a call may need, and take of it, at the end, what it is then said to have needed.

        Raises `BudgetExhaustedError` where that much is not left.
        """
        held = await self._hold(self.count(question) + _AROUND + self._answer_tokens)
        try:
            yield held
        finally:
            self._held.remove(held)
            self._spent += held.tokens
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                if not each.done():
                    each.set_result(None)

    async def _hold(self, tokens: int) -> _Held:
        while True:
            if self.calls is not None and self._asked >= self.calls:
                raise BudgetExhaustedError(f"the budget of {self.calls} calls of language models is spent")
            if self.tokens is None or self._spent + sum(each.tokens for each in self._held) + tokens <= self.tokens:
                break
            if not self._held:
                raise BudgetExhaustedError(
                    f"of the budget of {self.tokens} tokens {self._spent} are spent, and a call may need {tokens}"
                )
            freed = asyncio.get_running_loop().create_future()
            self._waiting.append(freed)
            await freed
        self._asked += 1
        held = _Held(tokens)
        self._held.append(held)
        return held


class BudgetedLLM:
    """A language model that keeps to a budget, and answers in text and in data.

    Raises `BudgetExhaustedError`, before anything is asked, where the budget does not allow a call, and what the model
    raises. What a call took is what the model told to `metered`; where it told nothing, the question and the answer
    are counted, and a call that failed is taken to have cost all that it might have.
    """

    def __init__(self, llm: LLM, budget: Budget) -> None:
        self._llm = llm
        self._budget = budget

    @property
    def name(self) -> str:
        """The model's, where it has one."""
        return str(getattr(self._llm, "name", ""))

    @property
    def budget(self) -> Budget:
        """What it keeps to."""
        return self._budget

    async def ask(self, text: str) -> str:
        """The model's answer to a prompt."""
        return await self._within(text, lambda: self._llm.ask(text), str)

    async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The model's answer as data, by `graphsearch.llms.ask_for_data`."""
        question = f"{text}\n{json.dumps(schema)}"
        return await self._within(question, lambda: ask_for_data(self._llm, text, schema), json.dumps)

    async def _within(
        self, question: str, ask: Callable[[], Awaitable[Answer]], written: Callable[[Answer], str]
    ) -> Answer:
        async with self._budget.call(question) as held:
            answer = None
            with metered() as meter:
                try:
                    answer = await ask()
                    return answer
                finally:
                    if (told := _told(meter)) is not None:
                        held.tokens = told
                    elif answer is not None:
                        held.tokens = self._budget.count(question) + self._budget.count(written(answer))


def _told(meter: Meter) -> int | None:
    """The tokens that a model told, None where it did not, or not of every answer."""
    total = meter.total
    return total.input_tokens + total.output_tokens if total.answers and not total.unreported else None
