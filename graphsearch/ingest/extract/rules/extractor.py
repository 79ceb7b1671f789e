"""The extractor by rules, which needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from graphsearch.ingest.extract.rules.adjacent_turns import topic
from graphsearch.ingest.extract.rules.amending import with_corrections
from graphsearch.ingest.extract.rules.corrections import Amends
from graphsearch.ingest.extract.rules.default_patterns import DEFAULT_PATTERNS
from graphsearch.ingest.extract.rules.memory_reader import said
from graphsearch.ingest.extract.rules.patterns import RelationPattern, by_cue
from graphsearch.ingest.extract.rules.shortened import with_whole_names
from graphsearch.ingest.extract.rules.speakers import lower_case_names, read_conversation
from graphsearch.model import Memory
from graphsearch.model.extracted import Said
from graphsearch.text.dates import Dates, NaturalDates

NAME: Final = "rules/3"


class TextExtractor:
    """Extracts names, relations and dates from English text by rules; deterministic.

    ``patterns`` are tried in order; add your own to `DEFAULT_PATTERNS`. ``dates`` finds dates: `NaturalDates` by
    default, which raises `MissingExtraError` without the extra ``text``; `IsoDates` needs no extra.
    """

    def __init__(
        self, patterns: Iterable[RelationPattern] = DEFAULT_PATTERNS, *, dates: Dates | None = None, name: str = NAME
    ) -> None:
        self._patterns = by_cue(patterns)
        self._dates = NaturalDates() if dates is None else dates
        self._name = name

    @property
    def name(self) -> str:
        """The name given, by default "rules/3"; with patterns of your own, give a name and change it with them."""
        return self._name

    async def extract(self, memories: Sequence[Memory]) -> Sequence[Said]:
        """The content of each memory, in order; runs in a thread."""
        return await asyncio.to_thread(self._read, memories)

    def _read(self, memories: Sequence[Memory]) -> list[Said]:
        """Read the memories; those in lower case last, when the names capitalised in others are known."""
        conversation = read_conversation(memories)
        read: dict[int, tuple[Said, Amends | None]] = {}
        small: list[int] = []
        for number, memory in enumerate(memories):
            if memory.text.islower():
                small.append(number)
            else:
                before = topic(memories[number - 1], memory, read.get(number - 1)) if number else None
                read[number] = said(memory, self._patterns, self._dates, conversation, topic=before)
        if small:
            known = small_names(conversation, [each for each, _ in read.values()])
            for number in small:
                before = topic(memories[number - 1], memories[number], read.get(number - 1)) if number else None
                read[number] = said(memories[number], self._patterns, self._dates, conversation, known, before)
        whole = with_whole_names([read[number] for number in range(len(memories))], conversation.whole)
        return with_corrections(memories, whole, conversation.whole)
