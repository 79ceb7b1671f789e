"""A plain async function as a language model."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import cast

import attrs

from graphsearch.errors import InvalidInputError, LLMError
from graphsearch.protocols import LLM

AskFunction = Callable[[str], Awaitable[str]]


@attrs.frozen
class FunctionLLM:
    """A language model that calls ``async def ask(text) -> str``."""

    function: AskFunction

    async def ask(self, text: str) -> str:
        """The answer of the function. Raises `LLMError` where that is no text, and what the function raises."""
        answer = self.function(text)
        found = await answer if inspect.isawaitable(answer) else None
        if not isinstance(found, str):
            raise LLMError("a language model must answer with text: write it as async def ask(text) -> str")
        return found


def as_llm(part: LLM | AskFunction) -> LLM:
    """A user's language model: anything with ``ask`` unchanged, a function wrapped in a `FunctionLLM`.

    Raises `InvalidInputError` for anything else.
    """
    if not isinstance(part, type):
        if hasattr(part, "ask"):
            return cast("LLM", part)
        if callable(part):
            return FunctionLLM(part)
    what = f"{part.__name__}, a class: pass {part.__name__}(…)" if isinstance(part, type) else type(part).__name__
    raise InvalidInputError("llm", [f"must have async ask(text) -> str, or be such a function, not {what}"])
