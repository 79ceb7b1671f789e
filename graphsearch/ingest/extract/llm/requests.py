"""One question about some passages: asked, repaired once where its answer is broken, and sorted by passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import attrs

from graphsearch.errors import LLMAnswerError
from graphsearch.ingest.extract.llm.items import numbered
from graphsearch.ingest.extract.llm.passages import Passage
from graphsearch.ingest.extract.llm.prompt import SCHEMA, question
from graphsearch.llms.data import ask_for_data, object_in
from graphsearch.llms.repairing import ask_with_repair
from graphsearch.protocols import LLM

Answers = Mapping[int, Sequence[Mapping[str, Any]]]
"""The parts of an answer by the number of their passage."""


async def answers_about(
    some: Sequence[Passage], llm: LLM, *, entity_types: Sequence[str], relation_types: Sequence[str]
) -> Answers:
    """Prompt the model; the answer about each passage by number from 1, for at least one of them.

    Raises the errors of the model, and `LLMAnswerError` for an answer that is invalid even after a repair.
    """
    asked = question(some, entity_types=entity_types, relation_types=relation_types)
    return await ask_with_repair(_Lenient(llm), asked, SCHEMA, lambda data: _answers(data, len(some)))


@attrs.frozen
class _Lenient:
    """A model wrapper that accepts objects which violate the schema, as items are validated one by one."""

    llm: LLM

    async def ask(self, text: str) -> str:
        """Ask the model."""
        return await self.llm.ask(text)

    async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The object in the model's answer, valid or not."""
        try:
            return await ask_for_data(self.llm, text, schema)
        except LLMAnswerError as error:
            with suppress(LLMAnswerError):
                return object_in(error.answer)
            raise


def _answers(data: Mapping[str, Any], count: int) -> Answers:
    answers = {number: parts for number, parts in numbered(data).items() if 1 <= number <= count}
    if not answers:
        raise LLMAnswerError("the model's answer", faults=["it is about none of the passages"])
    return answers
