"""The extractor that prompts a language model, and checks every answer against the text."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import attrs

from graphsearch._support.concurrency import in_order
from graphsearch.errors import (
    ExtractionError,
    GraphSearchError,
    LLMAnswerError,
    LLMError,
    LLMRefusalError,
    LLMTruncatedError,
)
from graphsearch.ingest.extract.context import context_surfaces
from graphsearch.ingest.extract.llm.answer_items import numbered
from graphsearch.ingest.extract.llm.grounding import SUGGESTED, GroundedPassage, grounded
from graphsearch.ingest.extract.llm.prompt import SCHEMA, Passage, batches, line, passages, question
from graphsearch.llms.function import AskFunction, as_llm
from graphsearch.llms.structured import ask_for_data, ask_with_repair, object_in
from graphsearch.llms.usage import ByteCounter
from graphsearch.model import KNOWN_ENTITY_TYPES, Memory
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.protocols import LLM, TokenCounter
from graphsearch.text.dates import Dates, NaturalDates

NAME: Final = "llm/1"
ENTITY_TYPES: Final = tuple(each for each in KNOWN_ENTITY_TYPES if each not in ("date", "quantity"))

_PROMPT_ERRORS: Final = (LLMAnswerError, LLMTruncatedError, LLMRefusalError)
"""Failures caused by the prompt, which other memories may not cause."""

Outcome = GroundedPassage | GraphSearchError
"""The content of a passage, or why it could not be read."""


Answers = Mapping[int, Sequence[Mapping[str, Any]]]
"""The parts of an answer by the number of their passage."""


class LLMExtractor:
    """Extracts names and relations from text in any language with a language model.

    Only what the text proves is kept: a name must occur in the memory, or be its speaker or subject; a relation needs
    a verbatim quote that contains one of its ends. Everything else is listed in
    `ExtractedMemory.refused`. Dates are read from the quote by ``dates``, `NaturalDates` by default.

    A prompt has up to ``memories`` memories of at most ``tokens`` tokens in total by ``counter`` (`ByteCounter` by
    default); up to ``at_once`` prompts run concurrently. After an invalid answer the model is asked once to repair it.
    If that fails, or the answer is truncated or refused, the memories are split in half, down to one: that memory is
    `ExtractedMemory.unread`, with an `ExtractionError`. Any other failure, such as an exhausted budget, stops
    all prompts; the memories that are not read yet are unread with that error.

    ``entity_types`` are the types that entities may have, ``relation_types`` those that the model should prefer. The
    ``name`` defaults to "llm/1" and the name of the model; when it changes, known memories are read again.

    Raises `InvalidInputError` for numbers below 1, and `MissingExtraError` if neither the extra ``text`` is installed
    nor ``dates`` is given.
    """

    def __init__(
        self,
        llm: LLM | AskFunction,
        *,
        entity_types: Sequence[str] = ENTITY_TYPES,
        relation_types: Sequence[str] = SUGGESTED,
        memories: int = 10,
        tokens: int = 8_000,
        at_once: int = 4,
        counter: TokenCounter | None = None,
        dates: Dates | None = None,
        name: str = "",
    ) -> None:
        numbers = {"memories": memories, "tokens": tokens, "at_once": at_once}
        check.refuse(
            "extractor",
            check.texts("entity_types", entity_types),
            check.texts("relation_types", relation_types),
            *(check.number(field, value, 1) for field, value in numbers.items()),
        )
        self._llm = as_llm(llm)
        self._types = {"entity_types": tuple(entity_types), "relation_types": tuple(relation_types)}
        self._memories = memories
        self._tokens = tokens
        self._at_once = at_once
        self._counter = counter or ByteCounter()
        self._dates = NaturalDates() if dates is None else dates
        self._name = name or ":".join(filter(None, (NAME, str(getattr(llm, "name", "")))))

    @property
    def name(self) -> str:
        """The name of the extractor, by default with that of the model."""
        return self._name

    @property
    def batch(self) -> int:
        """The number of memories in all concurrent prompts."""
        return self._memories * self._at_once

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        """The content of each memory, in order."""
        prompts = batches(
            [passage for memory in memories for passage in passages(memory)],
            most=self._memories,
            tokens=self._tokens,
            count=lambda passage: self._counter.count(line(passage, self._memories)),
        )
        stop = _Stop()
        answers = await in_order(lambda some: self._outcomes(some, stop), prompts, limit=self._at_once)
        found: defaultdict[int, list[tuple[Passage, Outcome]]] = defaultdict(list)
        for passage, outcome in (each for answer in answers for each in answer):
            found[id(passage.memory)].append((passage, outcome))
        return [_extracted(memory, found[id(memory)]) for memory in memories]

    async def _outcomes(self, some: Sequence[Passage], stop: _Stop) -> list[tuple[Passage, Outcome]]:
        """An outcome for each passage, in any order."""
        if stop.why is not None:
            return [(passage, stop.why) for passage in some]
        try:
            answers = await _answers_about(some, self._llm, **self._types)
        except _PROMPT_ERRORS as error:
            if len(some) == 1:
                return [(some[0], _unreadable(error))]
            half = len(some) // 2
            return [*await self._outcomes(some[:half], stop), *await self._outcomes(some[half:], stop)]
        except Exception as error:  # noqa: BLE001 - any vendor's error; it is reported for all unread memories
            stop.why = _failure(error)
            return [(passage, stop.why) for passage in some]
        done = [(some[number - 1], await self._read(some[number - 1], answers[number])) for number in sorted(answers)]
        left = [passage for number, passage in enumerate(some, 1) if number not in answers]
        return [*done, *(await self._outcomes(left, stop) if left else ())]

    async def _read(self, passage: Passage, answer: Sequence[Mapping[str, Any]]) -> GroundedPassage:
        types = frozenset(self._types["entity_types"])
        return await asyncio.to_thread(grounded, passage, answer, types=types, dates=self._dates)


@attrs.define
class _Stop:
    """The error that stopped all prompts, if any."""

    why: GraphSearchError | None = None


def _unreadable(error: LLMError) -> ExtractionError:
    failed = ExtractionError(f"the language model could not read it: {error}")
    failed.__cause__ = error
    return failed


def _failure(error: Exception) -> GraphSearchError:
    if isinstance(error, GraphSearchError):
        return error
    failed = LLMError(f"the language model failed: {type(error).__name__}: {error}")
    failed.__cause__ = error
    return failed


def _extracted(memory: Memory, found: Sequence[tuple[Passage, Outcome]]) -> ExtractedMemory:
    """Merge the passages of a memory; one without passages has only its speaker and subject."""
    outcomes = [outcome for _, outcome in sorted(found, key=lambda each: each[0].span.start)]
    for outcome in outcomes:
        if isinstance(outcome, GraphSearchError):
            return ExtractedMemory(memory_id=memory.id, unread=outcome)
    parts = [outcome for outcome in outcomes if isinstance(outcome, GroundedPassage)]
    context = () if parts else context_surfaces(memory)
    return ExtractedMemory(
        memory_id=memory.id,
        surfaces=tuple(dict.fromkeys((*context, *(surface for part in parts for surface in part.surfaces)))),
        statements=tuple(dict.fromkeys(statement for part in parts for statement in part.statements)),
        refused=tuple(dict.fromkeys(f"{memory.id}: {why}" for part in parts for why in part.refused)),
    )


# -- prompting ----------------------------------------------------------------------------------------------------


async def _answers_about(
    some: Sequence[Passage], llm: LLM, *, entity_types: Sequence[str], relation_types: Sequence[str]
) -> Answers:
    """Prompt the model; the answer about each passage by number from 1, for at least one of them.

    Raises the errors of the model, and `LLMAnswerError` for an answer that is invalid even after a repair.
    """
    prompt = question(some, entity_types=entity_types, relation_types=relation_types)
    return await ask_with_repair(_Lenient(llm), prompt, SCHEMA, lambda data: _answers(data, len(some)))


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
