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
from graphsearch.llms.structured import ask_for_data, ask_with_repair, object_in
from graphsearch.protocols import LLM

Answers = Mapping[int, Sequence[Mapping[str, Any]]]
"""What an answer holds of each passage, by its number."""


async def answers_about(
    some: Sequence[Passage], llm: LLM, *, entity_types: Sequence[str], relation_types: Sequence[str]
) -> Answers:
    """What the model says of some passages, by number from 1: of one of them at least.

    Raises what the model raises, and `LLMAnswerError` for an answer that is broken and stays so.
    """
    asked = question(some, entity_types=entity_types, relation_types=relation_types)
    return await ask_with_repair(_Lenient(llm), asked, SCHEMA, lambda data: _answers(data, len(some)))


@attrs.frozen
class _Lenient:
    """A model whose answer in data is taken also where it does not keep the schema: one broken item harms no other."""

    llm: LLM

    async def ask(self, text: str) -> str:
        """As the model."""
        return await self.llm.ask(text)

    async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The object in the model's answer."""
        try:
            return await ask_for_data(self.llm, text, schema)
        except LLMAnswerError as error:
            with suppress(LLMAnswerError):
                return object_in(error.answer)
            raise


def _answers(data: Mapping[str, Any], count: int) -> Answers:
    answers = {number: parts for number, parts in numbered(data).items() if 1 <= number <= count}
    if not answers:
        raise LLMAnswerError("the model's answer", faults=["it says nothing of any passage"])
    return answers
