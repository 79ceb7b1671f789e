"""Batches of numbered questions to a language model, each answered by a number."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from graphsearch._support.concurrency import in_order
from graphsearch.errors import BudgetExhaustedError
from graphsearch.llms.structured import ask_for_data
from graphsearch.protocols import LLM

QUESTIONS: Final = 8
"""Questions in one prompt."""
PROMPTS_AT_ONCE: Final = 4

Answer = int | Exception | None
"""The number that answers a question, None if the model gave none, or the exception if the request failed."""


async def ask_numbered(
    llm: LLM, task: str, questions: Sequence[Mapping[str, Any]], *, answered_by: str
) -> Sequence[Answer]:
    """The answers to questions, in their order; a question is a JSON-ready object of text that is safe to show.

    In each prompt ``{questions}`` in the task is replaced by up to `QUESTIONS` of them, one JSON object a line; the
    field ``answered_by`` of an answer is its number. A failed prompt affects only its own questions; a prompt that
    exceeds a budget is split in half, down to single questions.
    """
    prompts = [questions[start : start + QUESTIONS] for start in range(0, len(questions), QUESTIONS)]
    schema = _schema(answered_by)

    async def ask(some: Sequence[Mapping[str, Any]]) -> Sequence[Answer]:
        lines = (json.dumps({"question": at, **each}, ensure_ascii=False) for at, each in enumerate(some, 1))
        try:
            data = await ask_for_data(llm, task.format(questions="\n".join(lines)), schema)
        except BudgetExhaustedError as spent:
            half = len(some) // 2
            return [*await ask(some[:half]), *await ask(some[half:])] if half else [spent]
        except Exception as failure:  # noqa: BLE001 - any vendor's error; the caller reports it
            return [failure] * len(some)
        numbers = _numbers(data, answered_by)
        return [numbers.get(at) for at in range(1, len(some) + 1)]

    answers = await in_order(ask, prompts, limit=PROMPTS_AT_ONCE)
    return [each for some in answers for each in some]


def failure_text(failure: Exception) -> str:
    """The report of a failed request: type and message."""
    return f"{type(failure).__name__}: {failure}"


def _schema(answered_by: str) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": {
            "answers": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"question": {"type": "integer"}, answered_by: {"type": "integer"}},
                    "required": ["question", answered_by],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["answers"],
        "additionalProperties": False,
    }


def _numbers(data: Mapping[str, Any], answered_by: str) -> dict[int, int]:
    """The number that answers each question; the first if there are several."""
    numbers: dict[int, int] = {}
    listed = data.get("answers")
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, Mapping):
            asked, answer = each.get("question"), each.get(answered_by)
            if type(asked) is int and type(answer) is int:  # true is an int to Python
                numbers.setdefault(asked, answer)
    return numbers
