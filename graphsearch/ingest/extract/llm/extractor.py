"""The extractor that prompts a language model, and checks every answer against the text."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import attrs

from graphsearch._support.concurrency import in_order
from graphsearch._support.paging import batches
from graphsearch.errors import (
    ExtractionError,
    GraphSearchError,
    LLMAnswerError,
    LLMError,
    LLMRefusalError,
    LLMTruncatedError,
)
from graphsearch.ingest.extract.context import context_surfaces
from graphsearch.ingest.extract.llm.grounding import ground
from graphsearch.ingest.extract.llm.prompt import SCHEMA, Passage, line, passages, question
from graphsearch.llms.function import AskFunction, as_llm
from graphsearch.llms.structured import ask_for_data, ask_with_repair, object_in
from graphsearch.llms.usage import ByteCounter
from graphsearch.model import KNOWN_ENTITY_TYPES, Memory
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.protocols import LLM, TokenCounter

NAME: Final = "llm/1"
ENTITY_TYPES: Final = tuple(each for each in KNOWN_ENTITY_TYPES if each not in ("date", "quantity"))

SUGGESTED: Final = (
    *("reports_to", "works_at", "works_with", "member_of", "leads", "sponsors", "created", "uses", "depends_on"),
    *("lives_in", "located_in", "part_of", "has_status", "owns", "met_with"),
)
"""Relation types that a model should prefer."""

_PROMPT_ERRORS: Final = (LLMAnswerError, LLMTruncatedError, LLMRefusalError)
"""Failures caused by the prompt, which other memories may not cause."""

Outcome = tuple[Passage, ExtractedMemory]
Answers = Mapping[int, Sequence[Mapping[str, Any]]]
"""The parts of an answer by the number of their passage."""


class LLMExtractor:
    """Extracts names and relations from text in any language with a language model.

    Only what the text proves is kept: a name must occur in the memory, or be its speaker or subject; a relation needs
    a verbatim quote that contains one of its ends. Everything else is listed in
    `ExtractedMemory.refused`. Types of relations and dates in the quote are read as those of stated facts.

    A prompt has up to ``memories`` memories of at most ``tokens`` tokens in total by ``counter`` (`ByteCounter` by
    default); up to ``at_once`` prompts run concurrently. After an invalid answer the model is asked once to repair it.
    If that fails, or the answer is truncated or refused, the memories are split in half, down to one: that memory is
    `ExtractedMemory.unread`, with an `ExtractionError`. Any other failure, such as an exhausted budget, stops
    all prompts; the memories that are not read yet are unread with that error.

    ``entity_types`` are the types that entities may have, ``relation_types`` those that the model should prefer. The
    ``name`` defaults to "llm/1" and the name of the model; when it changes, known memories are read again.

    Raises `InvalidInputError` for numbers below 1.
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
            (passage for memory in memories for passage in passages(memory)),
            lambda passage: self._counter.count(line(passage, self._memories)),
            total=self._tokens,
            most=self._memories,
        )
        stop = list[GraphSearchError]()
        answers = await in_order(lambda some: self._outcomes(some, stop), prompts, limit=self._at_once)
        found: defaultdict[int, list[Outcome]] = defaultdict(list)
        for passage, outcome in (each for answer in answers for each in answer):
            found[id(passage.memory)].append((passage, outcome))
        return [_merged(memory, found[id(memory)]) for memory in memories]

    async def _outcomes(self, some: Sequence[Passage], stop: list[GraphSearchError]) -> list[Outcome]:
        """What each passage says, or why it was not read; in any order. ``stop`` has the error that stopped all."""
        if stop:
            return [_unread(passage, stop[0]) for passage in some]
        try:
            prompt = question(some, **self._types)
            answers = await ask_with_repair(_Lenient(self._llm), prompt, SCHEMA, lambda data: _answers(data, len(some)))
        except _PROMPT_ERRORS as error:
            if len(some) == 1:
                failed = ExtractionError(f"the language model could not read it: {error}")
                failed.__cause__ = error
                return [_unread(some[0], failed)]
            half = len(some) // 2
            return [*await self._outcomes(some[:half], stop), *await self._outcomes(some[half:], stop)]
        except GraphSearchError as error:
            stop.append(error)
            return await self._outcomes(some, stop)
        except Exception as error:  # noqa: BLE001 - any vendor's error; it is reported for all unread memories
            stop.append(LLMError(f"the language model failed: {type(error).__name__}: {error}"))
            stop[0].__cause__ = error
            return await self._outcomes(some, stop)
        types, own = (frozenset(self._types[each]) for each in ("entity_types", "relation_types"))
        done = [
            (some[at - 1], await asyncio.to_thread(ground, some[at - 1], answers[at], types=types, own=own))
            for at in sorted(answers)
        ]
        left = [passage for at, passage in enumerate(some, 1) if at not in answers]
        return [*done, *(await self._outcomes(left, stop) if left else ())]


def _unread(passage: Passage, why: GraphSearchError) -> Outcome:
    return passage, ExtractedMemory(memory_id=passage.memory.id, unread=why)


def _merged(memory: Memory, found: Sequence[Outcome]) -> ExtractedMemory:
    """Merge the passages of a memory; one without passages has only its speaker and subject."""
    parts = [part for _, part in sorted(found, key=lambda each: each[0].span.start)]
    unread = next((part for part in parts if part.unread is not None), None)
    if unread is not None:
        return unread
    context = () if parts else context_surfaces(memory)
    return ExtractedMemory(
        memory_id=memory.id,
        surfaces=tuple(dict.fromkeys((*context, *(surface for part in parts for surface in part.surfaces)))),
        statements=tuple(dict.fromkeys(statement for part in parts for statement in part.statements)),
        refused=tuple(dict.fromkeys(why for part in parts for why in part.refused)),
    )


# -- prompting ----------------------------------------------------------------------------------------------------


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
    """The answer about each of ``count`` passages. Raises `LLMAnswerError` if it is about none of them."""
    answers: defaultdict[int, list[Mapping[str, Any]]] = defaultdict(list)
    listed = data.get("passages")
    for part in listed if isinstance(listed, list) else ():
        if isinstance(part, Mapping) and isinstance(number := part.get("passage"), int) and 1 <= number <= count:
            answers[number].append(part)
    if not answers:
        raise LLMAnswerError("the model's answer", faults=["it is about none of the passages"])
    return answers
