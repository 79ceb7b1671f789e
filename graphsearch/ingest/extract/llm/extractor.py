"""The extractor that asks a language model: several memories a question, and every answer held against the texts."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
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
from graphsearch.ingest.extract.llm.grounding import Read, read
from graphsearch.ingest.extract.llm.passages import Passage, batches, passages
from graphsearch.ingest.extract.llm.prompt import line
from graphsearch.ingest.extract.llm.relation_types import SUGGESTED
from graphsearch.ingest.extract.llm.requests import answers_about
from graphsearch.ingest.extract.rules.beside import surfaces_beside
from graphsearch.llms.prompt_fitting import ByteCounter
from graphsearch.model import KNOWN_ENTITY_TYPES, Memory
from graphsearch.model import validation as check
from graphsearch.model.extracted import Said
from graphsearch.protocols import LLM, TokenCounter
from graphsearch.text.dates import Dates, NaturalDates

NAME: Final = "llm/1"
ENTITY_TYPES: Final = tuple(each for each in KNOWN_ENTITY_TYPES if each not in ("date", "quantity"))

_OF_THESE: Final = (LLMAnswerError, LLMTruncatedError, LLMRefusalError)
"""Failures that lie with what was asked, and that other memories may not meet."""

Outcome = Read | GraphSearchError
"""What a passage says, or why it could not be read."""


class LLMExtractor:
    """Reads names and relations out of texts in any language, by asking a language model for data.

    What the model says counts as far as the text proves it: a name has to stand in the memory, or be its speaker or
    subject; a relation needs a quote that the text has word by word and that names one of its ends. All else is
    refused, and told in `Said.refused`. Dates are read out of the quote by ``dates``, `NaturalDates` unless given.

    Up to ``memories`` of them are asked about in one question, as long as they have at most ``tokens`` tokens by
    ``counter`` (`ByteCounter` unless given), and up to ``at_once`` questions at a time. A broken answer is shown to
    the model once, with what is wrong with it; then, and where it broke off or was declined, half as many are asked
    about, down to one: that memory is `Said.unread`, with an `ExtractionError`. Whatever else fails, a budget that is
    spent as well, leaves the memories that are not read yet unread with that failure; nothing more is asked then.

    ``entity_types`` are those that entities may have, ``relation_types`` those that the model is told to prefer. The
    ``name`` is "llm/1" and the model's unless given: where it changes, known memories are read again.

    Raises `InvalidInputError` for numbers below 1, and `MissingExtraError` without the extra ``text`` and ``dates``.
    """

    def __init__(
        self,
        llm: LLM,
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
        self._llm = llm
        self._types = {"entity_types": tuple(entity_types), "relation_types": tuple(relation_types)}
        self._memories = memories
        self._tokens = tokens
        self._at_once = at_once
        self._counter = counter or ByteCounter()
        self._dates = NaturalDates() if dates is None else dates
        self._name = name or ":".join(filter(None, (NAME, str(getattr(llm, "name", "")))))

    @property
    def name(self) -> str:
        """Its own, and that of the model."""
        return self._name

    @property
    def batch(self) -> int:
        """As many memories as are asked about at a time."""
        return self._memories * self._at_once

    async def extract(self, memories: Sequence[Memory]) -> Sequence[Said]:
        """What each memory says, in their order."""
        asked = batches(
            [passage for memory in memories for passage in passages(memory)],
            most=self._memories,
            tokens=self._tokens,
            count=lambda passage: self._counter.count(line(passage, self._memories)),
        )
        stop = _Stop()
        answers = await in_order(lambda some: self._outcomes(some, stop), asked, limit=self._at_once)
        found: defaultdict[int, list[tuple[Passage, Outcome]]] = defaultdict(list)
        for passage, outcome in (each for answer in answers for each in answer):
            found[id(passage.memory)].append((passage, outcome))
        return [_said(memory, found[id(memory)]) for memory in memories]

    async def _outcomes(self, some: Sequence[Passage], stop: _Stop) -> list[tuple[Passage, Outcome]]:
        """An outcome for each passage, in any order."""
        if stop.why is not None:
            return [(passage, stop.why) for passage in some]
        try:
            answers = await answers_about(some, self._llm, **self._types)
        except _OF_THESE as error:
            if len(some) == 1:
                return [(some[0], _unreadable(error))]
            half = len(some) // 2
            return [*await self._outcomes(some[:half], stop), *await self._outcomes(some[half:], stop)]
        except Exception as error:  # noqa: BLE001 - any vendor's error; it is kept, and told of all that is unread
            stop.why = _failure(error)
            return [(passage, stop.why) for passage in some]
        done = [(some[number - 1], await self._read(some[number - 1], answers[number])) for number in sorted(answers)]
        left = [passage for number, passage in enumerate(some, 1) if number not in answers]
        return [*done, *(await self._outcomes(left, stop) if left else ())]

    async def _read(self, passage: Passage, answer: Sequence[Mapping[str, Any]]) -> Read:
        types = frozenset(self._types["entity_types"])
        return await asyncio.to_thread(read, passage, answer, types=types, dates=self._dates)


@attrs.define
class _Stop:
    """Why nothing more is asked, once that is so."""

    why: GraphSearchError | None = None


def _unreadable(error: LLMError) -> ExtractionError:
    failed = ExtractionError(f"the language model did not read it: {error}")
    failed.__cause__ = error
    return failed


def _failure(error: Exception) -> GraphSearchError:
    if isinstance(error, GraphSearchError):
        return error
    failed = LLMError(f"the language model failed: {type(error).__name__}: {error}")
    failed.__cause__ = error
    return failed


def _said(memory: Memory, found: Sequence[tuple[Passage, Outcome]]) -> Said:
    """All that the passages of a memory say together; of one that has none, what stands beside it."""
    outcomes = [outcome for _, outcome in sorted(found, key=lambda each: each[0].span.start)]
    for outcome in outcomes:
        if isinstance(outcome, GraphSearchError):
            return Said(memory_id=memory.id, unread=outcome)
    parts = [outcome for outcome in outcomes if isinstance(outcome, Read)]
    beside = () if parts else surfaces_beside(memory)
    return Said(
        memory_id=memory.id,
        surfaces=tuple(dict.fromkeys((*beside, *(surface for part in parts for surface in part.surfaces)))),
        statements=tuple(dict.fromkeys(statement for part in parts for statement in part.statements)),
        refused=tuple(dict.fromkeys(f"{memory.id}: {why}" for part in parts for why in part.refused)),
    )
